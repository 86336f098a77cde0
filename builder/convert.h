/* Converting the elements of host tensors without loss: widening, and whole numbers to trits. */
#ifndef TRIB_BUILDER_CONVERT_H
#define TRIB_BUILDER_CONVERT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "frontend/dtype.h"

float convert_float16(uint16_t bits);
float convert_bfloat16(uint16_t bits);

/* May elements of `from` be read as `to`: equal, a widening, or numbers to trits (their values are checked then)? */
bool convert_allowed(dtype from, dtype to);
/* n elements. Unaligned `from` is fine. False: element *bad is neither -1, 0 nor 1 (for bool: neither 0 nor 1); it equals *value. */
bool convert_elements(dtype from, const void *in, dtype to, void *out, size_t n, size_t *bad, double *value);
#endif
