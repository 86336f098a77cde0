/* Code actions: the edits that diagnostics suggest, one by one or all at once. */
#include <string.h>
#include "base/arena.h"
#include "base/diag.h"
#include "builder/lsp/call.h"

#define FIX "quickfix"
#define FIX_ALL "source.fixAll"

/* Is a kind wanted? A wanted kind takes in what is below it: "source" "source.fixAll". */
static bool wanted(const json_t *context, const char *kind)
{
	const json_t *only = json_object_get(context, "only"), *v;
	size_t i;
	if (!json_is_array(only))
		return true;
	json_array_foreach(only, i, v)
	{
		const char *text = json_string_value(v);
		size_t n = text ? strlen(text) : 0;
		if (text && (!n || (!strncmp(kind, text, n) && (!kind[n] || kind[n] == '.'))))
			return true;
	}
	return false;
}

static bool fixes(const struct diag *g, uint32_t source)
{
	return g->replacement && g->edit.source == source && g->edit.source != SPAN_NO_SOURCE;
}

static void put_edit(struct call *c, const struct analysis *a, const struct diag *g)
{
	json_open(c->out, '{');
	put_range(c, a, "range", g->edit);
	json_member_str(c->out, "newText", g->replacement);
	json_close(c->out, '}');
}

/* The edits of a document open here; ends the action. */
static void open_edits(struct call *c, const struct place *p)
{
	struct json_writer *w = c->out;
	json_member_open(w, "edit", '{');
	if (c->s->client.document_changes) {
		json_member_open(w, "documentChanges", '[');
		json_open(w, '{');
		json_member_open(w, "textDocument", '{');
		json_member_str(w, "uri", p->document->uri);
		json_member_int(w, "version", p->document->version);
		json_close(w, '}');
		json_key(w, "edits");
	} else {
		json_member_open(w, "changes", '{');
		json_key(w, p->document->uri);
	}
	json_open(w, '[');
}

static void close_edits(struct call *c)
{
	json_close(c->out, ']');
	json_close(c->out, '}');
	if (c->s->client.document_changes)
		json_close(c->out, ']');
	json_close(c->out, '}');
}

static const char *title_of(struct call *c, const struct place *p, const struct diag *g)
{
	if (g->edit.start == g->edit.end)
		return arena_printf(c->scratch, "insert `%s`", g->replacement);
	const char *old = source_text(c, p->a, g->edit);
	return *g->replacement ? arena_printf(c->scratch, "replace `%s` with `%s`", old, g->replacement)
			       : arena_printf(c->scratch, "remove `%s`", old);
}

static void put_fix(struct call *c, const struct place *p, const struct diag *g)
{
	struct json_writer *w = c->out;
	json_open(w, '{');
	json_member_str(w, "title", title_of(c, p, g));
	json_member_str(w, "kind", FIX);
	json_member_open(w, "diagnostics", '[');
	put_diagnostic(c, p->a, g);
	json_close(w, ']');
	json_member_bool(w, "isPreferred", diag_is_fixable(g));
	open_edits(c, p);
	put_edit(c, p->a, g);
	close_edits(c);
	json_close(w, '}');
}

static int by_place(const void *a, const void *b)
{
	const struct diag *x = *(const struct diag *const *)a, *y = *(const struct diag *const *)b;
	return x->edit.start < y->edit.start ? -1 : x->edit.start > y->edit.start;
}

/* All sure edits that do not overlap an earlier one. */
static void put_fix_all(struct call *c, const struct place *p)
{
	const struct diags *d = p->a->diags;
	const struct diag **all = ARENA_ARRAY(c->scratch, const struct diag *, diags_count(d) + 1);
	uint32_t n = 0, end = 0;
	for (uint32_t i = 0; i < diags_count(d); i++)
		if (fixes(diags_at(d, i), p->source->id) && diag_is_fixable(diags_at(d, i)))
			all[n++] = diags_at(d, i);
	if (!n)
		return;
	qsort(all, n, sizeof *all, by_place);
	json_open(c->out, '{');
	json_member_str(c->out, "title", "apply all suggestions");
	json_member_str(c->out, "kind", FIX_ALL);
	open_edits(c, p);
	for (uint32_t i = 0; i < n; i++) {
		if (i && (all[i]->edit.start < end || all[i]->edit.start == all[i - 1]->edit.start))
			continue;
		put_edit(c, p->a, all[i]);
		end = all[i]->edit.end;
	}
	close_edits(c);
	json_close(c->out, '}');
}

void request_code_action(struct call *c)
{
	struct place p;
	const json_t *context = json_object_get(c->params, "context");
	size_t start, end;
	if (!call_range(c, &p, &start, &end))
		return;
	json_open(c->out, '[');
	for (uint32_t i = 0; c->s->client.code_action_literals && wanted(context, FIX) && i < diags_count(p.a->diags); i++) {
		const struct diag *g = diags_at(p.a->diags, i);
		bool here = g->primary.at.source == p.source->id && g->primary.at.start <= end && g->primary.at.end >= start;
		if (here && fixes(g, p.source->id))
			put_fix(c, &p, g);
	}
	if (c->s->client.code_action_literals && wanted(context, FIX_ALL))
		put_fix_all(c, &p);
	json_close(c->out, ']');
}
