/* The first stages of the front end, for golden tests: front_dump STAGE FILE prints the result of the stage. Stages: tok, ast, err (the diagnostics of lexer
 * and parser as text), fmt (the formatted source), hash (the token hash of each definition). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/diag.h"
#include "frontend/format/format.h"
#include "frontend/syntax/ast.h"
#include "frontend/syntax/dump.h"
#include "frontend/syntax/parser.h"

static char *read_file(const char *path, size_t *len)
{
	FILE *f = fopen(path, "rb");
	char *text = NULL;
	size_t cap = 0;
	*len = 0;
	if (!f)
		return NULL;
	for (size_t got = 1; got;) {
		text = realloc(text, cap += 65536);
		if (!text)
			abort();
		got = fread(text + *len, 1, cap - *len, f);
		*len += got;
	}
	fclose(f);
	return text;
}

static void dump_hashes(const struct ast *t, struct buf *out)
{
	struct ast_nodes items = ast_nodes(t, ast_a(t, AST_ROOT));
	char hex[33];
	for (uint32_t i = 0; i < items.n; i++) {
		token_id name = ast_item_name(t, items.at[i]);
		hash_hex(ast_item_tokens(t, items.at[i]), hex);
		buf_printf(out, "%s %s ", hex, node_kind_text(ast_kind(t, items.at[i])));
		if (name != TOKEN_NONE)
			buf_put(out, token_text(&t->tokens, name), token_len(&t->tokens, name));
		buf_putc(out, '\n');
	}
}

static void dump(const char *stage, const struct ast *t, struct buf *out)
{
	if (strcmp(stage, "tok") == 0)
		dump_tokens(&t->tokens, out);
	else if (strcmp(stage, "ast") == 0)
		dump_ast(t, out);
	else if (strcmp(stage, "fmt") == 0)
		format_ast(t, out);
	else if (strcmp(stage, "hash") == 0)
		dump_hashes(t, out);
}

int main(int argc, char **argv)
{
	size_t len;
	char *text = argc == 3 ? read_file(argv[2], &len) : NULL;
	if (!text) {
		fprintf(stderr, "usage: front_dump tok|ast|err|fmt|hash FILE\n");
		return 2;
	}
	const char *slash = strrchr(argv[2], '/');
	struct sources *sources = sources_new();
	struct diags *diags = diags_new(0);
	struct buf out = {0};
	struct ast ast;
	bool ok = parse_source(sources_add(sources, slash ? slash + 1 : argv[2], text, len), &ast, diags);
	if (ok || strcmp(argv[1], "fmt") != 0)
		dump(argv[1], &ast, &out);
	if (out.len)
		fwrite(out.at, 1, out.len, stdout);
	diags_sort(diags);
	diags_print(diags, sources, strcmp(argv[1], "err") == 0 ? stdout : stderr, false);
	buf_free(&out);
	ast_free(&ast);
	diags_free(diags);
	sources_free(sources);
	free(text);
	return ok ? 0 : 1;
}
