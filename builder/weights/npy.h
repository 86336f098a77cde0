/* NumPy's .npy files, versions 1 to 3: little-endian arrays of our element types. */
#ifndef TRIB_BUILDER_WEIGHTS_NPY_H
#define TRIB_BUILDER_WEIGHTS_NPY_H
#include <stdbool.h>
#include <stddef.h>
#include "backend/interp/interp.h"

struct arena;
struct buf;

/* The array in `bytes`, row-major. Its data points into `bytes` if it is aligned and row-major there, else into `a`. False: *error (in
 * `a`) says why. */
bool npy_parse(struct arena *a, const void *bytes, size_t len, struct tensor *out, const char **error);
/* Appends a version 1.0 file. Trits are written as int8, bfloat16 as float32. */
void npy_write(const struct tensor *t, struct buf *out);
#endif
