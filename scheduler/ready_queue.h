/* The tasks that may begin, the most urgent first: a binary heap. At equal rank the task that came first is first. */
#ifndef TRIB_SCHEDULER_READY_QUEUE_H
#define TRIB_SCHEDULER_READY_QUEUE_H
#include <stdint.h>
#include "base/vec.h"

struct task;

struct ready_entry {
	uint64_t rank, order;
	struct task *task;
};
struct ready_queue {
	VEC(struct ready_entry) heap;
	uint64_t pushed; /* so far */
};

void ready_queue_push(struct ready_queue *q, struct task *t);
/* NULL: the queue is empty. */
struct task *ready_queue_pop(struct ready_queue *q);
#endif
