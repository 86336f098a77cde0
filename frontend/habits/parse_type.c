/* Habits from other languages where a type, a dimension or a generic stands. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include "base/buf.h"
#include "frontend/habits/habit_state.h"
#include "frontend/hir/dtype.h"
#include "frontend/syntax/habit_hooks.h"

/* [3, 4]float, [float32; 4] */
bool habit_array(struct parser *p)
{
	token_id open = p->i, close = matching(p, open);
	if (close == TOKEN_NONE || p->panic)
		return false;
	enum token_kind first = token_kind(&p->t->tokens, open + 1), second = token_kind(&p->t->tokens, open + 2);
	bool dims = first == TOK_INT || first == TOK_QUESTION, sized = first == TOK_NAME && second == TOK_SEMICOLON;
	if (!dims && !sized)
		return false;
	jump(p, close + 1);
	if (p->k == TOK_NAME && dims)
		advance(p);
	struct diag *g =
		error_at(p, DIAG_HABIT_SYNTAX, between(p, open, p->i - 1), "this is not an array type; use `Tensor<float32, [3, 4]>`");
	recovered(p, g);
	return true;
}

/* The edit that leaves out the type of an argument, which ends before the current token, with its `:`. */
static void leave_out_type(struct parser *p, struct diag *g, token_id first)
{
	if (g && p->in_signature && first && token_kind(&p->t->tokens, first - 1) == TOK_COLON)
		edit(p, g, between(p, first - 1, p->i - 1), "");
}

static struct diag *no_type_of_function(struct parser *p, token_id first)
{
	struct diag *g = error_at(p, DIAG_HABIT_SYNTAX, between(p, first, p->i - 1), "a function has no type that can be written");
	help(p, g, "leave it out: an argument without a type accepts a function, `fn f(g, x: …)`");
	leave_out_type(p, g, first);
	return g;
}

/* int?, Tensor<float32, [N]>? = none; the `?` is token `mark`. */
static struct diag *optional_type(struct parser *p, token_id mark)
{
	const struct tokens *t = &p->t->tokens;
	token_id colon = mark;
	struct diag *g = error_at(p, DIAG_HABIT_SYNTAX, between(p, mark, mark), "`?` behind a type: there are no optional types");
	help(p, g, "an argument that may be missing has the default `none` and no type: `mask = none`");
	while (colon && token_kind(t, colon) != TOK_COLON && token_kind(t, colon) != TOK_LPAREN)
		colon--;
	if (p->k == TOK_ASSIGN && peek(p) != TOK_NONE) /* has another default */
		edit(p, g, between(p, mark, mark), "");
	else if (p->k == TOK_ASSIGN && p->in_signature && token_kind(t, colon) == TOK_COLON)
		edit(p, g, between(p, colon, mark), "");
	return g;
}

/* What other languages write where a type stands. True: it was reported, and taken. */
bool habit_type(struct parser *p)
{
	struct diag *g = NULL;
	token_id first = p->i;
	if (p->panic || after_newline(p))
		return false;
	if (p->k == TOK_FN && peek(p) == TOK_LPAREN) {
		advance(p);
		if (p->k == TOK_LPAREN)
			skip_token(p);
		if (p->k == TOK_ARROW) {
			advance(p);
			parse_type(p);
		}
		g = no_type_of_function(p, first);
	} else if (p->k == TOK_STAR || p->k == TOK_STAR2) {
		g = error_at(p, DIAG_HABIT_SYNTAX, here(p), "`*` is not part of a type; leave it out: there are no pointers");
		edit(p, g, here(p), "");
		advance(p);
		if (p->k == TOK_NAME)
			advance(p);
	} else if (p->k == TOK_LBRACE && token_kind(&p->t->tokens, p->i - 1) != TOK_ARROW) {
		const struct tokens *t = &p->t->tokens;
		bool dims = token_kind(t, p->i - 1) == TOK_COMMA || token_kind(t, p->i - 1) == TOK_LT;
		skip_token(p);
		g = error_at(p, DIAG_HABIT_SYNTAX, between(p, first, p->i - 1),
			     dims ? "`{ }` does not hold dimensions; use `[ ]`" : "`{ }` is not a type");
		if (dims)
			edit_as(p, g, between(p, first, p->i - 1), "[%.*s]", (int)(t->starts[p->i - 1] - t->ends[first]),
				t->src->text + t->ends[first]);
		else
			help(p, g, "group values in a tuple, `(int, float)`; parameters and layers belong to a `layer`");
	} else if (p->k == TOK_STRING) {
		advance(p);
		g = error_at(p, DIAG_HABIT_SYNTAX, between(p, first, first), "a type has no quotes; leave them out");
	}
	recovered(p, g);
	return g != NULL;
}

