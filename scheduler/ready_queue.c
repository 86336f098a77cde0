#include "scheduler/ready_queue.h"
#include <stdbool.h>
#include "scheduler/graph.h"

static bool ready_queue_is_before(const struct ready_entry *a, const struct ready_entry *b)
{
	return a->rank != b->rank ? a->rank > b->rank : a->order < b->order;
}

void ready_queue_push(struct ready_queue *q, struct task *t)
{
	struct ready_entry e = {t->rank, q->pushed++, t};
	uint32_t i;

	vec_push(&q->heap, e);
	for (i = q->heap.len - 1; i > 0 && ready_queue_is_before(&e, &q->heap.at[(i - 1) / 2]); i = (i - 1) / 2)
		q->heap.at[i] = q->heap.at[(i - 1) / 2];
	q->heap.at[i] = e;
}

struct task *ready_queue_pop(struct ready_queue *q)
{
	if (q->heap.len == 0)
		return NULL;
	struct ready_entry *h = q->heap.at, last = h[--q->heap.len];
	struct task *first = h[0].task;
	uint32_t n = q->heap.len, i = 0;

	for (uint32_t child; (child = 2 * i + 1) < n; i = child) {
		if (child + 1 < n && ready_queue_is_before(&h[child + 1], &h[child]))
			child++;
		if (!ready_queue_is_before(&h[child], &last))
			break;
		h[i] = h[child];
	}
	h[i] = last;
	return first;
}
