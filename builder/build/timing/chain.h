/* The critical path of tasks that depend on each other: the chain of dependent tasks that took the longest. */
#ifndef TRIB_BUILDER_BUILD_TIMING_CHAIN_H
#define TRIB_BUILDER_BUILD_TIMING_CHAIN_H
#include <stdbool.h>
#include <stdint.h>
#include "base/vec.h"

struct task_result;
struct timing;

struct chain_task {
	uint32_t lane;
	int64_t began_ns, ns; /* 0: it did not run */
	bool is_critical;
};
struct chain_edge {
	uint32_t task, input;
};
struct chain {
	VEC(struct chain_task) tasks;
	VEC(struct chain_edge) edges;
};
/* Returns the index of a new task. */
uint32_t chain_add(struct chain *c);
/* `task` cannot start before `input` ends. */
void chain_need(struct chain *c, uint32_t task, uint32_t input);
void chain_ran(struct chain *c, uint32_t task, const struct task_result *result);
/* Marks the tasks of the longest chain. Returns its time. Tasks must not need each other in a circle. */
int64_t chain_find_longest(struct chain *c);
/* Adds the longest chain to the critical path of the build, and frees the tasks. `timing` may be NULL. */
void chain_finish(struct chain *c, struct timing *timing);
#endif
