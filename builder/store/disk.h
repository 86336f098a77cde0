/* The files and the clock that the inputs of a build are read through. Tests inject their own. */
#ifndef TRIB_BUILDER_STORE_DISK_H
#define TRIB_BUILDER_STORE_DISK_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/hash.h"
#include "base/os.h"

struct arena;

/* Functions that return bool leave errno set on false. They are called on several threads. */
struct disk {
	bool (*stamp)(void *ctx, const char *path, struct file_stamp *out);
	/* The whole file: malloc'd, NUL-terminated. */
	bool (*read)(void *ctx, const char *path, char **text, size_t *len);
	/* The hash of the whole file. */
	bool (*hash)(void *ctx, const char *path, hash128 *content);
	/* Like glob_expand. */
	const char *const *(*expand)(void *ctx, struct arena *a, const char *pattern, uint32_t *n);
	/* Nanoseconds of the clock that the stamps are taken from. */
	int64_t (*clock)(void *ctx);
	void *ctx;
};

extern const struct disk os_disk;             /* the real one */
extern const struct disk os_disk_and_streams; /* reads pipes, too: for files that a person names */

/* True if the file has this stamp. */
bool disk_has_stamp(const struct disk *d, const char *path, const struct file_stamp *stamp);
#endif
