/* Folding: brackets, comments and imports that take more than a line. */
#include <string.h>
#include "base/diag.h"
#include "base/vec.h"
#include "builder/lsp/call.h"
#include "frontend/syntax/lexer.h"
#include "frontend/syntax/token.h"

static void put_fold(struct call *c, uint32_t first, uint32_t last, const char *kind)
{
	if (last <= first)
		return;
	json_open(c->out, '{');
	json_member_int(c->out, "startLine", first - 1);
	json_member_int(c->out, "endLine", last - 1);
	if (kind)
		json_member_str(c->out, "kind", kind);
	json_close(c->out, '}');
}

static uint32_t line_of(const struct place *p, uint32_t offset) { return source_position(p->a->sources, p->source->id, offset).line; }

static void fold_brackets(struct call *c, const struct place *p, const struct tokens *t)
{
	VEC(uint32_t) open = {0};
	for (token_id i = 0; i < t->len; i++) {
		enum token_kind k = token_kind(t, i);
		if (k == TOK_LBRACE || k == TOK_LPAREN || k == TOK_LBRACKET) {
			vec_push(&open, t->starts[i]);
		} else if ((k == TOK_RBRACE || k == TOK_RPAREN || k == TOK_RBRACKET) && open.len) {
			uint32_t last = line_of(p, t->starts[i]); /* the closing bracket stays in sight */
			put_fold(c, line_of(p, open.at[--open.len]), last - 1, NULL);
		}
	}
	vec_free(&open);
}

static void fold_imports(struct call *c, const struct place *p, const struct tokens *t)
{
	uint32_t first = 0, last = 0;
	bool inside = false;
	for (token_id i = 0; i < t->len; i++) {
		enum token_kind k = token_kind(t, i);
		if (token_after_newline(t, i) && (k == TOK_IMPORT || k == TOK_FROM)) {
			first = inside ? first : line_of(p, t->starts[i]);
			inside = true;
		} else if (token_after_newline(t, i) && inside) {
			put_fold(c, first, last, "imports");
			inside = false;
		}
		last = line_of(p, t->starts[i]);
	}
}

/* Lines that begin with `#`, and block comments. */
static void fold_comments(struct call *c, const struct place *p, const struct tokens *t)
{
	const struct source *s = p->source;
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
				first = line_of(p, from);
			if (comment)
				last = line_of(p, from);
			if (!comment || !stop) {
				put_fold(c, first, last, "comment");
				first = last = 0;
			}
			at = end + 1;
		}
		put_fold(c, first, last, "comment");
	}
}

void request_folding(struct call *c)
{
	struct place p;
	struct tokens t;
	if (!call_source(c, &p))
		return;
	struct diags *trash = diags_new(1);
	lex(p.source, &t, trash);
	json_open(c->out, '[');
	fold_brackets(c, &p, &t);
	fold_imports(c, &p, &t);
	fold_comments(c, &p, &t);
	json_close(c->out, ']');
	tokens_free(&t);
	diags_free(trash);
}
