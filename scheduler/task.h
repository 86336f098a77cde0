/* A task: a function and what its caller knows of it. */
#ifndef TRIB_SCHEDULER_TASK_H
#define TRIB_SCHEDULER_TASK_H
#include <stdbool.h>
#include <stdint.h>

struct cancel;
struct task; /* the pool's; valid until pool_wait has said that nothing is left */

/* What a running task is told and tells. */
struct task_run {
	uint32_t worker;             /* 0 … jobs-1 */
	const struct cancel *cancel; /* may be polled; NULL: never */
	uint64_t memory;             /* expected peak in bytes; the task may put the measured one here */
};
/* False: it failed. No lock is held while it runs. */
typedef bool task_fn(void *arg, struct task_run *run);

struct task_spec {
	task_fn *run;
	void *arg;
	uint64_t cost_ns;      /* expected */
	uint64_t memory;       /* expected peak in bytes; 0: unknown, little */
	struct cancel *cancel; /* NULL: it cannot be cancelled */
};

enum task_end {
	TASK_DONE,
	TASK_FAILED,
	TASK_SKIPPED,   /* something it needs did not succeed */
	TASK_CANCELLED, /* not begun */
};
struct task_result {
	void *arg;
	enum task_end end;
	uint32_t worker;        /* if it ran, as the rest */
	int64_t began, wall_ns; /* of the monotonic clock */
	uint64_t memory;        /* as the task left it */
};

/* Tasks that need each other in a circle: each the next, the last the first. `args` is the caller's to free. */
struct task_cycle {
	void **args;
	uint32_t n;
};
#endif
