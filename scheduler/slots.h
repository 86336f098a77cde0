/* How many tasks may run at once: a limit of load, and tokens of a jobserver for every running task beyond the first. The pool's lock
 * guards all but slots_wait. */
#ifndef TRIB_SCHEDULER_SLOTS_H
#define TRIB_SCHEDULER_SLOTS_H
#include <stdbool.h>
#include <stdint.h>

struct jobserver;

struct slots {
	struct jobserver *jobserver; /* NULL: none */
	double load;                 /* 0: no limit */
	int wake;                    /* an eventfd that ends slots_wait; -1: none, so that slots_wait looks from time to time */
	uint32_t running;
	bool own_taken; /* the token that the process has from its start */
};
struct slot {
	bool borrowed;
	char token; /* if borrowed */
};
enum slot_outcome { SLOT_TAKEN, SLOT_LOAD, SLOT_NO_TOKEN };

/* `jobserver` may be NULL and outlives the slots. */
void slots_init(struct slots *s, struct jobserver *jobserver, double load);
void slots_destroy(struct slots *s);
/* Takes a slot, or says what to wait for. */
enum slot_outcome slots_take(struct slots *s, struct slot *slot);
void slots_return(struct slots *s, const struct slot *slot);
/* Waits, without the lock, until a slot may be free or slots_wake is called. One thread at a time. */
void slots_wait(const struct slots *s, enum slot_outcome why);
void slots_wake(const struct slots *s);
#endif
