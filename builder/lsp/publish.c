/* Diagnostics to the editor: all of a workspace after each check. */
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/bug.h"
#include "base/diag.h"
#include "builder/lsp/call.h"

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

/* The message with what the terminal shows below it. */
static void put_message(struct call *c, const struct diag *g)
{
	struct buf b = {0};
	buf_puts(&b, g->message);
	if (g->primary.text && *g->primary.text)
		buf_printf(&b, "\n%s", g->primary.text);
	for (uint32_t i = 0; i < g->n_notes; i++)
		buf_printf(&b, "\nnote: %s", g->notes[i]);
	if (g->help)
		buf_printf(&b, "\nhelp: %s", g->help);
	json_member_str(c->out, "message", b.at);
	buf_free(&b);
}

static void put_related(struct call *c, const struct analysis *a, const struct diag *g)
{
	struct json_writer *w = c->out;
	json_member_open(w, "relatedInformation", '[');
	for (uint32_t i = 0; i < g->n_secondary; i++) {
		const struct diag_label *l = &g->secondary[i];
		if (l->at.source >= sources_count(a->sources))
			continue;
		json_open(w, '{');
		json_key(w, "location");
		put_location(c, a, l->at);
		json_member_str(w, "message", l->text && *l->text ? l->text : g->message);
		json_close(w, '}');
	}
	json_close(w, ']');
}

static span place_of(const struct diag *g) { return g->primary.at.source == SPAN_NO_SOURCE ? (span){0, 0, 0} : g->primary.at; }

void put_diagnostic(struct call *c, const struct analysis *a, const struct diag *g)
{
	static const int severities[] = {[SEV_ERROR] = 1, [SEV_WARNING] = 2, [SEV_NOTE] = 3};
	struct json_writer *w = c->out;
	json_open(w, '{');
	put_range(c, a, "range", place_of(g));
	json_member_int(w, "severity", severities[diag_severity_of(g->code)]);
	json_member_str(w, "code", diag_code_text(g->code));
	json_member_str(w, "source", "trib");
	put_message(c, g);
	if (g->n_secondary && c->s->client.related_information)
		put_related(c, a, g);
	if (tag_of(g->code) && c->s->client.tags) {
		json_member_open(w, "tags", '[');
		json_int(w, tag_of(g->code));
		json_close(w, ']');
	}
	json_close(w, '}');
}

static void publish(struct server *s, const struct analysis *a, uint32_t source, const char *uri)
{
	struct buf body = {0};
	struct json_writer w = {.out = &body};
	struct call c = {.s = s, .out = &w};
	const struct document *d = server_document(s, uri);
	json_open(&w, '{');
	json_member_str(&w, "jsonrpc", "2.0");
	json_member_str(&w, "method", "textDocument/publishDiagnostics");
	json_member_open(&w, "params", '{');
	json_member_str(&w, "uri", uri);
	if (d)
		json_member_int(&w, "version", d->version);
	json_member_open(&w, "diagnostics", '[');
	for (uint32_t i = 0; a && i < diags_count(a->diags); i++)
		if (place_of(diags_at(a->diags, i)).source == source)
			put_diagnostic(&c, a, diags_at(a->diags, i));
	json_close(&w, ']');
	json_close(&w, '}');
	json_close(&w, '}');
	server_send(s, &body);
}

static bool concerned(const struct server *s, const struct analysis *a, uint32_t source)
{
	for (uint32_t i = 0; i < diags_count(a->diags); i++)
		if (place_of(diags_at(a->diags, i)).source == source)
			return true;
	return server_document_at(s, analysis_path(a, source)) != NULL;
}

static bool forget(struct workspace *ws, const char *uri)
{
	for (uint32_t i = 0; i < ws->published.len; i++) {
		if (strcmp(ws->published.at[i], uri) != 0)
			continue;
		free(ws->published.at[i]);
		ws->published.at[i] = ws->published.at[--ws->published.len];
		return true;
	}
	return false;
}

void server_publish(struct server *s, struct workspace *ws)
{
	const struct analysis *a = ws->now;
	VEC(char *) shown = {0};
	for (uint32_t i = 0; a && !ws->std && i < sources_count(a->sources); i++) {
		const char *uri = uri_of_source(s, a, i);
		if (!strncmp(sources_get(a->sources, i)->path, "std/", 4) || !concerned(s, a, i))
			continue;
		publish(s, a, i, uri);
		forget(ws, uri);
		char *copy = strdup(uri);
		if (!copy)
			bug_no_memory();
		vec_push(&shown, copy);
	}
	for (uint32_t i = 0; i < ws->published.len; i++) { /* shown before, and nothing to say now */
		publish(s, NULL, 0, ws->published.at[i]);
		free(ws->published.at[i]);
	}
	vec_free(&ws->published);
	ws->published.at = shown.at;
	ws->published.len = shown.len;
	ws->published.cap = shown.cap;
}
