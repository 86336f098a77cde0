/* The outputs of a run, which outlive the model that made them. */
#ifndef TRIB_BUILDER_RUN_RESULTS_H
#define TRIB_BUILDER_RUN_RESULTS_H
#include "backend/interp/interp.h"
#include "builder/run/run.h"

struct tolerance {
	/* |got - want| <= atol + rounding + rtol * |want|; integers, trits and bools must be equal if all are 0 */
	double rtol, atol;
	double rounding; /* of the model: rounding_widen */
};
struct comparison {
	int64_t n, n_wrong;
	int64_t worst;    /* the element with the largest difference, relative to the tolerance; -1: none */
	double got, want; /* its values */
};
/* The tolerance of an element type, without rounding. rtol and atol replace it unless they are -1. */
struct tolerance tolerance_of(dtype t, double rtol, double atol);
/* Compares element by element; NaN equals NaN. False: shapes or kinds of types differ, *error says how. */
bool compare_tensors(const struct tensor *got, const struct tensor *want, struct tolerance t, struct comparison *out, struct buf *error);
struct results {
	int32_t n;
	struct tensor *outputs; /* they keep the elements */
	const char **names;
	double *rounding; /* of each output, from rounding_measure; NULL: not measured */
};

struct tensor results_tensor(const tri_tensor *t);
struct results results_take(struct arena *a, const tri_entry_desc *e, const struct run_io *io);
/* True if all outputs are within the tolerance of their type, widened by got->rounding. Otherwise *report has the largest difference of one of them. */
bool results_agree(const struct results *got, const struct results *want, struct buf *report);
#endif
