/* What is open, and the folders it is checked with. */
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/bug.h"
#include "base/path.h"
#include "builder/lsp/call.h"
#include "builder/lsp/uri.h"

static char *copy(const char *s)
{
	char *c = strdup(s);
	if (!c)
		bug_no_memory();
	return c;
}

/* ---- workspaces ---- */

/* The nearest folder at or above `dir` with a manifest; NULL: there is none. */
static const char *project_above(struct server *s, struct arena *a, const char *dir)
{
	while (*dir == '/') {
		const char *manifest = path_join(a, dir, "tri.build");
		if (server_document_at(s, manifest) || s->host->exists(s->host->ctx, manifest))
			return dir;
		if (!dir[1])
			break;
		dir = path_dir(a, dir);
	}
	return NULL;
}

static struct workspace *workspace_of(struct server *s, const char *path)
{
	struct arena *a = arena_new(0);
	const char *dir = *path == '/' ? path_dir(a, path) : ""; /* "": of what has no file */
	bool std = !strcmp(dir, s->host->std_dir);
	const char *root = std ? NULL : project_above(s, a, dir);
	struct workspace *ws = NULL;
	for (uint32_t i = 0; i < s->workspaces.len && !ws; i++)
		if (!strcmp(s->workspaces.at[i]->root, root ? root : dir))
			ws = s->workspaces.at[i];
	if (!ws) {
		ws = calloc(1, sizeof *ws);
		if (!ws)
			bug_no_memory();
		ws->root = copy(root ? root : dir);
		vec_push(&s->workspaces, ws);
	}
	ws->project = root != NULL;
	ws->std = std;
	ws->dirty = true;
	arena_free(a);
	return ws;
}

/* A manifest came or went: everything may belong elsewhere. */
static void regroup(struct server *s)
{
	for (uint32_t i = 0; i < s->workspaces.len; i++)
		s->workspaces.at[i]->dirty = true;
	for (uint32_t i = 0; i < s->documents.len; i++)
		s->documents.at[i]->ws = workspace_of(s, s->documents.at[i]->path);
}

static bool is_manifest(const char *path) { return !strcmp(path_base(path), "tri.build"); }

bool document_is_manifest(const struct document *d) { return is_manifest(d->path); }

/* Does a file matter to what a workspace was found to be? One below its folder may be new. */
static bool concerns(const struct workspace *ws, const char *path)
{
	size_t n = strlen(ws->root);
	return !ws->now || (!strncmp(path, ws->root, n) && path[n] == '/') || map_get(&ws->now->looked_for, map_key_str(path), NULL);
}

/* The file changed on disk. */
static void touch(struct server *s, const char *path)
{
	if (is_manifest(path))
		regroup(s);
	for (uint32_t i = 0; i < s->workspaces.len; i++)
		if (concerns(s->workspaces.at[i], path))
			s->workspaces.at[i]->dirty = true;
}

struct analysis *server_analysis(struct server *s, const struct document *d)
{
	struct workspace *ws = d->ws;
	if (ws->dirty || !ws->now) {
		analysis_free(ws->now);
		ws->now = NULL;
		ws->now = analysis_new(s, ws, NULL);
		ws->dirty = false;
		server_publish(s, ws);
	}
	return ws->now;
}

/* ---- documents ---- */

struct document *server_document(const struct server *s, const char *uri)
{
	for (uint32_t i = 0; i < s->documents.len; i++)
		if (!strcmp(s->documents.at[i]->uri, uri))
			return s->documents.at[i];
	return NULL;
}

struct document *server_document_at(const struct server *s, const char *path)
{
	for (uint32_t i = 0; i < s->documents.len; i++)
		if (!strcmp(s->documents.at[i]->path, path))
			return s->documents.at[i];
	return NULL;
}

static void set_text(struct document *d, const char *text, size_t len)
{
	buf_clear(&d->text);
	buf_put(&d->text, text, len);
	d->ws->dirty = true;
}

static void close_document(struct server *s, struct document *d)
{
	uint32_t i = 0;
	while (s->documents.at[i] != d)
		i++;
	memmove(s->documents.at + i, s->documents.at + i + 1, (s->documents.len - i - 1) * sizeof *s->documents.at);
	s->documents.len--;
	d->ws->dirty = true;
	free((char *)(uintptr_t)d->uri);
	free((char *)(uintptr_t)d->path);
	buf_free(&d->text);
	free(d);
}

void note_did_open(struct call *c)
{
	const json_t *item = json_object_get(c->params, "textDocument"), *text = json_object_get(item, "text");
	const char *uri = json_text(item, "uri");
	if (!uri || !json_is_string(text) || json_string_length(text) >= INT32_MAX)
		return;
	struct document *d = server_document(c->s, uri);
	if (d)
		close_document(c->s, d);
	d = calloc(1, sizeof *d);
	if (!d)
		bug_no_memory();
	d->uri = copy(uri);
	d->path = copy(uri_path(c->scratch, uri));
	d->version = json_integer_value(json_object_get(item, "version"));
	vec_push(&c->s->documents, d);
	d->ws = workspace_of(c->s, d->path);
	set_text(d, json_string_value(text), json_string_length(text));
	touch(c->s, d->path);
}

/* One change: a range's new text, or the whole text. */
static void change(struct call *c, struct document *d, const json_t *event)
{
	const json_t *range = json_object_get(event, "range"), *text = json_object_get(event, "text");
	struct lsp_position from, to;
	if (!json_is_string(text) || json_string_length(text) + d->text.len >= INT32_MAX)
		return;
	if (!json_is_object(range)) {
		set_text(d, json_string_value(text), json_string_length(text));
		return;
	}
	if (!json_position(json_object_get(range, "start"), &from) || !json_position(json_object_get(range, "end"), &to))
		return;
	const char *old = d->text.at ? d->text.at : "";
	size_t start = position_offset(old, d->text.len, from, c->s->client.utf8);
	size_t end = position_offset(old, d->text.len, to, c->s->client.utf8);
	struct buf changed = {0};
	buf_put(&changed, old, start);
	buf_put(&changed, json_string_value(text), json_string_length(text));
	if (end < start)
		end = start;
	buf_put(&changed, old + end, d->text.len - end);
	buf_free(&d->text);
	d->text = changed;
	d->ws->dirty = true;
}

void note_did_change(struct call *c)
{
	const json_t *id = json_object_get(c->params, "textDocument"), *event;
	const char *uri = json_text(id, "uri");
	struct document *d = uri ? server_document(c->s, uri) : NULL;
	size_t i;
	if (!d)
		return;
	d->version = json_integer_value(json_object_get(id, "version"));
	json_array_foreach(json_object_get(c->params, "contentChanges"), i, event) change(c, d, event);
	if (is_manifest(d->path))
		regroup(c->s);
	touch(c->s, "");
}

void note_did_close(struct call *c)
{
	const char *uri = json_text(json_object_get(c->params, "textDocument"), "uri");
	struct document *d = uri ? server_document(c->s, uri) : NULL;
	if (!d)
		return;
	const char *path = arena_strdup(c->scratch, d->path);
	close_document(c->s, d);
	touch(c->s, path);
}

void note_did_save(struct call *c)
{
	const char *uri = json_text(json_object_get(c->params, "textDocument"), "uri");
	if (uri)
		touch(c->s, uri_path(c->scratch, uri));
}

void note_did_change_files(struct call *c)
{
	const json_t *event;
	size_t i;
	json_array_foreach(json_object_get(c->params, "changes"), i, event)
	{
		const char *uri = json_text(event, "uri");
		if (uri)
			touch(c->s, uri_path(c->scratch, uri));
	}
}
