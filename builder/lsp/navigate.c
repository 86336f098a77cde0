/* The definition and the uses of a name. */
#include <string.h>
#include "builder/lsp/query.h"

/* The standard library is inside the executable. This writes the file that the editor will open. */
static bool navigate_write_std(struct query *q, uint32_t source)
{
	const struct lsp_host *h = q->state->host;
	const struct source *s = sources_get(q->analysis->sources, source);
	if (strncmp(s->path, "std/", 4) != 0)
		return true;
	return h->write(h->ctx, analysis_path(q->analysis, source), s->text, s->len);
}

void query_definition(struct query *q)
{
	span at = q->symbol->target.source != SPAN_NO_SOURCE ? q->symbol->target : q->symbol->at;
	if (at.source == SPAN_NO_SOURCE)
		return;
	if (!navigate_write_std(q, at.source))
		query_fail(q, LSP_FAILED, "the standard library cannot be written to `%s`", q->state->host->std_dir);
	else
		put_location(q, at);
}

void query_references(struct query *q)
{
	bool declaration = json_is_true(json_object_get(json_object_get(q->params, "context"), "includeDeclaration"));
	const struct index *ix = q->analysis->index;
	json_open(q->out, '[');
	for (uint32_t i = 0; i < ix->uses.len; i++) {
		const struct index_use *u = &ix->uses.at[i];
		bool definition = u->at.source == q->symbol->at.source && u->at.start == q->symbol->at.start;
		bool std = !strncmp(sources_get(q->analysis->sources, u->at.source)->path, "std/", 4);
		if (u->symbol == q->use->symbol && (declaration || !definition) && (!std || navigate_write_std(q, u->at.source)))
			put_location(q, u->at);
	}
	json_close(q->out, ']');
}

void query_highlight(struct query *q)
{
	uint32_t n;
	const struct index_use *uses = index_uses_in(q->analysis->index, q->source->id, &n);
	json_open(q->out, '[');
	for (uint32_t i = 0; i < n; i++) {
		if (uses[i].symbol != q->use->symbol)
			continue;
		bool is_definition = uses[i].at.source == q->symbol->at.source && uses[i].at.start == q->symbol->at.start;
		json_open(q->out, '{');
		put_range(q, "range", uses[i].at);
		json_member_int(q->out, "kind", is_definition ? 3 : 2);
		json_close(q->out, '}');
	}
	json_close(q->out, ']');
}
