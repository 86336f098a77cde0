#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "base/diag.h"
#include "builder/lsp/frame.h"
#include "builder/lsp/query.h"

enum { TAG_NONE, TAG_UNNECESSARY };

static int tag_of(enum diag_code code)
{
	switch (code) {
	case DIAG_UNUSED_LOCAL:
	case DIAG_UNUSED_IMPORT:
	case DIAG_UNREACHABLE:
	case DIAG_NO_EFFECT:
	case DIAG_MANIFEST_UNUSED: return TAG_UNNECESSARY;
	default: return TAG_NONE;
	}
}

/* The message with its label, notes and help, as the terminal shows them. */
static void publish_put_message(struct query *q, const struct diag *g)
{
	struct buf b = {0};
	buf_puts(&b, g->message);
	if (g->primary.text && *g->primary.text)
		buf_printf(&b, "\n%s", g->primary.text);
	for (uint32_t i = 0; i < g->n_notes; i++)
		buf_printf(&b, "\nnote: %s", g->notes[i]);
	if (g->help)
		buf_printf(&b, "\nhelp: %s", g->help);
	json_member_str(q->out, "message", b.at);
	buf_free(&b);
}

static void put_related(struct query *q, const struct diag *g)
{
	struct json_writer *w = q->out;
	json_member_open(w, "relatedInformation", '[');
	for (uint32_t i = 0; i < g->n_secondary; i++) {
		const struct diag_label *l = &g->secondary[i];
		if (l->at.source >= sources_count(q->analysis->sources))
			continue;
		json_open(w, '{');
		json_key(w, "location");
		put_location(q, l->at);
		json_member_str(w, "message", l->text && *l->text ? l->text : g->message);
		json_close(w, '}');
	}
	json_close(w, ']');
}

/* Diagnostics without a source are shown at the start of the first one. */
static span publish_span_of(const struct diag *g) { return g->primary.at.source == SPAN_NO_SOURCE ? (span){0, 0, 0} : g->primary.at; }

void put_diagnostic(struct query *q, const struct diag *g)
{
	static const int severities[] = {[SEV_ERROR] = 1, [SEV_WARNING] = 2, [SEV_NOTE] = 3};
	struct json_writer *w = q->out;
	json_open(w, '{');
	put_range(q, "range", publish_span_of(g));
	json_member_int(w, "severity", severities[diag_severity_of(g->code)]);
	json_member_str(w, "code", diag_code_text(g->code));
	json_member_str(w, "source", "trib");
	publish_put_message(q, g);
	if (g->n_secondary && q->state->client.related_information)
		put_related(q, g);
	if (tag_of(g->code) && q->state->client.tags) {
		json_member_open(w, "tags", '[');
		json_int(w, tag_of(g->code));
		json_close(w, ']');
	}
	json_close(w, '}');
}

/* Sends the diagnostics of one document; without an analysis, none. */
static void send_diagnostics(struct query *q, struct buf *outbox, uint32_t source, const char *uri)
{
	struct buf body = {0};
	struct json_writer w = {.out = &body};
	const struct document *d = document_of_uri(q->state, uri);
	q->out = &w;
	json_open(&w, '{');
	json_member_str(&w, "jsonrpc", "2.0");
	json_member_str(&w, "method", "textDocument/publishDiagnostics");
	json_member_open(&w, "params", '{');
	json_member_str(&w, "uri", uri);
	if (d)
		json_member_int(&w, "version", d->version);
	json_member_open(&w, "diagnostics", '[');
	for (uint32_t i = 0; q->analysis && i < diags_count(q->analysis->diags); i++)
		if (publish_span_of(diags_at(q->analysis->diags, i)).source == source)
			put_diagnostic(q, diags_at(q->analysis->diags, i));
	json_close(&w, ']');
	json_close(&w, '}');
	json_close(&w, '}');
	frame_write(outbox, &body);
}

/* True if the source has diagnostics or is open. */
static bool publish_is_shown(const struct query *q, uint32_t source)
{
	for (uint32_t i = 0; i < diags_count(q->analysis->diags); i++)
		if (publish_span_of(diags_at(q->analysis->diags, i)).source == source)
			return true;
	return document_of_path(q->state, analysis_path(q->analysis, source)) != NULL;
}

static void remove_published(struct workspace *ws, const char *uri)
{
	for (uint32_t i = 0; i < ws->published.len; i++) {
		if (strcmp(ws->published.at[i], uri) != 0)
			continue;
		free(ws->published.at[i]);
		ws->published.at[i] = ws->published.at[--ws->published.len];
		return;
	}
}

/* Sends the diagnostics of all sources, and empty lists for those that had diagnostics before. */
static void publish_publish(const struct editor_state *state, struct workspace *ws, struct buf *outbox)
{
	struct query q = {.state = state, .analysis = ws->analysis};
	VEC(char *) shown = {0};
	for (uint32_t i = 0; q.analysis && !ws->is_std && i < sources_count(q.analysis->sources); i++) {
		const char *uri = uri_of_source(&q, i);
		if (!strncmp(sources_get(q.analysis->sources, i)->path, "std/", 4) || !publish_is_shown(&q, i))
			continue;
		send_diagnostics(&q, outbox, i, uri);
		remove_published(ws, uri);
		char *copy = strdup(uri);
		if (!copy)
			bug_no_memory();
		vec_push(&shown, copy);
	}
	q.analysis = NULL;
	for (uint32_t i = 0; i < ws->published.len; i++) {
		send_diagnostics(&q, outbox, 0, ws->published.at[i]);
		free(ws->published.at[i]);
	}
	vec_free(&ws->published);
	ws->published.at = shown.at;
	ws->published.len = shown.len;
	ws->published.cap = shown.cap;
}

void workspace_refresh(struct editor_state *state, struct workspace *ws, struct buf *outbox)
{
	if (!ws->is_changed && ws->analysis)
		return;
	analysis_free(ws->analysis);
	ws->analysis = NULL;
	map_free(&ws->looked_for);
	ws->analysis = analysis_new(state, ws, NULL);
	ws->looked_for = ws->analysis->looked_for;
	ws->analysis->looked_for = (struct map){0};
	ws->is_changed = false;
	publish_publish(state, ws, outbox);
}

void workspaces_refresh(struct editor_state *state, struct buf *outbox)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < state->workspaces.len; i++) {
		struct workspace *ws = state->workspaces.at[i];
		if (workspace_document(state, ws)) {
			workspace_refresh(state, ws, outbox);
			state->workspaces.at[n++] = ws;
			continue;
		}
		analysis_free(ws->analysis);
		ws->analysis = NULL;
		publish_publish(state, ws, outbox);
		workspace_free(ws);
	}
	state->workspaces.len = n;
}

static struct workspace *with_models_left(const struct editor_state *state)
{
	for (uint32_t i = 0; i < state->workspaces.len; i++) {
		struct workspace *ws = state->workspaces.at[i];
		if (ws->analysis && !ws->is_changed && analysis_has_models_left(ws->analysis))
			return ws;
	}
	return NULL;
}

bool workspaces_have_models_left(const struct editor_state *state) { return with_models_left(state) != NULL; }

void workspaces_elaborate_next(struct editor_state *state, struct buf *outbox)
{
	struct workspace *ws = with_models_left(state);
	uint32_t before = diags_count(ws->analysis->diags);
	analysis_elaborate_next(ws->analysis);
	if (diags_count(ws->analysis->diags) != before)
		publish_publish(state, ws, outbox);
}
