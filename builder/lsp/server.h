/* The language server: bytes in, bytes out. The caller carries them. */
#ifndef TRIB_BUILDER_LSP_SERVER_H
#define TRIB_BUILDER_LSP_SERVER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct buf;
struct lsp_server;

/* ---- host.c: The disk as the language server sees it, so that tests can replace it. Paths are absolute. ---- */
struct lsp_host {
	/* Reads a regular file; the text is malloc'd and NUL-terminated. False if it cannot be read. */
	bool (*read)(void *ctx, const char *path, char **text, size_t *len);
	bool (*exists)(void *ctx, const char *path);
	/* Returns the files below folder `dir` that match, in `a`. */
	const char *const *(*expand)(void *ctx, struct arena *a, const char *dir, const char *pattern, uint32_t *n);
	/* Writes a file of the standard library for editors to open. False if it cannot be written. */
	bool (*write)(void *ctx, const char *path, const char *text, size_t len);
	const char *std_dir; /* the folder for those files */
	void *ctx;
};

struct lsp_server *server_new(const struct lsp_host *host);
void server_free(struct lsp_server *s);
/* Queues the messages of the input, which may come in pieces of any size. */
void server_feed(struct lsp_server *s, const char *bytes, size_t n);
uint32_t server_n_queued(const struct lsp_server *s);
/* Handles the queued messages. */
void server_handle_queue(struct lsp_server *s);
/* The bytes to send. The caller clears them. */
struct buf *server_output(struct lsp_server *s);
/* True if there is work for the time when the user does not type. */
bool server_has_idle_work(const struct lsp_server *s);
void server_do_idle_work(struct lsp_server *s); /* one piece of it */
/* True after `exit`. */
bool server_has_exited(const struct lsp_server *s);
/* True if `shutdown` came first, as the protocol demands. */
bool server_is_shut_down(const struct lsp_server *s);
#endif
