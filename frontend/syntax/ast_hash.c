/* Token hashes of definitions. What is hashed is the row of tokens as a formatter may not change it: `;` and trailing commas are left out,
 * each statement begins with a mark, and the comma that makes (a,) a tuple stays. */
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "frontend/syntax/ast.h"

enum mark { BEGINS_STATEMENT = 1, KEEPS_COMMA = 2, IS_TWO = 4 /* the `>=` of `Image<3>= x` */ };
#define STATEMENT_BYTE 0xFF

struct token_hasher {
	struct hasher *hasher;
	uint32_t n;
	char bytes[4096];
};

static void ast_hash_flush(struct token_hasher *w)
{
	hasher_add(w->hasher, w->bytes, w->n);
	w->n = 0;
}

/* Appends; put_token has made room. */
static void put_byte(struct token_hasher *w, unsigned v) { w->bytes[w->n++] = (char)v; }

static void ast_hash_put_text(struct token_hasher *w, const char *s, uint32_t n)
{
	for (int shift = 0; shift < 32; shift += 8)
		w->bytes[w->n + (unsigned)shift / 8] = (char)(n >> shift & 0xff);
	w->n += 4;
	if (n > sizeof w->bytes - w->n) {
		ast_hash_flush(w);
		if (n > sizeof w->bytes) {
			hasher_add(w->hasher, s, n);
			return;
		}
	}
	memcpy(w->bytes + w->n, s, n);
	w->n += n;
}

static void ast_hash_mark(uint8_t *marks, token_id first, token_id last, token_id i, enum mark m)
{
	if (i >= first && i <= last)
		marks[i - first] |= (uint8_t)m;
}

static void ast_hash_mark_node(const struct ast *t, node_id n, uint8_t *marks, token_id first, token_id last)
{
	enum node_kind k = ast_kind(t, n);
	if (k == NODE_BLOCK) {
		struct ast_nodes list = ast_nodes(t, ast_a(t, n));
		for (uint32_t i = 0; i < list.n; i++)
			ast_hash_mark(marks, first, last, ast_first_token(t, list.at[i]), BEGINS_STATEMENT);
	} else if (k == NODE_TUPLE || k == NODE_PAT_TUPLE || k == NODE_TYPE_TUPLE) {
		if (ast_nodes(t, ast_a(t, n)).n == 1)
			ast_hash_mark(marks, first, last, ast_b(t, n), KEEPS_COMMA);
	} else if (k == NODE_TYPE_NAME && ast_b(t, n)) {
		struct ast_nodes args = ast_nodes(t, ast_b(t, n));
		token_id close = args.at[args.n];
		if (close != TOKEN_NONE && token_kind(&t->tokens, close) == TOK_GE)
			ast_hash_mark(marks, first, last, close, IS_TWO);
	} else if (k == NODE_ALIAS && ast_alias(t, n).generics.n) {
		token_id equals = ast_token(t, n) + 3; /* after `type`, the name and `<` */
		while (equals < last && token_kind(&t->tokens, equals) != TOK_GE && token_kind(&t->tokens, equals) != TOK_ASSIGN)
			equals++;
		if (equals < last && token_kind(&t->tokens, equals) == TOK_GE)
			ast_hash_mark(marks, first, last, equals, IS_TWO);
	}
}

/* The first node of an item's tree: the trees of the items follow one another. */
static node_id tree_start(const struct ast *t, node_id item)
{
	struct ast_nodes items = ast_nodes(t, ast_a(t, AST_ROOT));
	uint32_t low = 0, high = items.n; /* the number of items before this one */
	while (low < high) {
		uint32_t mid = (low + high) / 2;
		if (items.at[mid] < item)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? items.at[low - 1] + 1 : 1;
}

static bool is_trailing_comma(const struct ast *t, token_id i, const uint8_t *marks, token_id first)
{
	if (token_kind(&t->tokens, i) != TOK_COMMA)
		return false;
	enum token_kind next = token_kind(&t->tokens, i + 1);
	if (next == TOK_RPAREN || next == TOK_RBRACKET)
		return !(marks[i + 1 - first] & KEEPS_COMMA);
	return next == TOK_GT || next == TOK_LBRACE;
}

static void ast_hash_put_token(struct token_hasher *w, const struct ast *t, token_id i, uint8_t marks)
{
	enum token_kind k = token_kind(&t->tokens, i);
	if (sizeof w->bytes - w->n < 8)
		ast_hash_flush(w);
	if (marks & BEGINS_STATEMENT)
		put_byte(w, STATEMENT_BYTE);
	if (marks & IS_TWO) {
		put_byte(w, TOK_GT);
		put_byte(w, TOK_ASSIGN);
		return;
	}
	put_byte(w, k);
	if (token_class(k) == TOKEN_SPECIAL || token_class(k) == TOKEN_LITERAL)
		ast_hash_put_text(w, token_text(&t->tokens, i), token_len(&t->tokens, i));
}

static token_id item_start(const struct ast *t, node_id item)
{
	struct ast_nodes attrs = ast_attributes(t, item);
	return attrs.n && ast_kind(t, attrs.at[0]) == NODE_ATTR ? ast_token(t, attrs.at[0]) - 1 : ast_token(t, item);
}

static hash128 hash_tokens(const struct ast *t, node_id item, token_id first, token_id last)
{
	if (last < first || last >= t->tokens.len)
		last = first;
	uint8_t *marks = calloc(last - first + 2, 1);
	struct token_hasher w = {.hasher = hasher_new()};
	if (!marks)
		bug_no_memory();
	for (node_id n = tree_start(t, item); n <= item; n++)
		ast_hash_mark_node(t, n, marks, first, last);
	for (token_id i = first; i <= last; i++)
		if (token_kind(&t->tokens, i) != TOK_SEMICOLON && !is_trailing_comma(t, i, marks, first))
			ast_hash_put_token(&w, t, i, marks[i - first]);
	free(marks);
	ast_hash_flush(&w);
	return hasher_finish(w.hasher);
}

hash128 ast_item_tokens(const struct ast *t, node_id item) { return hash_tokens(t, item, item_start(t, item), ast_last_token(t, item)); }

hash128 ast_tokens_before(const struct ast *t, node_id item, node_id part)
{
	return hash_tokens(t, item, item_start(t, item), ast_first_token(t, part) - 1);
}
