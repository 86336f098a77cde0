/* From a name to its definition, and to its other uses. */
#include <string.h>
#include "base/arena.h"
#include "base/path.h"
#include "builder/lsp/call.h"
#include "frontend/frontend.h"

/* The standard library is inside the executable: what is jumped to is written where the editor can open it. */
static bool ensure_std(struct call *c, const struct analysis *a, uint32_t source)
{
	const struct lsp_host *h = c->s->host;
	const struct source *s = sources_get(a->sources, source);
	if (strncmp(s->path, "std/", 4) != 0)
		return true;
	return h->write(h->ctx, analysis_path(a, source), s->text, s->len);
}

void request_definition(struct call *c)
{
	struct place p;
	if (!call_place(c, &p) || !p.symbol)
		return;
	span at = p.symbol->target.source != SPAN_NO_SOURCE ? p.symbol->target : p.symbol->at;
	if (at.source == SPAN_NO_SOURCE)
		return;
	if (!ensure_std(c, p.a, at.source))
		call_fail(c, LSP_FAILED, "the standard library cannot be written to `%s`", c->s->host->std_dir);
	else
		put_location(c, p.a, at);
}

void request_references(struct call *c)
{
	struct place p;
	bool declaration = json_is_true(json_object_get(json_object_get(c->params, "context"), "includeDeclaration"));
	if (!call_place(c, &p) || !p.symbol)
		return;
	const struct index *ix = p.a->index;
	json_open(c->out, '[');
	for (uint32_t i = 0; i < ix->uses.len; i++) {
		const struct index_use *u = &ix->uses.at[i];
		bool definition = u->at.source == p.symbol->at.source && u->at.start == p.symbol->at.start;
		bool std = !strncmp(sources_get(p.a->sources, u->at.source)->path, "std/", 4);
		if (u->symbol == p.use->symbol && (declaration || !definition) && (!std || ensure_std(c, p.a, u->at.source)))
			put_location(c, p.a, u->at);
	}
	json_close(c->out, ']');
}

void request_highlight(struct call *c)
{
	struct place p;
	uint32_t n;
	if (!call_place(c, &p) || !p.symbol)
		return;
	const struct index_use *uses = index_uses_in(p.a->index, p.source->id, &n);
	json_open(c->out, '[');
	for (uint32_t i = 0; i < n; i++) {
		if (uses[i].symbol != p.use->symbol)
			continue;
		bool written = uses[i].at.source == p.symbol->at.source && uses[i].at.start == p.symbol->at.start;
		json_open(c->out, '{');
		put_range(c, p.a, "range", uses[i].at);
		json_member_int(c->out, "kind", written ? 3 : 2);
		json_close(c->out, '}');
	}
	json_close(c->out, ']');
}
