/* Weights outside the library: mapped read-only when a model is opened. Its unit tables are then made in memory, since their addresses are known
 * only there. */
#ifndef TRI_WEIGHTS_H
#define TRI_WEIGHTS_H
#include <stddef.h>
#include <stdint.h>
#include "tri.h"

/* In a library: the file it was linked with, and what its tables hold. */
struct tri_weights {
	const char *file; /* name, beside the library */
	uint64_t size;
	uint8_t digest[16];
	uint32_t n_blobs, n_tables;
	const uint64_t *sizes;  /* per blob */
	const uint32_t *tables; /* n_tables + 1: the first slot of each */
	const uint32_t *slots;  /* a blob, or TRI_SLOT_TABLE and a table */
};
#define TRI_SLOT_TABLE 0x80000000u

struct tri_mapped {
	const char *bytes;
	size_t size;
	const void **slots; /* of all tables */
};
/* `path`: the file, or NULL: the one beside the library that `w` is in. False: *err. */
int tri_weights_open(const struct tri_weights *w, const char *path, struct tri_mapped *out, tri_error *err);
void tri_weights_close(struct tri_mapped *m); /* all zero is accepted */
#endif
