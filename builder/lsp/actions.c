/* Code actions: the edits that diagnostics suggest, one by one or all at once. */
#include <string.h>
#include "base/arena.h"
#include "base/diag.h"
#include "builder/lsp/query.h"

#define FIX "quickfix"
#define FIX_ALL "source.fixAll"

/* True if the client asks for the kind, or for one that contains it, as "source" contains "source.fixAll". */
static bool actions_is_wanted(const json_t *context, const char *kind)
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

static void actions_put_edit(struct query *q, const struct diag *g)
{
	json_open(q->out, '{');
	put_range(q, "range", g->edit);
	json_member_str(q->out, "newText", g->replacement);
	json_close(q->out, '}');
}

/* Opens the list of edits, the last member of an action. */
static void open_edits(struct query *q)
{
	struct json_writer *w = q->out;
	json_member_open(w, "edit", '{');
	if (q->state->client.document_changes) {
		json_member_open(w, "documentChanges", '[');
		json_open(w, '{');
		json_member_open(w, "textDocument", '{');
		json_member_str(w, "uri", q->document->uri);
		json_member_int(w, "version", q->document->version);
		json_close(w, '}');
		json_key(w, "edits");
	} else {
		json_member_open(w, "changes", '{');
		json_key(w, q->document->uri);
	}
	json_open(w, '[');
}

static void close_edits(struct query *q)
{
	json_close(q->out, ']');
	json_close(q->out, '}');
	if (q->state->client.document_changes)
		json_close(q->out, ']');
	json_close(q->out, '}');
}

static const char *actions_title_of(struct query *q, const struct diag *g)
{
	if (g->edit.start == g->edit.end)
		return arena_printf(q->scratch, "insert `%s`", g->replacement);
	const char *old = source_text(q, g->edit);
	return *g->replacement ? arena_printf(q->scratch, "replace `%s` with `%s`", old, g->replacement)
			       : arena_printf(q->scratch, "remove `%s`", old);
}

static void put_fix(struct query *q, const struct diag *g)
{
	struct json_writer *w = q->out;
	json_open(w, '{');
	json_member_str(w, "title", actions_title_of(q, g));
	json_member_str(w, "kind", FIX);
	json_member_open(w, "diagnostics", '[');
	put_diagnostic(q, g);
	json_close(w, ']');
	json_member_bool(w, "isPreferred", diag_is_fixable(g));
	open_edits(q);
	actions_put_edit(q, g);
	close_edits(q);
	json_close(w, '}');
}

static int actions_by_position(const void *a, const void *b)
{
	const struct diag *x = *(const struct diag *const *)a, *y = *(const struct diag *const *)b;
	return x->edit.start < y->edit.start ? -1 : x->edit.start > y->edit.start;
}

/* All certain edits that do not overlap an earlier one. */
static void put_fix_all(struct query *q)
{
	const struct diags *d = q->analysis->diags;
	const struct diag **all = ARENA_ARRAY(q->scratch, const struct diag *, diags_count(d) + 1);
	uint32_t n = 0, end = 0;
	for (uint32_t i = 0; i < diags_count(d); i++)
		if (fixes(diags_at(d, i), q->source->id) && diag_is_fixable(diags_at(d, i)))
			all[n++] = diags_at(d, i);
	if (!n)
		return;
	qsort(all, n, sizeof *all, actions_by_position);
	json_open(q->out, '{');
	json_member_str(q->out, "title", "apply all suggestions");
	json_member_str(q->out, "kind", FIX_ALL);
	open_edits(q);
	for (uint32_t i = 0; i < n; i++) {
		if (i && (all[i]->edit.start < end || all[i]->edit.start == all[i - 1]->edit.start))
			continue;
		actions_put_edit(q, all[i]);
		end = all[i]->edit.end;
	}
	close_edits(q);
	json_close(q->out, '}');
}

void query_code_action(struct query *q)
{
	const json_t *context = json_object_get(q->params, "context");
	analysis_verify_edits(q->analysis);
	json_open(q->out, '[');
	for (uint32_t i = 0;
	     q->state->client.code_action_literals && actions_is_wanted(context, FIX) && i < diags_count(q->analysis->diags); i++) {
		const struct diag *g = diags_at(q->analysis->diags, i);
		bool here = g->primary.at.source == q->source->id && g->primary.at.start <= q->last && g->primary.at.end >= q->first;
		if (here && fixes(g, q->source->id))
			put_fix(q, g);
	}
	if (q->state->client.code_action_literals && actions_is_wanted(context, FIX_ALL))
		put_fix_all(q);
	json_close(q->out, ']');
}
