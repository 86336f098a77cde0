/* Formatting: the canonical layout as edits of the lines that change. Text with syntax errors stays as it is. */
#include "frontend/format/format.h"
#include <string.h>
#include "base/diag.h"
#include "base/line_diff.h"
#include "builder/lsp/call.h"

/* The changes that touch bytes first … last. */
static void put_changes(struct call *c, const struct place *p, const struct buf *text, size_t first, size_t last)
{
	const char *new = text->at ? text->at : "";
	struct line_changes all = line_changes(p->source->text, p->source->len, new, text->len);
	json_open(c->out, '[');
	for (uint32_t i = 0; i < all.at.len; i++) {
		const struct line_change *g = &all.at.at[i];
		if (g->from > last || g->to < first)
			continue;
		json_open(c->out, '{');
		put_range(c, p->a, "range", (span){p->source->id, (uint32_t)g->from, (uint32_t)g->to});
		json_key(c->out, "newText");
		json_strn(c->out, new + g->new_from, g->new_to - g->new_from);
		json_close(c->out, '}');
	}
	json_close(c->out, ']');
	vec_free(&all.at);
}

static void format(struct call *c, const struct place *p, size_t first, size_t last)
{
	struct buf text = {0};
	struct diags *d = diags_new(1);
	if (format_source(p->source, &text, d))
		put_changes(c, p, &text, first, last);
	diags_free(d);
	buf_free(&text);
}

void request_formatting(struct call *c)
{
	struct place p;
	if (call_source(c, &p))
		format(c, &p, 0, p.source->len);
}

void request_range_formatting(struct call *c)
{
	struct place p;
	size_t first, last;
	if (call_range(c, &p, &first, &last) && !document_is_manifest(p.document))
		format(c, &p, first, last);
}
