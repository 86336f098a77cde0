/* A task: a function, its argument, and its expected time and memory. */
#ifndef TRIB_SCHEDULER_TASK_H
#define TRIB_SCHEDULER_TASK_H
#include <stdbool.h>
#include <stdint.h>

struct cancel;
struct task; /* the pool's; valid until pool_wait returns false because no task is left */

/* What a running task gets from the pool and reports to it. */
struct task_run {
	uint32_t worker;             /* 0 … jobs-1 */
	const struct cancel *cancel; /* may be polled; NULL: never */
	uint64_t memory;             /* expected peak in bytes; the task may replace it with the measured one */
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
	TASK_SKIPPED,   /* an input did not succeed */
	TASK_CANCELLED, /* before it began */
};
struct task_result {
	void *arg;
	enum task_end end;
	uint32_t worker;        /* this and the rest: if it ran */
	int64_t began, wall_ns; /* monotonic clock */
	uint64_t memory;        /* task_run.memory when the task returned */
};
#endif
