/* Any bytes through lexer, parser, dumps, spans, literals and token hashes. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/bug.h"
#include "base/diag.h"
#include "frontend/syntax/ast.h"
#include "frontend/syntax/dump.h"
#include "frontend/syntax/literal.h"
#include "frontend/syntax/parser.h"
#include "tests/fuzz/fuzz.h"

static void check_tokens(const struct tokens *t, uint32_t len)
{
	struct arena *scratch = arena_new(0);
	uint32_t end = 0;
	uint64_t v;
	size_t n;
	for (token_id i = 0; i < t->len; i++) {
		enum token_kind k = token_kind(t, i);
		BUG_ON(t->starts[i] < end || t->ends[i] < t->starts[i] || t->ends[i] > len);
		BUG_ON((k == TOK_EOF) != (i + 1 == t->len));
		end = t->ends[i];
		if (k == TOK_INT)
			literal_int(t, i, &v);
		if (k == TOK_INT || k == TOK_FLOAT)
			literal_float(t, i);
		if (k >= TOK_STRING && k <= TOK_FSTR_TAIL)
			literal_string(t, i, scratch, &n);
	}
	arena_free(scratch);
}

static void check_nodes(const struct ast *t)
{
	for (node_id n = 1; n < t->len; n++) {
		span s = ast_span(t, n);
		BUG_ON(ast_token(t, n) >= t->tokens.len || s.end < s.start || s.end > t->tokens.src->len);
	}
}

static void check_items(const struct ast *t)
{
	struct ast_nodes items = ast_nodes(t, ast_a(t, AST_ROOT));
	for (uint32_t i = 0; i < items.n; i++) {
		BUG_ON(i && items.at[i] <= items.at[i - 1]);
		ast_item_tokens(t, items.at[i]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sources *sources = sources_new();
	struct diags *diags = diags_new(0);
	struct buf out = {0};
	struct ast ast;
	bool ok = parse_source(sources_add(sources, "fuzz.tri", (const char *)data, size), &ast, diags);
	BUG_ON(ok != (diags_errors(diags) == 0));
	check_tokens(&ast.tokens, (uint32_t)size);
	check_nodes(&ast);
	check_items(&ast);
	dump_tokens(&ast.tokens, &out);
	dump_ast(&ast, &out);
	buf_free(&out);
	ast_free(&ast);
	diags_free(diags);
	sources_free(sources);
	return 0;
}
