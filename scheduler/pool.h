/* A fixed set of workers that run tasks, the most urgent first. With one job the caller's thread does the work through the same API: pool_wait runs
 * it. Whoever made the pool also waits for it; tasks may come from any thread. */
#ifndef TRIB_SCHEDULER_POOL_H
#define TRIB_SCHEDULER_POOL_H
#include <stdbool.h>
#include <stdint.h>
#include "scheduler/task.h"

struct jobserver;
struct pool;
struct batch;

/* What else decides whether a task may begin. Zero: nothing does. */
struct pool_limits {
	struct jobserver *jobserver; /* gives a token for each running task beyond the first; outlives the pool */
	double load;                 /* with this load average no task begins beside another */
	uint64_t memory;             /* bytes for all tasks together, by their expected peaks */
};

/* `jobs` >= 1; with 1 no thread is started. `limits` may be NULL. NULL: no thread could be started. */
struct pool *pool_new(uint32_t jobs, const struct pool_limits *limits);
/* Waits for running tasks; what has not begun never will, and is not reported. NULL is accepted. */
void pool_free(struct pool *p);
uint32_t pool_jobs(const struct pool *p);
/* Another limit of memory, while nothing is pending. */
void pool_set_memory(struct pool *p, uint64_t bytes);

/* A batch of tasks and the edges between them. `from`: the running task that makes it, else NULL. To be submitted, in any case, by the same thread. */
struct batch *pool_batch(struct pool *p, const struct task_run *from);
struct task *batch_add(struct batch *b, const struct task_spec *s);
/* `task` starts only after `input` succeeded. `task` is of this batch, or cannot have begun because it waits for the task that makes the batch; then
 * `input` is of this batch. */
void batch_need(struct batch *b, struct task *task, struct task *input);
/* Hands over the tasks and frees the batch. False: some need each other in a circle, and none will run; `cycle` may be NULL. */
bool batch_submit(struct batch *b, struct task_cycle *cycle);
/* One task that needs nothing. */
struct task *pool_submit(struct pool *p, const struct task_run *from, const struct task_spec *s);

/* Waits until a task ended that was not yet reported, in any way. False: none is left, or `timeout_ms` >= 0 have passed (then pool_pending() > 0). */
bool pool_wait(struct pool *p, int timeout_ms, struct task_result *out);
uint32_t pool_pending(const struct pool *p); /* submitted and not yet reported */
#endif
