/* Tells the tasks of one build that their results are no longer wanted: by an interrupt, a newer build, or too many failures. Tasks may poll it; any
 * thread may set it. Zeroed: not cancelled, any number of failures. */
#ifndef TRIB_SCHEDULER_CANCEL_H
#define TRIB_SCHEDULER_CANCEL_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct cancel {
	_Atomic bool set;
	_Atomic uint32_t failures;
	uint32_t most_failures; /* so many cancel the rest; 0: never */
};

/* NULL is never cancelled. */
static inline bool cancelled(const struct cancel *c) { return c && atomic_load_explicit(&c->set, memory_order_acquire); }

static inline void cancel_set(struct cancel *c) { atomic_store_explicit(&c->set, true, memory_order_release); }

/* One task failed. */
static inline void cancel_failure(struct cancel *c)
{
	if (c && atomic_fetch_add(&c->failures, 1) + 1 == c->most_failures)
		cancel_set(c);
}
#endif