/* A name of a dimension or an element type in quotes, or several with blanks between them: without them. */
static bool quoted_name(struct parser *p, struct diag *g)
{
	span at = here(p);
	const char *s = p->t->tokens.src->text + at.start + 1, *end = p->t->tokens.src->text + at.end - 1;
	struct buf names = {0};
	for (bool word = false; s < end; s++) {
		bool letter = isalpha((unsigned char)*s) || *s == '_' || (word && isdigit((unsigned char)*s));
		if (!letter && *s != ' ') {
			buf_free(&names);
			return false;
		}
		if (letter && !word && names.len)
			buf_puts(&names, ", ");
		if (letter)
			buf_putc(&names, *s);
		word = letter;
	}
	if (g && names.len)
		g->message = dtype_find(names.at) != DT_COUNT ? "an element type has no quotes; leave them out"
							      : "a dimension has no quotes; use a name, a number or `?`";
	if (names.len)
		edit(p, g, at, names.at);
	buf_free(&names);
	return true;
}

/* Where an unknown dimension stands: True: it was reported, and is `?`. */
bool habit_dim(struct parser *p)
{
	bool name = p->k == TOK_NAME && token_is(&p->t->tokens, p->i, "_");
	if (p->panic || !(name || p->k == TOK_STAR || p->k == TOK_COLON || p->k == TOK_NONE || p->k == TOK_DOT3 || p->k == TOK_STRING))
		return false;
	bool dots = p->k == TOK_DOT3, quoted = p->k == TOK_STRING;
	struct diag *g = error_at(p, DIAG_HABIT_SYNTAX, here(p),
				  dots ? "`...` is not a dimension" : "this is not a dimension; use `?` for one that may be anything");
	if (dots) {
		help(p, g, "a name stands for any shape: `Tensor<float32, S>`");
		if (g && token_kind(&p->t->tokens, p->i - 1) == TOK_LT) /* Tensor<...> */
			diag_cause(p->diags, g, "...");
	} else if (!quoted || !quoted_name(p, g)) {
		edit(p, g, here(p), "?");
	}
	advance(p);
	if (dots || quoted)
		recovered(p, g);
	else
		sound(p, g);
	return true;
}

/* What other languages write behind a type: (int) -> int, int?. True: it was reported, and taken. */
bool habit_suffix(struct parser *p, bool tuple)
{
	token_id first = p->i;
	struct diag *g;
	if (p->panic || after_newline(p))
		return false;
	if (p->k == TOK_ARROW && tuple) {
		advance(p);
		parse_type(p);
		g = no_type_of_function(p, first);
	} else if (p->k == TOK_QUESTION) {
		advance(p);
		g = optional_type(p, first);
	} else {
		return false;
	}
	recovered(p, g);
	return true;
}

/* `in_features: 784` in a signature: the value of an argument where its type stands. It is taken as the default, whose type is known. */
bool value_as_type(struct parser *p)
{
	const struct tokens *t = &p->t->tokens;
	bool truth = p->k == TOK_TRUE || p->k == TOK_FALSE || p->k == TOK_HABIT_TRUE || p->k == TOK_HABIT_FALSE;
	char text[64];
	if (p->panic || !p->in_signature || p->i < 2 || token_kind(t, p->i - 1) != TOK_COLON ||
	    !(truth || p->k == TOK_INT || p->k == TOK_FLOAT))
		return false;
	if (p->told_keyword) { /* said of the signature's names, which were meant as a layer's settings, too */
		if (!p->told_value)
			help(p, p->head,
			     "an argument's type follows its `:`, `n: int`; a value is given where the layer is made: `let fc = nn.Linear(784, 256)`");
		p->failed = p->told_value = true;
		advance(p);
		return true;
	}
	struct diag *g = error_at(p, DIAG_EXPECTED_TYPE, here(p), "an argument's type stands here, not its value");
	help(p, g, "`n: int = 784` is an argument with a default; a layer is made by a call, `let fc = nn.Linear(784, 256)`");
	snprintf(text, sizeof text, "%s = %.*s",
		 truth             ? "bool"
		 : p->k == TOK_INT ? "int"
				   : "float",
		 (int)(token_len(t, p->i) < 40 ? token_len(t, p->i) : 40), token_text(t, p->i));
	edit(p, g, here(p), text);
	recovered(p, g);
	p->told_value = true;
	p->head = p->head ? p->head : g;
	advance(p);
	return true;
}

/* <const N: int>, <N: usize>; `<N: int>` is the language's own. */
bool habit_generic(struct parser *p)
{
	const struct tokens *t = &p->t->tokens;
	bool modifier = p->k == TOK_CONST;
	token_id name = p->i + modifier, type = name + 2;
	if (p->panic || token_kind(t, name) != TOK_NAME || token_kind(t, name + 1) != TOK_COLON || token_kind(t, type) != TOK_NAME)
		return false;
	static const char *const sizes[] = {"usize", "Int", "Size", "Dim", "dim", "Nat", "nat", "size"};
	bool size = names_dtype(p, type);
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		size = size || token_is(t, type, sizes[i]);
	bool own = token_is(t, type, "int") || token_is(t, type, "int32") || token_is(t, type, "int64");
	if (!size || (own && !modifier))
		return false;
	struct diag *g = error_at(p, DIAG_HABIT_SYNTAX, between(p, p->i, type),
				  own ? "a generic dimension has no `const`; write its name alone"
				      : "the type of a generic dimension is `int`, `int32` or `int64`; write its name alone");
	edit_as(p, g, between(p, p->i, type), "%.*s", (int)token_len(t, name), token_text(t, name));
	sound(p, g);
	jump(p, type + 1);
	return true;
}
