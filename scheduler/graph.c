/* A task's users are a list that grows at its head (R. K. Treiber, 1986) until the task's end exchanges the head for a mark; an edge that comes too late
 * finds the mark. Ranks and cycles are found within a batch, where the edges are sorted by input into one array (compressed rows). */
#include "scheduler/graph.h"
#include <stdlib.h>
#include "base/arena.h"
#include "base/bug.h"

struct edge {
	struct edge *next; /* among the input's users */
	struct task *task, *input;
};
/* Their addresses are what a task's list of users becomes when it ends. */
static const struct edge marks[2];

static struct edge *mark(bool ok) { return (struct edge *)(uintptr_t)&marks[ok]; }

struct task *graph_one(struct arena *a, const struct task_spec *s)
{
	struct task *t = ARENA_NEW(a, struct task);

	t->spec = *s;
	t->rank = s->cost_ns;
	t->result = (struct task_result){.arg = s->arg};
	atomic_init(&t->waits, 0);
	atomic_init(&t->poisoned, false);
	atomic_init(&t->users, NULL);
	return t;
}

struct task *graph_add(struct batch *b, const struct task_spec *s)
{
	struct task *t = graph_one(b->a, s);

	atomic_init(&t->waits, 1);
	t->batch = b;
	t->index = b->tasks.len;
	vec_push(&b->tasks, t);
	return t;
}

void graph_need(struct batch *b, struct task *task, struct task *input)
{
	struct edge *e = ARENA_NEW(b->a, struct edge);

	e->task = task;
	e->input = input;
	vec_push(&b->edges, e);
}

/* The edges between tasks of one batch: users of task i are users[first[i] … first[i + 1]). */
struct rows {
	const struct batch *b;
	uint32_t *first, *users, *left, *order;
	uint32_t n_order;
};

static uint32_t *numbers(uint32_t n)
{
	uint32_t *p = calloc((size_t)n + 1, sizeof *p);

	if (!p)
		bug_no_memory();
	return p;
}

static bool inner(const struct batch *b, const struct edge *e) { return e->task->batch == b && e->input->batch == b; }

/* Counting sort by input; `left` becomes the number of inputs. */
static struct rows rows_new(const struct batch *b)
{
	uint32_t n = b->tasks.len;
	struct rows r = {b, numbers(n), numbers(b->edges.len), numbers(n), numbers(n), 0};

	for (uint32_t i = 0; i < b->edges.len; i++)
		if (inner(b, b->edges.at[i])) {
			r.first[b->edges.at[i]->input->index]++;
			r.left[b->edges.at[i]->task->index]++;
		}
	for (uint32_t i = 1; i <= n; i++)
		r.first[i] += r.first[i - 1]; /* now the end of each slice; filling from behind turns it into the start */
	for (uint32_t i = b->edges.len; i > 0; i--) {
		const struct edge *e = b->edges.at[i - 1];

		if (inner(b, e))
			r.users[--r.first[e->input->index]] = e->task->index;
	}
	return r;
}

static void rows_free(struct rows *r)
{
	free(r->first);
	free(r->users);
	free(r->left);
	free(r->order);
}

/* Into `order`, inputs first, the tasks that are in or behind no cycle (Kahn). `left` ends as 0 for those. */
static void sort_tasks(struct rows *r)
{
	for (uint32_t t = 0; t < r->b->tasks.len; t++)
		if (r->left[t] == 0)
			r->order[r->n_order++] = t;
	for (uint32_t i = 0; i < r->n_order; i++) {
		uint32_t t = r->order[i];

		for (uint32_t k = r->first[t]; k < r->first[t + 1]; k++)
			if (--r->left[r->users[k]] == 0)
				r->order[r->n_order++] = r->users[k];
	}
}

