/* Memory: tasks begin as long as their expected peaks fit into a budget together. */
#ifndef TRIB_SCHEDULER_MEMORY_BUDGET_H
#define TRIB_SCHEDULER_MEMORY_BUDGET_H
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/vec.h"

struct task;

struct memory_budget {
	uint64_t budget; /* bytes; 0: no limit */
	uint32_t most_passes;
	_Atomic bool full;     /* nothing else may begin until a task ends */
	_Atomic bool try_held; /* one of `held` may fit now */
	pthread_mutex_t lock;  /* guards what follows */
	uint64_t used;
	uint32_t running, passes; /* passes: tasks that began before the first of `held`, since it was held */
	VEC(struct task *) held;  /* taken, but too large for now */
};

/* As many tasks as `workers` are held, and may pass one that is. */
void memory_budget_init(struct memory_budget *r, uint64_t budget, uint32_t workers);
/* While nothing is running or held. */
void memory_budget_set_budget(struct memory_budget *r, uint64_t budget);
void memory_budget_destroy(struct memory_budget *r);
/* True: the task begins now. False: it is held. */
bool memory_budget_admit(struct memory_budget *r, struct task *t);
/* A held task that begins now, the most urgent first; NULL: none. */
struct task *memory_budget_resume(struct memory_budget *r);
/* A task of that size ended. True: others may begin because of it. */
bool memory_budget_end(struct memory_budget *r, uint64_t memory);
bool memory_budget_full(const struct memory_budget *r);
bool memory_budget_work(const struct memory_budget *r); /* a held task may fit */
#endif
