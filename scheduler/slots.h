/* Who may run at once: a limit of load, and tokens of a jobserver for every running task beyond the first. */
#ifndef TRIB_SCHEDULER_SLOTS_H
#define TRIB_SCHEDULER_SLOTS_H
#include <stdbool.h>
#include <stdint.h>

struct jobserver;
struct slots;

struct slot {
	bool borrowed;
	char token; /* if borrowed */
};
typedef bool slots_wanted(const void *ctx);

/* `load`: 0 is no limit. `j` may be NULL and outlives the slots. NULL if there is nothing to limit, which all the others accept. */
struct slots *slots_new(struct jobserver *j, double load);
void slots_free(struct slots *s);
/* Waits until the calling thread may run a task. False: `wanted` came to say no. */
bool slots_enter(struct slots *s, struct slot *slot, slots_wanted *wanted, const void *ctx);
void slots_leave(struct slots *s, const struct slot *slot);
/* Makes all who wait ask `wanted` again. */
void slots_wake(struct slots *s);
#endif
