/* Reading the tensors of a weights file as the element types of parameters: widening, and whole numbers to trits. */
#ifndef TRIB_BUILDER_WEIGHTS_CONVERT_H
#define TRIB_BUILDER_WEIGHTS_CONVERT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "frontend/hir/dtype.h"

/* May elements of `from` be read as `to`: equal, a widening within integers or within floats, or numbers to trits (values are checked then)? */
bool convert_allowed(dtype from, dtype to);
/* n elements. Unaligned `in` is fine. False: element *bad is neither -1, 0 nor 1 (for bool: neither 0 nor 1); it equals *value. */
bool convert_elements(dtype from, const void *in, dtype to, void *out, size_t n, size_t *bad, double *value);
#endif
