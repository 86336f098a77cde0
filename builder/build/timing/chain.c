#include "builder/build/timing/chain.h"
#include <stdlib.h>
#include "base/bug.h"
#include "builder/build/timing/timing.h"
#include "scheduler/task.h"

uint32_t chain_add(struct chain *c)
{
	vec_push(&c->tasks, (struct chain_task){0});
	return c->tasks.len - 1;
}

void chain_need(struct chain *c, uint32_t task, uint32_t input) { vec_push(&c->edges, ((struct chain_edge){task, input})); }

void chain_ran(struct chain *c, uint32_t task, const struct task_result *result)
{
	if (result->end == TASK_DONE || result->end == TASK_FAILED)
		c->tasks.at[task] = (struct chain_task){.lane = result->worker + 1, .began_ns = result->began, .ns = result->wall_ns};
}

/* Edges by input, so that a task finds its users. */
struct users {
	uint32_t *first, *list; /* the users of i are list[first[i]] … list[first[i + 1] - 1] */
	uint32_t *waits;        /* inputs that have not ended */
};

static struct users users_of(const struct chain *c)
{
	uint32_t n = c->tasks.len;
	struct users u = {alloc_zeroed((n + 2) * sizeof *u.first), alloc_zeroed((c->edges.len + 1) * sizeof *u.list),
			  alloc_zeroed((n + 1) * sizeof *u.waits)};
	for (uint32_t i = 0; i < c->edges.len; i++) {
		u.first[c->edges.at[i].input + 2]++;
		u.waits[c->edges.at[i].task]++;
	}
	for (uint32_t i = 2; i < n + 2; i++)
		u.first[i] += u.first[i - 1];
	for (uint32_t i = 0; i < c->edges.len; i++)
		u.list[u.first[c->edges.at[i].input + 1]++] = c->edges.at[i].task;
	return u;
}

static void chain_mark(struct chain *c, const uint32_t *before, uint32_t last)
{
	for (uint32_t i = last; i != UINT32_MAX; i = before[i])
		c->tasks.at[i].is_critical = true;
}

int64_t chain_find_longest(struct chain *c)
{
	uint32_t n = c->tasks.len, n_ready = 0, last = UINT32_MAX;
	struct users u = users_of(c);
	uint32_t *ready = alloc_zeroed((n + 1) * sizeof *ready), *before = alloc_zeroed((n + 1) * sizeof *before);
	int64_t *start = alloc_zeroed((n + 1) * sizeof *start), longest = -1;
	for (uint32_t i = 0; i < n; i++) {
		before[i] = UINT32_MAX;
		if (!u.waits[i])
			ready[n_ready++] = i;
	}
	for (uint32_t k = 0; k < n_ready; k++) {
		uint32_t i = ready[k];
		int64_t end = start[i] + c->tasks.at[i].ns;
		if (end > longest)
			longest = end, last = i;
		for (uint32_t e = u.first[i]; e < u.first[i + 1]; e++) {
			uint32_t user = u.list[e];
			if (before[user] == UINT32_MAX || end > start[user])
				start[user] = end, before[user] = i;
			if (--u.waits[user] == 0)
				ready[n_ready++] = user;
		}
	}
	BUG_ON(n_ready != n);
	chain_mark(c, before, last);
	free(u.first), free(u.list), free(u.waits), free(ready), free(before), free(start);
	return longest < 0 ? 0 : longest;
}

void chain_finish(struct chain *c, struct timing *timing)
{
	if (timing) {
		int64_t ns = chain_find_longest(c);
		timing_add_chain(timing, c, ns);
	}
	vec_free(&c->tasks);
	vec_free(&c->edges);
}
