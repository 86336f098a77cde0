/* Measures an opened library: whole runs without the profile hook, then each statement with it. */
#ifndef TRIB_BUILDER_RUN_BENCH_H
#define TRIB_BUILDER_RUN_BENCH_H
#include "builder/profile/profile.h"
#include "builder/run/run.h"

struct options;

#define BENCH_OUTLIERS 5 /* that are named: facts `outlier.N` with the time of run N */

struct bench_case {
	const char *library, *device; /* device: "cpu", "opencl", "opencl:1"; bench_run sets it to "cpu" if the fallback runs */
	uint32_t threads, batch;      /* batch 0: of the inputs */
	int64_t budget_ns;            /* for the whole runs */
	uint32_t least_runs;          /* within the budget; some are made in any case */
};

/* Runs it. The inputs are those of the options. Returns a profile of one sample; NULL: *error says why, *s is the exit code. Warns if the fallback runs. */
struct profile *bench_run(struct bench_case *c, const struct options *o, struct buf *error, enum status *s);
#endif
