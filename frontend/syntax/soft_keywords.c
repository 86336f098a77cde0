/* Words that are keywords only where an item begins: `layer`, `type`, `main`, `param`, `state`, `from`. Elsewhere they become names before
 * parsing. */
#include "frontend/syntax/parse_state.h"

static bool is_soft(enum token_kind k)
{
	return k == TOK_LAYER || k == TOK_TYPE || k == TOK_MAIN || k == TOK_PARAM || k == TOK_STATE || k == TOK_FROM;
}

/* True if an item may follow this token on the same line: after `;`, a brace or an attribute. */
static bool may_end_item(enum token_kind k)
{
	return k == TOK_SEMICOLON || k == TOK_LBRACE || k == TOK_RBRACE || k == TOK_NAME || k == TOK_RPAREN || k == TOK_STRING;
}

/* True if the tokens after word i continue an item: `layer Net`, `from "x.tri"`, `main {`. */
static bool continues_item(const struct tokens *t, token_id i)
{
	enum token_kind k = token_kind(t, i), next = token_kind(t, i + 1);
	if (k == TOK_MAIN)
		return next == TOK_LBRACE;
	if (token_after_newline(t, i + 1))
		return false;
	return next == TOK_NAME || is_soft(next) || (k == TOK_FROM && next == TOK_STRING);
}

void soften_keywords(struct tokens *t)
{
	uint32_t braces = 0, parens = 0;
	for (token_id i = 0; i < t->len; i++) {
		enum token_kind k = token_kind(t, i);
		braces += k == TOK_LBRACE;
		braces -= k == TOK_RBRACE && braces;
		parens += k == TOK_LPAREN || k == TOK_LBRACKET;
		parens -= (k == TOK_RPAREN || k == TOK_RBRACKET) && parens;
		if (!is_soft(k))
			continue;
		bool starts = !i || token_after_newline(t, i), top = !braces && !parens;
		bool begins = starts || may_end_item(token_kind(t, i - 1));
		bool entry = top && k == TOK_MAIN && i && token_kind(t, i + 1) == TOK_LPAREN; /* fn main(), which is an error */
		if ((top && begins) || (entry && (token_kind(t, i - 1) == TOK_FN || token_kind(t, i - 1) == TOK_NAME)) ||
		    (begins && continues_item(t, i)))
			continue;
		t->kinds[i] = (uint8_t)((t->kinds[i] & TOKEN_NEWLINE) | TOK_NAME);
	}
}