/* Every task with left > 0 has such an input: following the lowest must come back to where it was. Starts at the cycle's lowest task. */
static void find_cycle(const struct rows *r, struct task_cycle *cycle)
{
	const struct batch *b = r->b;
	uint32_t n = b->tasks.len, t = n, low;
	uint32_t *next = numbers(n), *seen = numbers(n);

	for (uint32_t i = 0; i < n; i++)
		next[i] = n;
	for (uint32_t i = 0; i < b->edges.len; i++) {
		const struct edge *e = b->edges.at[i];
		uint32_t task = e->task->index, input = e->input->index;

		if (!inner(b, e) || r->left[task] == 0 || r->left[input] == 0)
			continue;
		if (input < next[task])
			next[task] = input;
		if (task < t)
			t = task;
	}
	for (; !seen[t]; t = next[t])
		seen[t] = 1;
	low = t;
	for (uint32_t i = next[t]; i != t; i = next[i])
		low = i < low ? i : low;
	cycle->args = malloc(n * sizeof *cycle->args);
	if (!cycle->args)
		bug_no_memory();
	cycle->n = 0;
	t = low;
	do {
		cycle->args[cycle->n++] = b->tasks.at[t]->spec.arg;
		t = next[t];
	} while (t != low);
	free(next);
	free(seen);
}

static uint64_t sum(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

static void raise_rank(struct task *input, const struct task *user)
{
	uint64_t through = sum(input->spec.cost_ns, user->rank);

	input->rank = through > input->rank ? through : input->rank;
}

static void set_ranks(const struct rows *r)
{
	const struct batch *b = r->b;

	for (uint32_t i = 0; i < b->edges.len; i++) /* users of earlier batches */
		if (b->edges.at[i]->input->batch == b && !inner(b, b->edges.at[i]))
			raise_rank(b->edges.at[i]->input, b->edges.at[i]->task);
	for (uint32_t i = r->n_order; i > 0; i--) {
		uint32_t t = r->order[i - 1];

		for (uint32_t k = r->first[t]; k < r->first[t + 1]; k++)
			raise_rank(b->tasks.at[t], b->tasks.at[r->users[k]]);
	}
}

bool graph_rank(struct batch *b, struct task_cycle *cycle)
{
	struct rows r = rows_new(b);
	bool ok;

	sort_tasks(&r);
	ok = r.n_order == b->tasks.len;
	if (ok)
		set_ranks(&r);
	else
		find_cycle(&r, cycle);
	rows_free(&r);
	return ok;
}

/* One thing less to wait for. True: it was the last. */
static bool let_go(struct task *t) { return atomic_fetch_sub_explicit(&t->waits, 1, memory_order_acq_rel) == 1; }

static void add_user(struct edge *e)
{
	struct edge *head = atomic_load_explicit(&e->input->users, memory_order_acquire);

	atomic_fetch_add_explicit(&e->task->waits, 1, memory_order_relaxed); /* it cannot begin meanwhile */
	do {
		if (head == mark(true) || head == mark(false)) {
			if (head == mark(false))
				atomic_store_explicit(&e->task->poisoned, true, memory_order_relaxed);
			let_go(e->task);
			return;
		}
		e->next = head;
	} while (!atomic_compare_exchange_weak_explicit(&e->input->users, &head, e, memory_order_release, memory_order_acquire));
}

struct task *graph_submit(struct batch *b)
{
	struct task *ready = NULL, **end = &ready;

	for (uint32_t i = 0; i < b->edges.len; i++)
		add_user(b->edges.at[i]);
	for (uint32_t i = 0; i < b->tasks.len; i++)
		b->tasks.at[i]->batch = NULL;
	for (uint32_t i = 0; i < b->tasks.len; i++) {
		struct task *t = b->tasks.at[i];

		if (let_go(t)) {
			*end = t;
			end = &t->next;
		}
	}
	*end = NULL;
	b->tasks.len = b->edges.len = 0;
	return ready;
}

struct task *graph_end(struct task *t, bool ok)
{
	struct edge *e = atomic_exchange_explicit(&t->users, mark(ok), memory_order_acq_rel);
	struct task *ready = NULL;

	BUG_ON(e == mark(true) || e == mark(false));
	for (; e; e = e->next) {
		if (!ok)
			atomic_store_explicit(&e->task->poisoned, true, memory_order_relaxed);
		if (let_go(e->task)) {
			e->task->next = ready;
			ready = e->task;
		}
	}
	return ready;
}

void graph_free(struct batch *b)
{
	vec_free(&b->tasks);
	vec_free(&b->edges);
}
