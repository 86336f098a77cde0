/* Threads that sleep until there is something to do. A sleeper calls park_prepare, looks once more, and then park_sleep or, if it found something,
 * park_cancel. A waker publishes first (sequentially consistent) and then calls park_wake: no wake-up is lost. */
#ifndef TRIB_SCHEDULER_PARK_H
#define TRIB_SCHEDULER_PARK_H
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct park {
	_Atomic uint32_t sleepers; /* prepared or asleep; changed under the lock but for park_prepare */
	pthread_mutex_t lock;      /* guards what follows */
	pthread_cond_t woken;
	uint32_t permits; /* sleepers that may go on; never more than there are */
};

void park_init(struct park *p);
void park_destroy(struct park *p);
void park_prepare(struct park *p);
void park_cancel(struct park *p);
/* False: `timeout_ms` passed (-1: for ever). Either way the thread is no longer prepared. */
bool park_sleep(struct park *p, int timeout_ms);
/* Wakes up to n. Costs one load when nobody sleeps. */
void park_wake(struct park *p, uint32_t n);
#endif
