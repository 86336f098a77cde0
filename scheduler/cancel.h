/* A flag that cancels the tasks of one build after an interrupt, a newer build, or too many failures. Tasks may poll it; any thread may
 * set it. Zeroed: not cancelled, and no limit of failures. */
#ifndef TRIB_SCHEDULER_CANCEL_H
#define TRIB_SCHEDULER_CANCEL_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct cancel {
	_Atomic bool set;
	_Atomic uint32_t failures;
	uint32_t most_failures; /* after this many the rest is cancelled; 0: no limit */
};

/* False for NULL. */
static inline bool cancelled(const struct cancel *c) { return c && atomic_load_explicit(&c->set, memory_order_acquire); }

static inline void cancel_set(struct cancel *c) { atomic_store_explicit(&c->set, true, memory_order_release); }

/* Counts a task that failed. NULL is accepted. */
static inline void cancel_failure(struct cancel *c)
{
	if (c && atomic_fetch_add(&c->failures, 1) + 1 == c->most_failures)
		cancel_set(c);
}
#endif
