/* Checks that the precompiled trees of the standard library equal those that the parser makes of its text. */
#include <string.h>
#include "base/diag.h"
#include "base/os.h"
#include "base/source.h"
#include "frontend/names/std_tree.h"
#include "frontend/std/std.h"
#include "frontend/syntax/lexer.h"
#include "frontend/syntax/parser.h"

enum { ROUNDS = 9 };

static bool same_bytes(const void *a, const void *b, size_t n) { return memcmp(a, b, n) == 0; }

static bool same_tokens(const struct tokens *a, const struct tokens *b)
{
	return a->len == b->len && a->lines == b->lines && same_bytes(a->kinds, b->kinds, a->len) &&
	       same_bytes(a->starts, b->starts, a->len * sizeof *a->starts) && same_bytes(a->ends, b->ends, a->len * sizeof *a->ends);
}

static bool same_tree(const struct ast *a, const struct ast *b)
{
	return same_tokens(&a->tokens, &b->tokens) && a->len == b->len && a->n_extra == b->n_extra &&
	       same_bytes(a->kinds, b->kinds, a->len) && same_bytes(a->mains, b->mains, a->len * sizeof *a->mains) &&
	       same_bytes(a->operands, b->operands, a->len * sizeof *a->operands) &&
	       same_bytes(a->extra, b->extra, a->n_extra * sizeof *a->extra) &&
	       same_bytes(a->firsts + 1, b->firsts + 1, (a->len - 1) * sizeof *a->firsts) && /* the root has none */
	       same_bytes(a->lasts + 1, b->lasts + 1, (a->len - 1) * sizeof *a->lasts);
}

bool frontend_check_precompiled(const char *module, struct frontend_precompiled *out)
{
	uint32_t len;
	const char *text = frontend_std(module, &len);
	const struct std_tree *tree = std_tree_find(module);
	*out = (struct frontend_precompiled){.parse_ns = INT64_MAX};
	if (!text)
		return false;
	out->same = tree && hash_eq(tree->text, hash_bytes(text, len));
	struct sources *sources = sources_new();
	struct diags *diags = diags_new(0);
	const struct source *src = sources_add(sources, module, text, len);
	for (int i = 0; i < ROUNDS; i++) {
		struct tokens tokens;
		struct ast ast = {0};
		int64_t t = os_now_ns();
		lex(src, &tokens, diags);
		parse(&tokens, &ast, diags);
		ast_note_spans(&ast);
		t = os_now_ns() - t;
		out->parse_ns = t < out->parse_ns ? t : out->parse_ns;
		out->lines = ast.tokens.lines;
		out->same = out->same && same_tree(&tree->ast, &ast);
		ast_free(&ast);
	}
	diags_free(diags);
	sources_free(sources);
	return true;
}
