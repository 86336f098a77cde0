/* Values of described dimensions. */
#ifndef TRI_DIMS_H
#define TRI_DIMS_H
#include <stdbool.h>
#include <stdint.h>
#include "tri.h"

/* Value of a dimension, given those of the dynamic ones in `known`, a bit set. False: it needs another, or has no value in 64 bits. */
bool tri_dim_value(const tri_dim_desc *d, const int64_t *dims, uint64_t known, int64_t *out);
/* Finds the dynamic dimensions that the inputs' shapes show, in the order of the inputs; a size such as 4*H counts if it is linear in its one
 * unknown. Sizes that do not fit are for the caller to find: some dimension then has another value than the shape. */
void tri_dims_solve(const tri_entry_desc *e, const tri_tensor *io, int64_t *dims, uint64_t *known);
#endif
