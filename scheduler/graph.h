/* Tasks, what they wait for, and their ranks. Private to scheduler/ and its tests: the pool and the simulation run the same graphs. */
#ifndef TRIB_SCHEDULER_GRAPH_H
#define TRIB_SCHEDULER_GRAPH_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/vec.h"
#include "scheduler/task.h"

struct arena;
struct batch;
struct edge;

struct task {
	struct task_spec spec;
	uint64_t rank;                /* nanoseconds to the end of everything, this task included; fixed when it is submitted */
	_Atomic uint32_t waits;       /* inputs that have not ended, and 1 until the task is submitted */
	_Atomic bool poisoned;        /* an input did not succeed */
	_Atomic(struct edge *) users; /* or how the task ended */
	const struct batch *batch;    /* until it is submitted */
	uint32_t index;               /* in that batch */
	struct task *next;            /* in the one list that it is in */
	struct task_result result;
};

/* Tasks that are put together by one thread. All memory is `a`'s. */
struct batch {
	struct arena *a;
	VEC(struct task *) tasks;
	VEC(struct edge *) edges;
};

/* A task of no batch that waits for nothing. */
struct task *graph_one(struct arena *a, const struct task_spec *s);
struct task *graph_add(struct batch *b, const struct task_spec *s);
void graph_need(struct batch *b, struct task *task, struct task *input);
/* Computes the ranks. False: the tasks need each other in a circle; their args into *cycle (malloc'd), in order. */
bool graph_rank(struct batch *b, struct task_cycle *cycle);
/* Makes the edges known to their inputs and lets the tasks go: those that wait for nothing, as a list. Empties the batch. */
struct task *graph_submit(struct batch *b);
/* The task ended. The users that wait for nothing any more, as a list; poisoned ones among them. */
struct task *graph_end(struct task *t, bool ok);
void graph_free(struct batch *b); /* its lists, not the tasks */
#endif
