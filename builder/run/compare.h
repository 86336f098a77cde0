/* Comparing the outputs of a run with what was expected. */
#ifndef TRIB_BUILDER_RUN_COMPARE_H
#define TRIB_BUILDER_RUN_COMPARE_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/interp/interp.h"

struct buf;

struct tolerance {
	double rtol, atol; /* |got - want| <= atol + rtol * |want|; integers, trits and bools must be equal if both are 0 */
};
struct comparison {
	int64_t n, n_wrong;
	int64_t worst;    /* the element that is off the most, in units of what is allowed; -1: none */
	double got, want; /* there */
};
/* The tolerance of an element type; given values (not -1) win. */
struct tolerance tolerance_of(dtype t, double rtol, double atol);
/* Compares element by element; NaN equals NaN. False: shapes or kinds of types differ, *error says how. */
bool compare_tensors(const struct tensor *got, const struct tensor *want, struct tolerance t, struct comparison *out, struct buf *error);
#endif
