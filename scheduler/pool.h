/* A fixed set of workers that run tasks, the most urgent first. With one job no thread starts: pool_wait runs the tasks on the caller's
 * thread. One thread makes the pool, submits batches and waits; single tasks may come from any thread. */
#ifndef TRIB_SCHEDULER_POOL_H
#define TRIB_SCHEDULER_POOL_H
#include <stdbool.h>
#include <stdint.h>
#include "scheduler/task.h"

struct jobserver;
struct pool;
struct batch;

/* Further conditions for a task to begin. Zero: none. */
struct pool_limits {
	struct jobserver *jobserver; /* gives a token for each running task beyond the first; outlives the pool */
	double load;                 /* with this load average no task begins beside another */
	uint64_t memory;             /* bytes for all running tasks together, by their expected peaks */
};

/* `jobs` >= 1; with 1 no thread is started. `limits` may be NULL. NULL: no thread could be started. */
struct pool *pool_new(uint32_t jobs, const struct pool_limits *limits);
/* Waits for running tasks; tasks that have not begun never will, and are not reported. NULL is accepted. */
void pool_free(struct pool *p);
uint32_t pool_jobs(const struct pool *p);
/* Sets another limit of memory, while nothing is pending. */
void pool_set_memory(struct pool *p, uint64_t bytes);

/* A batch of tasks and the edges between them. It must be submitted. */
struct batch *pool_new_batch(struct pool *p);
struct task *batch_add(struct batch *b, const struct task_spec *spec);
/* `task` starts only after `input` succeeded. Both are of this batch. Tasks must not need each other in a circle. */
void batch_need(struct batch *b, struct task *task, struct task *input);
/* Hands over the tasks and frees the batch. */
void batch_submit(struct batch *b);
/* Submits one task that needs nothing. */
struct task *pool_submit(struct pool *p, const struct task_spec *spec);

/* Waits until a task ended, in any way, that was not yet reported. False: none is left, or `timeout_ms` >= 0 have passed (then
 * pool_pending() > 0). */
bool pool_wait(struct pool *p, int timeout_ms, struct task_result *out);
/* Why workers were idle, summed over all of them, in nanoseconds. Without threads all are 0. */
enum idle_reason { IDLE_INPUTS, IDLE_MEMORY, IDLE_LOAD, IDLE_TOKEN, IDLE_REASONS };
struct pool_idle {
	int64_t ns[IDLE_REASONS]; /* nothing was ready; a task did not fit the memory budget; the load limit; no token of a jobserver */
};
struct pool_idle pool_idle(struct pool *p);
uint32_t pool_pending(const struct pool *p); /* submitted and not yet reported */
#endif
