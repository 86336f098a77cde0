/* Compares the outputs of a run with the expected ones. */
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
	int64_t worst;    /* the element with the largest difference, relative to the tolerance; -1: none */
	double got, want; /* its values */
};
/* The tolerance of an element type. rtol and atol replace it unless they are -1. */
struct tolerance tolerance_of(dtype t, double rtol, double atol);
/* Compares element by element; NaN equals NaN. False: shapes or kinds of types differ, *error says how. */
bool compare_tensors(const struct tensor *got, const struct tensor *want, struct tolerance t, struct comparison *out, struct buf *error);
#endif
