/* What is ready, and the policy of who takes what next: a deque for each worker and level of rank. One further owner stands for everybody outside the
 * workers; who pushes there must hold a lock. */
#ifndef TRIB_SCHEDULER_READY_H
#define TRIB_SCHEDULER_READY_H
#include <stdbool.h>
#include <stdint.h>

struct ready;

struct ready *ready_new(uint32_t workers);
void ready_free(struct ready *r); /* NULL is accepted */
/* `owner`: the calling worker, or `workers` for the outside. `rank`: nanoseconds to the end, the larger the more urgent; `x` is not NULL. */
void ready_push(struct ready *r, uint32_t owner, void *x, uint64_t rank);
/* For that worker: something of the highest level seen. NULL: there was nothing at some moment during the call. */
void *ready_take(struct ready *r, uint32_t worker);
/* Whether there is anything; what was pushed before the call is seen. */
bool ready_any(const struct ready *r);
/* The bitmap of what came from outside says too much by now, which costs time: whoever holds the outside's lock should tidy it. */
bool ready_stale(const struct ready *r);
void ready_tidy(struct ready *r);
#endif
