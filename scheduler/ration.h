/* Memory: tasks begin as long as their expected peaks fit into a budget together. */
#ifndef TRIB_SCHEDULER_RATION_H
#define TRIB_SCHEDULER_RATION_H
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/vec.h"

struct task;

struct ration {
	uint64_t budget;      /* bytes; 0: no limit */
	uint32_t most_passes;
	_Atomic bool full;    /* nothing else may begin until a task ends */
	_Atomic bool try_held; /* one of `held` may fit now */
	pthread_mutex_t lock; /* guards what follows */
	uint64_t used;
	uint32_t running, passes; /* passes: tasks that began before the first of `held`, since it was held */
	VEC(struct task *) held;  /* taken, but too large for now */
};

/* As many tasks as `workers` are held, and may pass one that is. */
void ration_init(struct ration *r, uint64_t budget, uint32_t workers);
/* While nothing is running or held. */
void ration_set_budget(struct ration *r, uint64_t budget);
void ration_destroy(struct ration *r);
/* True: the task begins now. False: it is held. */
bool ration_admit(struct ration *r, struct task *t);
/* A held task that begins now, the most urgent first; NULL: none. */
struct task *ration_resume(struct ration *r);
/* A task of that size ended. True: others may begin because of it. */
bool ration_end(struct ration *r, uint64_t memory);
bool ration_full(const struct ration *r);
bool ration_work(const struct ration *r); /* a held task may fit */
#endif
