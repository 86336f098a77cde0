/* Measures an opened library: whole runs without the profile hook, then each statement with it. */
#ifndef TRIB_BUILDER_RUN_BENCH_H
#define TRIB_BUILDER_RUN_BENCH_H
#include "builder/profile/profile.h"
#include "builder/run/ceilings.h"
#include "builder/run/run.h"

struct options;

struct bench_case {
	const char *library, *device; /* device: "cpu", "opencl", "opencl:1" */
	uint32_t threads, batch;      /* batch 0: of the inputs */
	int64_t budget_ns;            /* for the whole runs */
	uint32_t least_runs;          /* within the budget; some are made in any case */
};
/* How the statements of a run compare with what the machine can do. */
enum bench_class { BENCH_MEMORY, BENCH_MIXED, BENCH_COMPUTE };
struct bench_row {
	uint32_t item; /* of the profile: a statement or a kernel */
	double ns, bytes, operations;
	double intensity; /* operations a byte */
	enum bench_class class;
	double attainable; /* operations a second at this intensity */
	double share;      /* of it, or of the memory rate if there are no operations */
};

/* Runs it. The inputs are those of the options. Returns a profile of one sample; NULL: *error says why, *s is the exit code. */
struct profile *bench_run(const struct bench_case *c, const struct options *o, struct buf *error, enum status *s);
/* Returns the statements and kernels, the longest first. `c`: of as many threads. Allocated in `a`. */
struct bench_row *bench_rows(struct arena *a, const struct profile *p, const struct ceilings *c, uint32_t *n);
const char *bench_class_text(enum bench_class c);
/* A sentence on what limits the row. */
const char *bench_verdict(struct arena *a, const struct profile *p, const struct bench_row *r);
#endif
