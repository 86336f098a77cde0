/* Habits from other languages: what to write instead. Reached only where the parser has no other use for the token. */
#include <stddef.h>
#include <stdio.h>
#include "frontend/parse_state.h"

struct word {
	const char *text, *message, *help;
	const char *instead; /* an edit, or NULL */
	uint8_t kind;        /* of an operator that the parser can go on with, or 0 */
};

/* After an expression. */
static const struct word operators[] = {
	{"and", "`and` is written `&&`", NULL, "&&", TOK_AND},
	{"or", "`or` is written `||`", NULL, "||", TOK_OR},
	{"is", "values are compared with `==`", NULL, "==", TOK_EQ},
	{"mod", "the remainder is written `%`", NULL, "%", TOK_PERCENT},
	{"div", "integer division is written `//`", NULL, "//", TOK_SLASH2},
};

/* A name that starts a statement or expression and is followed by something that cannot follow a name. */
static const struct word leading[] = {
	{"def", "a function is defined with `fn`", NULL, "fn", 0},
	{"func", "a function is defined with `fn`", NULL, "fn", 0},
	{"function", "a function is defined with `fn`", NULL, "fn", 0},
	{"class", "there are no classes: a network part is a `layer`", "write `layer Name(…) { … fn forward(x: …) { … } }`", "layer", 0},
	{"struct", "there are no structures: values are grouped in tuples", NULL, NULL, 0},
	{"elif", "`elif` is written `else if`", NULL, "else if", 0},
	{"not", "`not` is written `!`", NULL, "!", 0},
	{"lambda", "there are no lambdas: define a `fn`", NULL, NULL, 0},
	{"del", "nothing is deleted: values end with their block", NULL, NULL, 0},
	{"pass", "an empty block is written `{ }`", NULL, NULL, 0},
	{"var", "variables are declared with `let`", NULL, "let", 0},
	{"auto", "variables are declared with `let`", NULL, "let", 0},
	{"mut", "every local can be assigned to: leave `mut` out", NULL, NULL, 0},
	{"pub", "every definition can be imported: leave `pub` out", NULL, NULL, 0},
	{"try", "there are no exceptions", "check conditions with `assert`", NULL, 0},
	{"except", "there are no exceptions", "check conditions with `assert`", NULL, 0},
	{"raise", "there are no exceptions", "check conditions with `assert`", NULL, 0},
	{"with", "there is no `with`", NULL, NULL, 0},
	{"global", "there are no global variables", "pass the value as an argument, or make it a `const`", NULL, 0},
	{"yield", "there are no generators", "build a list: `[f(x) for x in xs]`", NULL, 0},
	{"async", "there is no `async`", NULL, NULL, 0},
	{"match", "there is no `match`", "write `if … { } else if … { }`", NULL, 0},
	{"switch", "there is no `switch`", "write `if … { } else if … { }`", NULL, 0},
	{"using", "modules are brought in with `import`", NULL, "import", 0},
	{"include", "modules are brought in with `import`", NULL, "import", 0},
	{"use", "modules are brought in with `import`", NULL, "import", 0},
};
#define COUNT(table) (sizeof(table) / sizeof *(table))

static const struct word *find(const struct parser *p, const struct word *table, size_t n, token_id i)
{
	if (token_kind(&p->t->tokens, i) != TOK_NAME)
		return NULL;
	for (size_t k = 0; k < n; k++)
		if (token_is(&p->t->tokens, i, table[k].text))
			return &table[k];
	return NULL;
}

static struct diag *report(struct parser *p, const struct word *w, token_id i)
{
	struct diag *g = error_at(p, DIAG_FOREIGN_SYNTAX, token_span(&p->t->tokens, i), "%s", w->message);
	if (w->help)
		help(p, g, w->help);
	if (w->instead)
		edit(p, g, token_span(&p->t->tokens, i), w->instead);
	return g;
}

bool foreign_not(struct parser *p, node_id left)
{
	if (ast_kind(p->t, left) != NODE_NAME || !token_is(&p->t->tokens, ast_token(p->t, left), "not") ||
	    ast_token(p->t, left) + 1 != p->i)
		return false;
	struct diag *g = report(p, find(p, leading, COUNT(leading), ast_token(p->t, left)), ast_token(p->t, left));
	span to_operand = {p->t->tokens.src->id, p->t->tokens.starts[ast_token(p->t, left)], p->t->tokens.starts[p->i]};
	edit(p, g, to_operand, "!");
	recovered(p, g);
	return true;
}

bool foreign_operator(struct parser *p)
{
	const struct word *w = find(p, operators, COUNT(operators), p->i);
	if (!w)
		return false;
	recovered(p, report(p, w, p->i));
	p->k = w->kind;
	return true;
}

static bool conditional_expression(struct parser *p)
{
	if (p->k != TOK_IF || after_newline(p))
		return false;
	struct diag *g = error_at(p, DIAG_FOREIGN_SYNTAX, here(p), "a choice is written `c ? a : b`");
	help(p, g, "or `if c { a } else { b }`");
	return true;
}

bool foreign_definition(const struct parser *p)
{
	if (p->k == TOK_LET || !find(p, leading, COUNT(leading), p->i))
		return p->k == TOK_LET;
	enum token_kind next = token_kind(&p->t->tokens, p->i + 1);
	return next == TOK_NAME || token_class(next) == TOKEN_KEYWORD;
}

bool foreign_statement(struct parser *p)
{
	const struct word *w = find(p, leading, COUNT(leading), p->i);
	token_id at = p->i;
	if (!w && p->i) /* `def f(x)`: the name `def` was taken for a statement and `f` is in the way */
		w = find(p, leading, COUNT(leading), at = p->i - 1);
	if (!w)
		return conditional_expression(p);
	return report(p, w, at) != NULL;
}
