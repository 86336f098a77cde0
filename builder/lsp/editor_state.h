/* What the editor sent: its capabilities, the open documents, and the workspaces that they belong to. */
#ifndef TRIB_BUILDER_LSP_EDITOR_STATE_H
#define TRIB_BUILDER_LSP_EDITOR_STATE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/map.h"
#include "base/vec.h"
#include "builder/lsp/server.h"

struct analysis;

struct document {
	char *uri, *path;
	struct buf text;
	int64_t version;
	struct workspace *workspace;
};
/* The files that are checked together: a folder with a manifest, or a folder of single files. */
struct workspace {
	char *root;
	bool has_manifest;
	bool is_std;               /* the standard library's sources, written out for editors */
	bool is_changed;           /* something changed since the analysis */
	struct analysis *analysis; /* the last one; NULL before the first. Owned by publish.c */
	struct map looked_for;     /* paths that the last analysis looked for, present or not */
	VEC(char *) published;     /* URIs whose diagnostics the editor shows */
};
struct client_capabilities {
	bool utf8, markdown, document_changes, related_information, tags, code_action_literals, watches_files;
};
enum connection_phase { CONNECTION_NEW, CONNECTION_RUNNING, CONNECTION_SHUT_DOWN };

struct editor_state {
	const struct lsp_host *host;
	enum connection_phase phase;
	bool has_exited; /* after `exit` */
	struct client_capabilities client;
	VEC(struct document *) documents;
	VEC(struct workspace *) workspaces;
};

/* Frees documents and workspaces. The analyses must be freed before. */
void editor_state_free(struct editor_state *s);
void workspace_free(struct workspace *ws);

/* NULL if no such document is open. */
struct document *document_of_uri(const struct editor_state *s, const char *uri);
struct document *document_of_path(const struct editor_state *s, const char *path);
bool document_is_manifest(const struct document *d);
/* A document that is open in the workspace; NULL if there is none. */
struct document *workspace_document(const struct editor_state *s, const struct workspace *ws);

/* Opens a document in the workspace of its path; replaces an open one. */
void document_open(struct editor_state *s, const char *uri, const char *path, int64_t version, const char *text, size_t len);
void document_close(struct editor_state *s, struct document *d);
void document_set_text(struct document *d, const char *text, size_t len);
/* Replaces the bytes from `start` to `end`. */
void document_splice(struct document *d, size_t start, size_t end, const char *text, size_t len);
/* Marks the workspaces that the file at `path` may concern as changed. A manifest regroups all documents. */
void editor_state_file_changed(struct editor_state *s, const char *path);

/* ---- publish.c: Keeps the analyses of the workspaces, and the diagnostics that the editor shows, up to date. ---- */

/* Analyses the workspace if something changed since its last analysis, and sends its diagnostics. */
void workspace_refresh(struct editor_state *s, struct workspace *ws, struct buf *outbox);
/* Removes the workspaces without an open document, with their diagnostics, and refreshes the others. */
void workspaces_refresh(struct editor_state *s, struct buf *outbox);
/* Elaborates one model of a workspace and sends its diagnostics. */
void workspaces_elaborate_next(struct editor_state *s, struct buf *outbox);
bool workspaces_have_models_left(const struct editor_state *s);
#endif
