#include "builder/lsp/query.h"
#include <ctype.h>
#include "base/diag.h"
#include "frontend/syntax/lexer.h"

void cursor_open(struct cursor *c, const char *text, size_t len, size_t offset)
{
	*c = (struct cursor){.sources = sources_new(), .ignored = diags_new(1)};
	lex(sources_add(c->sources, "text", text, len), &c->tokens, c->ignored);
	uint32_t lo = 0, hi = c->tokens.len - 1;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (c->tokens.ends[mid] <= offset)
			lo = mid + 1;
		else
			hi = mid;
	}
	c->at = lo;
}

void cursor_close(struct cursor *c)
{
	tokens_free(&c->tokens);
	diags_free(c->ignored);
	sources_free(c->sources);
}

static enum token_kind cursor_kind(const struct cursor *c, token_id i) { return token_kind(&c->tokens, i); }

static bool cursor_opens(enum token_kind k) { return k == TOK_LPAREN || k == TOK_LBRACKET; }
static bool cursor_closes(enum token_kind k) { return k == TOK_RPAREN || k == TOK_RBRACKET; }

/* True if a statement or block certainly begins or ends at the token. */
static bool is_boundary(const struct cursor *c, token_id i)
{
	switch (cursor_kind(c, i)) {
	case TOK_LBRACE:
	case TOK_RBRACE:
	case TOK_SEMICOLON:
	case TOK_EOF: return true;
	case TOK_LET:
	case TOK_RETURN:
	case TOK_FN:
	case TOK_LAYER:
	case TOK_PARAM:
	case TOK_STATE:
	case TOK_CONST:
	case TOK_IMPORT:
	case TOK_WHILE:
	case TOK_MAIN: return token_after_newline(&c->tokens, i);
	default: return false;
	}
}

bool cursor_insert_name(const char *text, size_t len, size_t offset, struct buf *out, size_t *name_at)
{
	size_t start = offset, end = offset;
	struct cursor c;
	while (start > 0 && (isalnum((unsigned char)text[start - 1]) || text[start - 1] == '_'))
		start--;
	while (end < len && (isalnum((unsigned char)text[end]) || text[end] == '_'))
		end++;
	buf_put(out, text, end);
	buf_putc(out, '_');
	buf_put(out, text + end, len - end);
	cursor_open(&c, out->at, out->len, start);
	bool is_name = cursor_kind(&c, c.at) == TOK_NAME && c.tokens.starts[c.at] == start;
	cursor_close(&c);
	*name_at = start;
	return is_name;
}

bool cursor_call(const struct cursor *c, struct cursor_call *out)
{
	uint32_t depth = 0;
	bool inner = false; /* inside brackets of the argument itself */
	*out = (struct cursor_call){.name = TOKEN_NONE};
	for (token_id i = c->at; i-- > 0;) {
		enum token_kind k = cursor_kind(c, i), before = i ? cursor_kind(c, i - 1) : TOK_EOF;
		if (cursor_closes(k)) {
			depth++;
		} else if (cursor_opens(k) && depth) {
			depth--;
		} else if (!depth && is_boundary(c, i)) {
			return false;
		} else if (k == TOK_COMMA && !depth) {
			out->argument++;
		} else if (k == TOK_ASSIGN && !depth && !out->argument && i) {
			out->name = i - 1;
		} else if (k == TOK_LPAREN && (before == TOK_NAME || before == TOK_WHERE)) {
			out->callee = i - 1;
			out->is_empty = !inner && (c->at == i + 1 || cursor_kind(c, c->at - 1) == TOK_COMMA);
			return true;
		} else if (cursor_opens(k)) {
			inner = true;
			out->argument = 0;
			out->name = TOKEN_NONE;
		}
	}
	return false;
}
