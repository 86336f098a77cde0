#include "builder/lsp/editor_state.h"
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/bug.h"
#include "base/path.h"

#define MANIFEST "tri.build"

static char *editor_state_copy(const char *s)
{
	char *c = strdup(s);
	if (!c)
		bug_no_memory();
	return c;
}

static void document_free(struct document *d)
{
	free(d->uri);
	free(d->path);
	buf_free(&d->text);
	free(d);
}

void workspace_free(struct workspace *ws)
{
	for (uint32_t i = 0; i < ws->published.len; i++)
		free(ws->published.at[i]);
	vec_free(&ws->published);
	map_free(&ws->looked_for);
	free(ws->root);
	free(ws);
}

void editor_state_free(struct editor_state *s)
{
	for (uint32_t i = 0; i < s->documents.len; i++)
		document_free(s->documents.at[i]);
	for (uint32_t i = 0; i < s->workspaces.len; i++)
		workspace_free(s->workspaces.at[i]);
	vec_free(&s->documents);
	vec_free(&s->workspaces);
}

/* ---- look-up ---- */

struct document *document_of_uri(const struct editor_state *s, const char *uri)
{
	for (uint32_t i = 0; i < s->documents.len; i++)
		if (!strcmp(s->documents.at[i]->uri, uri))
			return s->documents.at[i];
	return NULL;
}

struct document *document_of_path(const struct editor_state *s, const char *path)
{
	for (uint32_t i = 0; i < s->documents.len; i++)
		if (!strcmp(s->documents.at[i]->path, path))
			return s->documents.at[i];
	return NULL;
}

static bool is_manifest(const char *path) { return !strcmp(path_base(path), MANIFEST); }

bool document_is_manifest(const struct document *d) { return is_manifest(d->path); }

struct document *workspace_document(const struct editor_state *s, const struct workspace *ws)
{
	for (uint32_t i = 0; i < s->documents.len; i++)
		if (s->documents.at[i]->workspace == ws)
			return s->documents.at[i];
	return NULL;
}

/* ---- workspaces ---- */

/* The nearest folder with a manifest, `dir` or above it; NULL if there is none. */
static const char *editor_state_project_above(const struct editor_state *s, struct arena *a, const char *dir)
{
	while (*dir == '/') {
		const char *manifest = path_join(a, dir, MANIFEST);
		if (document_of_path(s, manifest) || s->host->exists(s->host->ctx, manifest))
			return dir;
		if (!dir[1])
			break;
		dir = path_dir(a, dir);
	}
	return NULL;
}

static struct workspace *find_workspace(struct editor_state *s, const char *root)
{
	for (uint32_t i = 0; i < s->workspaces.len; i++)
		if (!strcmp(s->workspaces.at[i]->root, root))
			return s->workspaces.at[i];
	struct workspace *ws = alloc_zeroed(sizeof *ws);
	ws->root = editor_state_copy(root);
	vec_push(&s->workspaces, ws);
	return ws;
}

static struct workspace *workspace_of(struct editor_state *s, const char *path)
{
	struct arena *a = arena_new(0);
	const char *dir = *path == '/' ? path_dir(a, path) : ""; /* "": an unsaved document */
	bool std = !strcmp(dir, s->host->std_dir);
	const char *project = std ? NULL : editor_state_project_above(s, a, dir);
	struct workspace *ws = find_workspace(s, project ? project : dir);
	ws->has_manifest = project != NULL;
	ws->is_std = std;
	ws->is_changed = true;
	arena_free(a);
	return ws;
}

/* Finds the workspace of each document again, because a manifest appeared or disappeared. */
static void regroup(struct editor_state *s)
{
	for (uint32_t i = 0; i < s->workspaces.len; i++)
		s->workspaces.at[i]->is_changed = true;
	for (uint32_t i = 0; i < s->documents.len; i++)
		s->documents.at[i]->workspace = workspace_of(s, s->documents.at[i]->path);
}

/* True if the analysis looked for the file, or if the file is below the root, where it may be new. */
static bool concerns(const struct workspace *ws, const char *path)
{
	size_t n = strlen(ws->root);
	return !ws->analysis || (!strncmp(path, ws->root, n) && path[n] == '/') || map_get(&ws->looked_for, map_key_str(path), NULL);
}

void editor_state_file_changed(struct editor_state *s, const char *path)
{
	if (is_manifest(path))
		regroup(s);
	for (uint32_t i = 0; i < s->workspaces.len; i++)
		if (concerns(s->workspaces.at[i], path))
			s->workspaces.at[i]->is_changed = true;
}

/* ---- documents ---- */

void document_set_text(struct document *d, const char *text, size_t len)
{
	buf_clear(&d->text);
	buf_put(&d->text, text, len);
	d->workspace->is_changed = true;
}

void document_splice(struct document *d, size_t start, size_t end, const char *text, size_t len)
{
	const char *old = d->text.at ? d->text.at : "";
	struct buf changed = {0};
	buf_put(&changed, old, start);
	buf_put(&changed, text, len);
	buf_put(&changed, old + end, d->text.len - end);
	buf_free(&d->text);
	d->text = changed;
	d->workspace->is_changed = true;
}

void document_open(struct editor_state *s, const char *uri, const char *path, int64_t version, const char *text, size_t len)
{
	struct document *d = document_of_uri(s, uri);
	if (d)
		document_close(s, d);
	d = alloc_zeroed(sizeof *d);
	d->uri = editor_state_copy(uri);
	d->path = editor_state_copy(path);
	d->version = version;
	vec_push(&s->documents, d);
	d->workspace = workspace_of(s, d->path);
	document_set_text(d, text, len);
}

void document_close(struct editor_state *s, struct document *d)
{
	uint32_t i = 0;
	while (s->documents.at[i] != d)
		i++;
	memmove(s->documents.at + i, s->documents.at + i + 1, (s->documents.len - i - 1) * sizeof *s->documents.at);
	s->documents.len--;
	d->workspace->is_changed = true;
	document_free(d);
}
