/* The critical path: tasks are sorted so that inputs come first, then ranks are computed from the last task to the first. */
#include "scheduler/graph.h"
#include "base/arena.h"
#include "base/bug.h"

struct task *graph_new_task(struct arena *a, const struct task_spec *spec)
{
	struct task *t = ARENA_NEW(a, struct task);

	t->spec = *spec;
	t->rank = spec->cost_ns;
	t->result.arg = spec->arg;
	return t;
}

struct task *graph_add(struct batch *b, const struct task_spec *spec)
{
	struct task *t = graph_new_task(b->a, spec);

	vec_push(&b->tasks, t);
	return t;
}

void graph_need(struct batch *b, struct task *task, struct task *input)
{
	vec_push(&b->edges, ((struct edge){task, input}));
	task->waits++;
	input->n_users++;
}

/* Gives each task its slice of one array of users. */
static void link_users(struct batch *b)
{
	struct task **users = ARENA_ARRAY(b->a, struct task *, b->edges.len + 1);

	for (uint32_t i = 0; i < b->tasks.len; i++) {
		b->tasks.at[i]->users = users;
		users += b->tasks.at[i]->n_users;
		b->tasks.at[i]->n_users = 0;
	}
	for (uint32_t i = 0; i < b->edges.len; i++) {
		struct task *input = b->edges.at[i].input;

		input->users[input->n_users++] = b->edges.at[i].task;
	}
}

/* The tasks with inputs first (A. B. Kahn, 1962), in an array of the batch. Leaves `waits` as it found it. */
static struct task **sort_tasks(struct batch *b)
{
	struct task **order = ARENA_ARRAY(b->a, struct task *, b->tasks.len + 1);
	uint32_t n = 0;

	for (uint32_t i = 0; i < b->tasks.len; i++)
		if (b->tasks.at[i]->waits == 0)
			order[n++] = b->tasks.at[i];
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < order[i]->n_users; k++)
			if (--order[i]->users[k]->waits == 0)
				order[n++] = order[i]->users[k];
	BUG_ON(n != b->tasks.len); /* tasks need each other */
	for (uint32_t i = 0; i < b->edges.len; i++)
		b->edges.at[i].task->waits++;
	return order;
}

static uint64_t add_saturated(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

/* The longest path from t to the end of the batch: its cost and the greatest rank of its users, which is known already. */
static void set_rank(struct task *t)
{
	for (uint32_t k = 0; k < t->n_users; k++) {
		uint64_t through = add_saturated(t->spec.cost_ns, t->users[k]->rank);

		t->rank = through > t->rank ? through : t->rank;
	}
}

struct task *graph_link(struct batch *b)
{
	struct task *ready = NULL, **order;

	link_users(b);
	order = sort_tasks(b);
	for (uint32_t i = b->tasks.len; i > 0; i--) {
		set_rank(order[i - 1]);
		if (order[i - 1]->waits == 0) {
			order[i - 1]->next = ready;
			ready = order[i - 1];
		}
	}
	vec_free(&b->tasks);
	vec_free(&b->edges);
	return ready;
}

struct task *graph_end(struct task *t, bool ok)
{
	struct task *ready = NULL;

	for (uint32_t k = 0; k < t->n_users; k++) {
		struct task *user = t->users[k];

		user->poisoned |= !ok;
		if (--user->waits == 0) {
			user->next = ready;
			ready = user;
		}
	}
	return ready;
}
