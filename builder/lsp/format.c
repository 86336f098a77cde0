/* Formatting, as edits of the lines that change. Text with syntax errors is left unchanged. */
#include "frontend/format/format.h"
#include "base/diag.h"
#include "base/line_diff.h"
#include "builder/lsp/query.h"

/* The changes that touch bytes first … last. */
static void put_changes(struct query *q, const struct buf *text, size_t first, size_t last)
{
	const char *new = text->at ? text->at : "";
	struct line_changes all = line_changes(q->source->text, q->source->len, new, text->len);
	json_open(q->out, '[');
	for (uint32_t i = 0; i < all.at.len; i++) {
		const struct line_change *g = &all.at.at[i];
		if (g->from > last || g->to < first)
			continue;
		json_open(q->out, '{');
		put_range(q, "range", (span){q->source->id, (uint32_t)g->from, (uint32_t)g->to});
		json_key(q->out, "newText");
		json_strn(q->out, new + g->new_from, g->new_to - g->new_from);
		json_close(q->out, '}');
	}
	json_close(q->out, ']');
	vec_free(&all.at);
}

static void format(struct query *q, size_t first, size_t last)
{
	struct buf text = {0};
	struct diags *d = diags_new(1);
	if (format_source(q->source, &text, d))
		put_changes(q, &text, first, last);
	diags_free(d);
	buf_free(&text);
}

void query_formatting(struct query *q) { format(q, 0, q->source->len); }

void query_range_formatting(struct query *q)
{
	if (!document_is_manifest(q->document))
		format(q, q->first, q->last);
}
