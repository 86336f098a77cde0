/* Converts the tensors of a weights file to the element types of parameters: widening, and whole numbers to trits. */
#ifndef TRIB_BUILDER_WEIGHTS_CONVERT_H
#define TRIB_BUILDER_WEIGHTS_CONVERT_H
#include <stdbool.h>
#include <stddef.h>
#include "frontend/hir/dtype.h"

/* True if `from` equals `to`, widens to it within integers or within floats, or `to` is trit: then values are checked. */
bool convert_allowed(dtype from, dtype to);
/* Converts n elements. `in` may be unaligned. False: element *bad is *value, which is neither -1, 0 nor 1 (for bool: neither 0 nor 1). */
bool convert_elements(dtype from, const void *in, dtype to, void *out, size_t n, size_t *bad, double *value);
#endif
