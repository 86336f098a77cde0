/* A fixed set of pthread workers running fn(arg, worker). No lock is held while a job runs. With one job the caller's thread does the work
 * through the same API: pool_wait runs it. */
#ifndef TRIB_SCHEDULER_POOL_H
#define TRIB_SCHEDULER_POOL_H
#include <stdbool.h>
#include <stdint.h>

struct pool;
typedef void pool_fn(void *arg, uint32_t worker); /* worker: 0 … jobs-1 */

/* `jobs` >= 1. NULL if no thread could be started. jobs == 1 starts none. */
struct pool *pool_new(uint32_t jobs);
/* Queues a job; first come, first served. `arg` is not NULL. May be called from a job. */
void pool_submit(struct pool *p, pool_fn *fn, void *arg);
/* Blocks until at least one job finished since the last call or none is left; returns the arg of one finished job, NULL if none is left.
 * With `timeout_ms` >= 0 returns NULL early when nothing finished in that time (then pool_pending() > 0). */
void *pool_wait(struct pool *p, int timeout_ms);
uint32_t pool_pending(const struct pool *p); /* submitted and not yet returned by pool_wait */
uint32_t pool_jobs(const struct pool *p);
void pool_free(struct pool *p); /* waits for running jobs; drops queued ones; NULL is accepted */
#endif
