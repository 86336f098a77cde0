/* A compiled model, opened for looking at it or running it. */
#ifndef TRIB_BUILDER_LIBRARY_H
#define TRIB_BUILDER_LIBRARY_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/runtime/tri.h"

struct arena;

struct library {
	void *handle;
	const tri_model_desc *desc;
};
/* `path`: a file libNAME.so. False: *error (in `a`) says why. */
bool library_open(struct arena *a, const char *path, struct library *out, const char **error);
void library_close(struct library *l);
/* The value of a described extent; false: the program is not sound. `syms` has n values. */
bool library_extent(const tri_dim_desc *d, const int64_t *syms, int32_t n, int64_t *value);
#endif
