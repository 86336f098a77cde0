/* Signatures without a body, as a manual writes them to show how a function is called. Such a line is one error, whatever else is odd in it. */
#include <stdio.h>
#include <string.h>
#include "frontend/habits/habit_state.h"
#include "frontend/habits/habits.h"

/* The `(` of the arguments behind the name and its generics, or TOKEN_NONE. */
static token_id arguments_at(const struct parser *p, token_id keyword)
{
	enum { MOST = 64 };
	for (token_id i = keyword + 2; i < keyword + MOST && !newline_at(p, i); i++)
		if (kind_at(p, i) == TOK_LPAREN)
			return i;
		else if (i == keyword + 2 && kind_at(p, i) != TOK_LT)
			break;
	return TOKEN_NONE;
}

/* May the line go on at token i, the first of the next one? */
static bool continues(enum token_kind k) { return k == TOK_ARROW || k == TOK_WHERE; }

/* The last token of the signature that begins at `keyword`, if no body follows it; else TOKEN_NONE. */
static token_id signature_end(struct parser *p, token_id keyword)
{
	token_id open = arguments_at(p, keyword), close = open == TOKEN_NONE ? TOKEN_NONE : matching(p, open), i;
	if (close == TOKEN_NONE || (p->k == TOK_COLON && !p->panic))
		return TOKEN_NONE;
	for (i = close + 1; kind_at(p, i) != TOK_EOF && (!newline_at(p, i) || continues(kind_at(p, i))); i++) {
		enum token_kind k = kind_at(p, i);
		token_id m = k == TOK_LPAREN || k == TOK_LBRACKET ? matching(p, i) : TOKEN_NONE;
		if (k == TOK_LBRACE || k == TOK_ASSIGN || k == TOK_RETURN || (k == TOK_COLON && newline_at(p, i + 1)))
			return TOKEN_NONE;
		if (k == TOK_SEMICOLON || k == TOK_RBRACE)
			break;
		i = m == TOKEN_NONE ? i : m;
	}
	bool indented = kind_at(p, i) != TOK_EOF && newline_at(p, i) && indent_of(p, i) > indent_of(p, keyword);
	return kind_at(p, i) == TOK_LBRACE || indented ? TOKEN_NONE : i - 1;
}

bool habit_stub(struct parser *p, token_id keyword)
{
	const struct tokens *t = &p->t->tokens;
	token_id last = signature_end(p, keyword);
	char name[64];
	if (last == TOKEN_NONE || p->fatal)
		return false;
	diags_drop(p->diags, (span){t->src->id, t->starts[keyword + 1], t->ends[last]});
	p->panic = false;
	jump(p, last + 1);
	snprintf(name, sizeof name, "%.*s", (int)token_len(t, keyword + 1), token_text(t, keyword + 1));
	bool layer = kind_at(p, keyword) == TOK_LAYER, builtin = !layer && habit_is_builtin(name, strlen(name));
	struct diag *g = error_at(p, DIAG_HABIT_SYNTAX, between(p, keyword, keyword + 1), "the %s `%s` has no body",
				  layer ? "layer" : "function", name);
	if (!g)
		return true;
	diag_cause(p->diags, g, "no body");
	if (builtin) {
		diag_help(p->diags, g, "`%s` is a builtin: leave its signature out and call it", name);
		edit(p, g, between(p, keyword, last), "");
	} else if (layer && p->told_value) {
		help(p, g, "one of the given sizes is made by a call in another layer's body: `let fc = nn.Linear(784, 256)`");
	} else {
		help(p, g,
		     layer ? "write what it computes behind the signature: `{ … }`"
			   : "write what it computes behind the signature: `{ return … }`");
		diag_guess(p->diags, g, after_previous(p), " { }");
	}
	recovered(p, g);
	return true;
}
