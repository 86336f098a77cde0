/* The disk as the language server sees it, so that tests can replace it. Paths are absolute. */
#ifndef TRIB_BUILDER_LSP_HOST_H
#define TRIB_BUILDER_LSP_HOST_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

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
#endif
