/* Folding ranges: brackets, comments and imports of more than one line. */
#include <string.h>
#include "base/diag.h"
#include "base/vec.h"
#include "builder/lsp/query.h"
#include "frontend/syntax/lexer.h"
#include "frontend/syntax/token.h"

static void put_fold(struct query *q, uint32_t first, uint32_t last, const char *kind)
{
	if (last <= first)
		return;
	json_open(q->out, '{');
	json_member_int(q->out, "startLine", first - 1);
	json_member_int(q->out, "endLine", last - 1);
	if (kind)
		json_member_str(q->out, "kind", kind);
	json_close(q->out, '}');
}

static uint32_t fold_line_of(const struct query *q, uint32_t offset)
{
	return source_position(q->analysis->sources, q->source->id, offset).line;
}

static void fold_brackets(struct query *q, const struct tokens *t)
{
	VEC(uint32_t) open = {0};
	for (token_id i = 0; i < t->len; i++) {
		enum token_kind k = token_kind(t, i);
		if (k == TOK_LBRACE || k == TOK_LPAREN || k == TOK_LBRACKET) {
			vec_push(&open, t->starts[i]);
		} else if ((k == TOK_RBRACE || k == TOK_RPAREN || k == TOK_RBRACKET) && open.len) {
			uint32_t last = fold_line_of(q, t->starts[i]); /* the closing bracket stays visible */
			put_fold(q, fold_line_of(q, open.at[--open.len]), last - 1, NULL);
		}
	}
	vec_free(&open);
}

static void fold_imports(struct query *q, const struct tokens *t)
{
	uint32_t first = 0, last = 0;
	bool inside = false;
	for (token_id i = 0; i < t->len; i++) {
		enum token_kind k = token_kind(t, i);
		if (token_after_newline(t, i) && (k == TOK_IMPORT || k == TOK_FROM)) {
			first = inside ? first : fold_line_of(q, t->starts[i]);
			inside = true;
		} else if (token_after_newline(t, i) && inside) {
			put_fold(q, first, last, "imports");
			inside = false;
		}
		last = fold_line_of(q, t->starts[i]);
	}
}

/* Lines that begin with `#`, and block comments. */
static void fold_comments(struct query *q, const struct tokens *t)
{
	const struct source *s = q->source;
	uint32_t gap = 0;
	for (token_id i = 0; i < t->len; gap = t->ends[i++]) {
		uint32_t first = 0, last = 0;
		for (uint32_t at = gap; at < t->starts[i];) {
			const char *stop = memchr(s->text + at, '\n', t->starts[i] - at);
			uint32_t end = stop ? (uint32_t)(stop - s->text) : t->starts[i], from = at;
			while (from < end && (s->text[from] == ' ' || s->text[from] == '\t'))
				from++;
			bool comment =
				from < end && s->text[from] != '\r' && (s->text[from] == '#' || first || !strncmp(s->text + from, "/*", 2));
			if (comment && !first)
				first = fold_line_of(q, from);
			if (comment)
				last = fold_line_of(q, from);
			if (!comment || !stop) {
				put_fold(q, first, last, "comment");
				first = last = 0;
			}
			at = end + 1;
		}
		put_fold(q, first, last, "comment");
	}
}

void query_folding(struct query *q)
{
	struct tokens t;
	struct diags *trash = diags_new(1);
	lex(q->source, &t, trash);
	json_open(q->out, '[');
	fold_brackets(q, &t);
	fold_imports(q, &t);
	fold_comments(q, &t);
	json_close(q->out, ']');
	tokens_free(&t);
	diags_free(trash);
}
