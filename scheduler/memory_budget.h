/* Starts a task only if the expected peaks of all running tasks fit the budget. The pool's lock guards it. */
#ifndef TRIB_SCHEDULER_MEMORY_BUDGET_H
#define TRIB_SCHEDULER_MEMORY_BUDGET_H
#include <stdbool.h>
#include <stdint.h>
#include "base/vec.h"

struct task;

struct memory_budget {
	uint64_t budget, used;    /* bytes; a budget of 0: no limit */
	uint32_t running, passes; /* passes: tasks that began before the first of `held`, since it was held */
	uint32_t most_passes;
	VEC(struct task *) held; /* taken from the queue, but too large for now; the most urgent first */
	bool try_held;           /* a held task may fit now */
};

/* True: no task can begin before another ends. */
bool memory_budget_is_full(const struct memory_budget *m);
/* True: the task begins now. False: it is held. */
bool memory_budget_admit(struct memory_budget *m, struct task *t);
/* The most urgent held task that fits; it begins now. NULL: there is none. */
struct task *memory_budget_resume(struct memory_budget *m);
/* A task with this expected peak ended. */
void memory_budget_end(struct memory_budget *m, uint64_t memory);
#endif
