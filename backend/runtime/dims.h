/* Values of the dimensions of a descriptor. */
#ifndef TRI_DIMS_H
#define TRI_DIMS_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/runtime/abi/tri.h"

/* Computes a dimension from the dynamic ones in `known`, a bit set. Returns false if it needs another one, or if 64 bits cannot hold it. */
bool tri_dim_value(const tri_dim_desc *d, const int64_t *dims, uint64_t known, int64_t *out);
/* Finds dynamic dimensions from the shapes of the inputs, in their order. A size such as 4*H is solved if it is linear in its one
 * unknown. The caller compares all shapes afterwards: sizes that contradict each other are not found here. */
void tri_dims_solve(const tri_entry_desc *e, const tri_tensor *io, int64_t *dims, uint64_t *known);
#endif
