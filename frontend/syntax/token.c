#include "frontend/syntax/token.h"
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *id, *text;
} rows[TOK_COUNT] = {
#define TOKEN(id, text, class) [TOK_##id] = {#id, text},
#include "frontend/syntax/tokens.def"
#undef TOKEN
};
const uint8_t token_classes[TOK_COUNT] = {
#define TOKEN(id, text, class) [TOK_##id] = TOKEN_##class,
#include "frontend/syntax/tokens.def"
#undef TOKEN
};
_Static_assert(TOK_COUNT <= TOKEN_NEWLINE, "a kind and the newline bit share a byte");

const char *token_kind_text(enum token_kind k) { return rows[k].text; }
const char *token_kind_id(enum token_kind k) { return rows[k].id; }

bool token_is(const struct tokens *t, token_id i, const char *word)
{
	uint32_t n = token_len(t, i);
	return strlen(word) == n && memcmp(token_text(t, i), word, n) == 0;
}

void tokens_free(struct tokens *t)
{
	free(t->kinds);
	free(t->starts);
	free(t->ends);
	*t = (struct tokens){0};
}
