/* The tasks of a batch, what they wait for, and their ranks. Private to scheduler/ and its tests. After graph_link, the pool's lock
 * guards them. */
#ifndef TRIB_SCHEDULER_GRAPH_H
#define TRIB_SCHEDULER_GRAPH_H
#include <stdbool.h>
#include <stdint.h>
#include "base/vec.h"
#include "scheduler/task.h"

struct arena;

struct task {
	struct task_spec spec;
	uint64_t rank;       /* nanoseconds to the end of the batch, this task included */
	struct task **users; /* tasks that need this one */
	uint32_t n_users;
	uint32_t waits;    /* inputs that have not ended */
	bool poisoned;     /* an input did not succeed */
	struct task *next; /* in the one list that it is in */
	struct task_result result;
};

struct edge {
	struct task *task, *input;
};
/* Tasks that one thread puts together. All memory is `a`'s but the two lists. */
struct batch {
	struct arena *a;
	VEC(struct task *) tasks;
	VEC(struct edge) edges;
};

/* A task without inputs and users. */
struct task *graph_new_task(struct arena *a, const struct task_spec *spec);
struct task *graph_add(struct batch *b, const struct task_spec *spec);
void graph_need(struct batch *b, struct task *task, struct task *input);
/* Links the tasks, computes their ranks and frees the two lists. Returns the tasks that wait for nothing, as a list. A cycle is a bug. */
struct task *graph_link(struct batch *b);
/* The task ended. Returns the users that wait for nothing any more, as a list; poisoned ones among them. */
struct task *graph_end(struct task *t, bool ok);
#endif
