/* Heads of loops as other languages write them: C's, parentheses, words for ranges. */
#include <stddef.h>
#include <string.h>
#include "frontend/habits/habit_state.h"

/* To the body's `{` on this line; false: there is none. */
static bool skip_to_body(struct parser *p)
{
	while (p->k != TOK_LBRACE && p->k != TOK_EOF && p->k != TOK_RBRACE && !after_newline(p)) {
		if (p->k == TOK_LPAREN || p->k == TOK_LBRACKET)
			skip_token(p);
		else
			advance(p);
	}
	return p->k == TOK_LBRACE;
}

static bool same_text(const struct parser *p, token_id a, token_id b)
{
	const struct tokens *t = &p->t->tokens;
	return kind_at(p, a) == TOK_NAME && kind_at(p, b) == TOK_NAME && token_len(t, a) == token_len(t, b) &&
	       !memcmp(token_text(t, a), token_text(t, b), token_len(t, a));
}

/* The end of an expression of names, numbers and arithmetic that begins at i, which does not use `name`; TOKEN_NONE: it is none. */
static token_id plain_bound(const struct parser *p, token_id i, token_id name)
{
	token_id first = i;
	for (;; i++) {
		enum token_kind k = kind_at(p, i);
		if (k == TOK_SEMICOLON)
			return i > first ? i : TOKEN_NONE;
		bool plain = k == TOK_INT || k == TOK_DOT || k == TOK_PLUS || k == TOK_MINUS || k == TOK_STAR || k == TOK_SLASH2 ||
			     k == TOK_PERCENT || k == TOK_LBRACKET || k == TOK_RBRACKET || (k == TOK_NAME && !same_text(p, i, name));
		if (!plain)
			return TOKEN_NONE;
	}
}

/* Does the block at `open` assign to a name that stands from `from` to `to`? */
static bool assigns_any(struct parser *p, token_id open, token_id from, token_id to)
{
	token_id close = kind_at(p, open) == TOK_LBRACE ? matching(p, open) : TOKEN_NONE;
	if (close == TOKEN_NONE)
		return true;
	for (token_id i = open + 1; i < close; i++) {
		enum token_kind after = kind_at(p, i + 1);
		bool changed = is_assign(after) || (after == TOK_PLUS && kind_at(p, i + 2) == TOK_PLUS) ||
			       (after == TOK_MINUS && kind_at(p, i + 2) == TOK_MINUS);
		for (token_id k = from; changed && kind_at(p, i) == TOK_NAME && k <= to; k++)
			if (same_text(p, i, k))
				return true;
	}
	return false;
}

/* int i = 0; i < n; i++ between parentheses, whose parts the body does not change: `i in 0..n`. */
static void counted_loop(struct parser *p, struct diag *g, token_id open, token_id close)
{
	const struct tokens *t = &p->t->tokens;
	token_id name = kind_at(p, open + 2) == TOK_ASSIGN ? open + 1 : open + 2, start = name + 2, second, limit, third;
	if (kind_at(p, name) != TOK_NAME || kind_at(p, name + 1) != TOK_ASSIGN || (second = plain_bound(p, start, name)) == TOKEN_NONE)
		return;
	enum token_kind compare = kind_at(p, second + 2);
	limit = second + 3;
	if (!same_text(p, second + 1, name) || (compare != TOK_LT && compare != TOK_LE) ||
	    (third = plain_bound(p, limit, name)) == TOKEN_NONE)
		return;
	bool after = same_text(p, third + 1, name) && kind_at(p, third + 2) == TOK_PLUS && kind_at(p, third + 3) == TOK_PLUS,
	     before = kind_at(p, third + 1) == TOK_PLUS && kind_at(p, third + 2) == TOK_PLUS && same_text(p, third + 3, name),
	     by = same_text(p, third + 1, name) && kind_at(p, third + 2) == TOK_PLUS_EQ && kind_at(p, third + 3) == TOK_INT;
	if (!(after || before || by) || third + 4 != close || assigns_any(p, close + 1, name, third - 1))
		return;
	bool steps = by && !token_is(t, third + 3, "1");
	edit_as(p, g, between(p, open, close), "%.*s in %.*s..%s%.*s%s%.*s", (int)token_len(t, name), token_text(t, name),
		(int)(t->ends[second - 1] - t->starts[start]), t->src->text + t->starts[start], compare == TOK_LE ? "=" : "",
		(int)(t->ends[third - 1] - t->starts[limit]), t->src->text + t->starts[limit], steps ? ":" : "",
		steps ? (int)token_len(t, third + 3) : 0, token_text(t, third + 3));
}

/* for (i in xs), for (int i = 0; …; …) */
static bool loop_parens(struct parser *p)
{
	token_id open = p->i, close = matching(p, open), first = TOKEN_NONE;
	if (close == TOKEN_NONE || close == open + 1 || kind_at(p, close + 1) == TOK_IN)
		return false;
	for (token_id i = open + 1; i < close && first == TOKEN_NONE; i++) {
		enum token_kind k = kind_at(p, i);
		if (k == TOK_IN || k == TOK_SEMICOLON || k == TOK_COLON || k == TOK_ASSIGN ||
		    (k == TOK_NAME && token_is(&p->t->tokens, i, "of")))
			first = i;
	}
	if (first == TOKEN_NONE)
		return false;
	struct diag *g = habit_report(p, between(p, open, close),
				      "this is not the head of a loop; write `for i in 0..n { … }` or `for x in xs { … }`", NULL, NULL);
	const struct tokens *t = &p->t->tokens;
	if (kind_at(p, first) == TOK_IN && first == open + 2)
		edit_as(p, g, between(p, open, close), "%.*s", (int)(t->starts[close] - t->ends[open]), t->src->text + t->ends[open]);
	else
		counted_loop(p, g, open, close);
	recovered(p, g);
	jump(p, close + 1);
	return true;
}

static bool brace_on_line(const struct parser *p, token_id i)
{
	while (kind_at(p, i) != TOK_LBRACE && !newline_at(p, i + 1))
		i++;
	return kind_at(p, i) == TOK_LBRACE;
}

static bool range_word(const struct parser *p)
{
	static const char *const range_words[] = {"to", "upto", "downto", "until", "step", "by", "of"};
	for (size_t i = 0; p->k == TOK_NAME && i < COUNT(range_words); i++)
		if (token_is(&p->t->tokens, p->i, range_words[i]))
			return true;
	return p->k == TOK_DOT3 || (p->k == TOK_COLON && brace_on_line(p, p->i));
}

bool habit_loop_head(struct parser *p, token_id keyword)
{
	if (p->panic)
		return false;
	if (p->k == TOK_LPAREN)
		return loop_parens(p);
	if (p->k != TOK_ASSIGN && !range_word(p))
		return false;
	struct diag *g = habit_report(p, here(p), "this is not a range; write `a..b`, `a..=b` or `a..b:step`, or use a list", NULL, NULL);
	bool dots = p->k == TOK_DOT3 || p->k == TOK_COLON || (p->k == TOK_NAME && token_is(&p->t->tokens, p->i, "to"));
	if (g && dots && p->i > keyword)
		diag_guess(p->diags, g, here(p), p->k == TOK_NAME ? "..=" : "..");
	if (skip_to_body(p))
		recovered(p, g);
	return true;
}
