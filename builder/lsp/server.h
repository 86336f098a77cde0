/* The language server: its state, its documents and workspaces. It reads and writes bytes that others carry. */
#ifndef TRIB_BUILDER_LSP_SERVER_H
#define TRIB_BUILDER_LSP_SERVER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <jansson.h>
#include "base/buf.h"
#include "base/vec.h"
#include "builder/lsp/reader.h"

struct analysis;
struct arena;

/* The disk, so that tests can have another. Paths are absolute. */
struct lsp_host {
	/* A regular file's text, malloc'd and NUL-terminated; false: there is none. */
	bool (*read)(void *ctx, const char *path, char **text, size_t *len);
	bool (*exists)(void *ctx, const char *path);
	/* The files below folder `dir` that match, in `a`. */
	const char *const *(*expand)(void *ctx, struct arena *a, const char *dir, const char *pattern, uint32_t *n);
	/* Writes a file of the standard library for editors to open. False: it cannot be written. */
	bool (*write)(void *ctx, const char *path, const char *text, size_t len);
	const char *std_dir; /* where those files lie */
	void *ctx;
};

struct document {
	const char *uri, *path; /* malloc'd */
	struct buf text;
	int64_t version;
	struct workspace *ws;
};
/* A folder with a manifest, or a folder of single files: what is checked together. */
struct workspace {
	char *root;
	bool project, std; /* std: the standard library's sources as editors see them */
	bool dirty;        /* something changed since the analysis */
	struct analysis *now;
	VEC(char *) published; /* URIs whose diagnostics the editor shows */
};
/* What the client said it can. */
struct client {
	bool utf8, markdown, document_changes, related_information, tags, code_action_literals, watches_files;
};
enum server_state { SERVER_NEW, SERVER_RUNNING, SERVER_SHUT_DOWN };
struct pending {
	json_t *message;
	bool cancelled;
};
struct server {
	const struct lsp_host *host;
	struct lsp_reader reader;
	struct buf out;
	enum server_state state;
	bool ended; /* `exit` came */
	struct client client;
	VEC(struct document *) documents;
	VEC(struct workspace *) workspaces;
	VEC(struct pending) queue;
};

struct server *server_new(const struct lsp_host *host);
void server_free(struct server *s);
/* Takes input in any pieces. */
void server_feed(struct server *s, const char *bytes, size_t n);
/* Handles what has come so far; `out` then holds what to send. */
void server_work(struct server *s);
/* Is there work that may wait until nobody has typed for a moment? */
bool server_has_rest(const struct server *s);
/* Does a piece of it. */
void server_rest(struct server *s);
/* Was the end asked for as the protocol has it? */
static inline bool server_clean(const struct server *s) { return s->state == SERVER_SHUT_DOWN; }

/* ---- documents.c ---- */
struct document *server_document(const struct server *s, const char *uri);
struct document *server_document_at(const struct server *s, const char *path);
bool document_is_manifest(const struct document *d);
/* The analysis of the document's workspace as things are now. */
struct analysis *server_analysis(struct server *s, const struct document *d);

/* ---- publish.c ---- */
void server_publish(struct server *s, struct workspace *ws);
/* An error or notification goes out. */
struct json_writer;
void server_send(struct server *s, struct buf *body);
#endif
