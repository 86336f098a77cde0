/* A work-stealing deque of pointers: its owner pushes and takes at one end, anyone steals at the other. Never blocks. */
#ifndef TRIB_SCHEDULER_DEQUE_H
#define TRIB_SCHEDULER_DEQUE_H
#include <stdbool.h>

struct deque;

struct deque *deque_new(void);
void deque_free(struct deque *d); /* NULL is accepted; what it holds is the caller's */
/* The owner alone. `x` is not NULL. Sequentially consistent, for those who look before they sleep. */
void deque_push(struct deque *d, void *x);
/* The owner alone: the newest, or NULL. */
void *deque_take(struct deque *d);
/* Anyone: the oldest, or NULL: there is none, or another was faster. */
void *deque_steal(struct deque *d);
/* Anyone: whether there is something, as of some moment during the call. */
bool deque_any(const struct deque *d);
#endif
