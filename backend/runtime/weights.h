/* Weights in a file beside the library. Opening a model maps the file read-only and makes the weight tables in memory, with the
 * addresses of the mapping. What kernels follow without a check, offsets and indices, is checked when the file is opened. */
#ifndef TRI_WEIGHTS_H
#define TRI_WEIGHTS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "backend/runtime/abi/tri.h"

/* Packed weights as the library expects them. */
struct tri_blob {
	uint64_t size;
	int64_t K, N; /* of a matrix in trit_blocks.h, which has indices; else 0 */
};
/* Part of a library: the file that it was linked with, and its weight tables. */
struct tri_weights {
	const char *file; /* name, beside the library */
	uint64_t size;
	uint8_t digest[16];
	uint32_t n_blobs, n_tables;
	const struct tri_blob *blobs;
	const uint32_t *tables; /* n_tables + 1: the first slot of each */
	const uint32_t *slots;  /* the number of a blob, or TRI_SLOT_TABLE | the number of a table */
};
#define TRI_SLOT_TABLE 0x80000000u

struct tri_mapped {
	const char *bytes;
	size_t size;
	const void **slots; /* of all tables */
};
struct tri_context;
/* How a file is opened. */
struct tri_weights_request {
	const char *path; /* NULL: the one beside the library that contains the weights' description */
	bool verify;      /* compares all bytes with their digests, on the threads of the context */
};
/* Maps the file. Returns TRI_OK or the error. */
int tri_weights_open(const struct tri_weights *w, struct tri_context *ctx, const struct tri_weights_request *r, struct tri_mapped *out,
		     tri_error *err);
void tri_weights_close(struct tri_mapped *m); /* m may be all zero */
#endif
