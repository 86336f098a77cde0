/* The outputs of a run, which outlive the model that made them. */
#ifndef TRIB_BUILDER_RUN_RESULTS_H
#define TRIB_BUILDER_RUN_RESULTS_H
#include "builder/run/run.h"
#include "builder/run/test_case.h"

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
