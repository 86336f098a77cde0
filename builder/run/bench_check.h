/* Compares a library with the reference interpreter before it is timed: a wrong result is not worth its time. */
#ifndef TRIB_BUILDER_RUN_BENCH_CHECK_H
#define TRIB_BUILDER_RUN_BENCH_CHECK_H
#include "builder/run/run.h"

/* Builds the model for trib bench; `unit_entries`: as in the options. Returns the library's path; NULL: errors were printed. */
typedef const char *bench_build(void *ctx, uint32_t unit_entries, enum status *s);

/* Runs the model of the options, with made inputs of one row, on the library and in the interpreter. A difference beyond the tolerance of its type may be rounding that
 * the network amplifies (rounding.h). Then each unit is compared, too, with the reference's inputs. Returns STATUS_FAILED for a larger difference.
 * *report is a sentence in any case. */
enum status bench_check(struct arena *a, const struct options *o, const char *library, bench_build *build, void *ctx, struct buf *report);

/* The calls that an entry makes, with the inputs that the reference interpreter gave them. */
struct unit_inputs {
	uint32_t n;
	struct unit_input {
		const char *name;    /* "layer1.0 BasicBlock(64, 64)" */
		tri_tensor *tensors; /* in the order of the callee's inputs */
	} *calls;
};
/* Runs the entry of the options' model in the reference interpreter on `io`, and keeps the inputs of its calls. In `a`. */
enum status unit_check_trace(struct arena *a, const struct options *o, uint32_t entry, const struct run_io *io, struct unit_inputs *out,
			     struct buf *error);
/* Compares the calls, each of which is an entry of the library, which was built with options->unit_entries as the options have it. *report: how
 * many were compared, or the first one that differs (STATUS_FAILED). */
enum status unit_check(struct arena *a, const struct options *o, const struct unit_inputs *calls, const char *library, struct buf *report);
#endif
