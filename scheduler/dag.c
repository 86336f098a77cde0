/* Edges are collected in a list, then sorted by their input into one array (compressed rows), so that a task's dependants are a slice of it.
 * Ready tasks wait in a binary heap. */
#include "scheduler/dag.h"
#include <stdlib.h>
#include "base/bug.h"
#include "base/vec.h"

enum task_state { WAITING, READY, RUNNING, DONE, FAILED, SKIPPED };

struct task {
	void *payload;
	uint64_t cost, priority; /* priority: the longest way to the end, this task included */
	uint32_t unfinished;     /* inputs that have not succeeded yet */
	uint32_t first;          /* its dependants: users[first … next task's first) */
	enum task_state state;
};
struct edge {
	task_id task, input;
};
struct dag {
	VEC(struct task) tasks; /* after dag_start, one sentinel follows the last */
	VEC(struct edge) edges;
	VEC(task_id) heap;
	VEC(task_id) list; /* topological order; then the work list of skipping; or the cycle */
	task_id *users;
	uint32_t count, remaining;
	bool started;
};

struct dag *dag_new(void)
{
	struct dag *d = calloc(1, sizeof *d);

	if (!d)
		bug_no_memory();
	return d;
}

void dag_free(struct dag *d)
{
	if (!d)
		return;
	vec_free(&d->tasks);
	vec_free(&d->edges);
	vec_free(&d->heap);
	vec_free(&d->list);
	free(d->users);
	free(d);
}

task_id dag_add(struct dag *d, void *payload, uint64_t cost)
{
	BUG_ON(d->started);
	vec_push(&d->tasks, ((struct task){.payload = payload, .cost = cost}));
	return d->count++;
}

void dag_need(struct dag *d, task_id task, task_id input)
{
	BUG_ON(d->started || task >= d->count || input >= d->count);
	vec_push(&d->edges, ((struct edge){task, input}));
	d->tasks.at[task].unfinished++;
}

static const task_id *users_of(const struct dag *d, task_id t, uint32_t *n)
{
	*n = d->tasks.at[t + 1].first - d->tasks.at[t].first;
	return d->users + d->tasks.at[t].first;
}

/* Counting sort of the edges by input. */
static void build_users(struct dag *d)
{
	struct task *t;

	vec_push(&d->tasks, ((struct task){0}));
	t = d->tasks.at;
	d->users = calloc(d->edges.len + 1, sizeof *d->users);
	if (!d->users)
		bug_no_memory();
	for (uint32_t i = 0; i < d->edges.len; i++)
		t[d->edges.at[i].input].first++;
	for (uint32_t i = 1; i <= d->count; i++)
		t[i].first += t[i - 1].first; /* now the end of each slice; filling from behind turns it into the start */
	for (uint32_t i = d->edges.len; i > 0; i--)
		d->users[--t[d->edges.at[i - 1].input].first] = d->edges.at[i - 1].task;
}

/* Fills d->list with the tasks that are in or before no cycle, inputs first (Kahn). `left`: a copy of the counters, 0 for those listed. */
static void order_tasks(struct dag *d, uint32_t *left)
{
	vec_reserve(&d->list, d->count);
	for (task_id t = 0; t < d->count; t++) {
		left[t] = d->tasks.at[t].unfinished;
		if (left[t] == 0)
			vec_push(&d->list, t);
	}
	for (uint32_t i = 0; i < d->list.len; i++) {
		uint32_t n;
		const task_id *users = users_of(d, d->list.at[i], &n);

		for (uint32_t k = 0; k < n; k++)
			if (--left[users[k]] == 0)
				vec_push(&d->list, users[k]);
	}
}

/* Every task with left > 0 has such an input: following the lowest must come back to where it was. Starts at the cycle's lowest task. */
static void find_cycle(struct dag *d, const uint32_t *left)
{
	task_id *next = malloc(d->count * sizeof *next);
	task_id t = TASK_NONE, low;
	uint8_t *seen = calloc(d->count, 1);

	if (!next || !seen)
		bug_no_memory();
	for (task_id i = 0; i < d->count; i++)
		next[i] = TASK_NONE;
	for (uint32_t i = 0; i < d->edges.len; i++) {
		struct edge e = d->edges.at[i];

		if (left[e.task] == 0 || left[e.input] == 0)
			continue;
		if (e.input < next[e.task])
			next[e.task] = e.input;
		if (t == TASK_NONE || e.task < t)
			t = e.task;
	}
	for (; !seen[t]; t = next[t])
		seen[t] = 1;
	low = t;
	for (task_id i = next[t]; i != t; i = next[i])
		low = i < low ? i : low;
	d->list.len = 0;
	t = low;
	do {
		vec_push(&d->list, t);
		t = next[t];
	} while (t != low);
	free(next);
	free(seen);
}

static void set_priorities(struct dag *d)
{
	for (uint32_t i = d->list.len; i > 0; i--) {
		struct task *t = &d->tasks.at[d->list.at[i - 1]];
		uint64_t longest = 0;
		uint32_t n;
		const task_id *users = users_of(d, d->list.at[i - 1], &n);

		for (uint32_t k = 0; k < n; k++)
			if (d->tasks.at[users[k]].priority > longest)
				longest = d->tasks.at[users[k]].priority;
		t->priority = t->cost > UINT64_MAX - longest ? UINT64_MAX : t->cost + longest;
	}
}

static bool before(const struct dag *d, task_id a, task_id b)
{
	uint64_t pa = d->tasks.at[a].priority, pb = d->tasks.at[b].priority;

	return pa != pb ? pa > pb : a < b;
}

static void swap(task_id *a, task_id *b)
{
	task_id t = *a;

	*a = *b;
	*b = t;
}

static void make_ready(struct dag *d, task_id t)
{
	task_id *h;

	d->tasks.at[t].state = READY;
	vec_push(&d->heap, t);
	h = d->heap.at;
	for (uint32_t i = d->heap.len - 1; i > 0 && before(d, h[i], h[(i - 1) / 2]); i = (i - 1) / 2)
		swap(&h[i], &h[(i - 1) / 2]);
}

bool dag_start(struct dag *d, const task_id **cycle, uint32_t *n)
{
	uint32_t *left = calloc(d->count + 1, sizeof *left);
	bool ok;

	BUG_ON(d->started);
	if (!left)
		bug_no_memory();
	d->started = true;
	d->remaining = d->count;
	build_users(d);
	order_tasks(d, left);
	ok = d->list.len == d->count;
	if (!ok)
		find_cycle(d, left);
	free(left);
	if (!ok) {
		*cycle = d->list.at;
		*n = d->list.len;
		return false;
	}
	set_priorities(d);
	d->list.len = 0;
	for (task_id t = 0; t < d->count; t++)
		if (d->tasks.at[t].unfinished == 0)
			make_ready(d, t);
	return true;
}

task_id dag_next(struct dag *d)
{
	task_id *h = d->heap.at, top;
	uint32_t i = 0, child;

	BUG_ON(!d->started);
	if (d->heap.len == 0)
		return TASK_NONE;
	top = h[0];
	h[0] = h[--d->heap.len];
	while ((child = 2 * i + 1) < d->heap.len) {
		if (child + 1 < d->heap.len && before(d, h[child + 1], h[child]))
			child++;
		if (!before(d, h[child], h[i]))
			break;
		swap(&h[child], &h[i]);
		i = child;
	}
	d->tasks.at[top].state = RUNNING;
	return top;
}

/* None of them can have started: each still waits for `failed`. */
static void skip_users(struct dag *d, task_id failed)
{
	d->list.len = 0;
	vec_push(&d->list, failed);
	while (d->list.len > 0) {
		uint32_t n;
		const task_id *users = users_of(d, d->list.at[--d->list.len], &n);

		for (uint32_t k = 0; k < n; k++) {
			if (d->tasks.at[users[k]].state == SKIPPED)
				continue;
			BUG_ON(d->tasks.at[users[k]].state != WAITING);
			d->tasks.at[users[k]].state = SKIPPED;
			d->remaining--;
			vec_push(&d->list, users[k]);
		}
	}
}

void dag_done(struct dag *d, task_id t, bool ok)
{
	uint32_t n;
	const task_id *users;

	BUG_ON(t >= d->count || d->tasks.at[t].state != RUNNING);
	d->tasks.at[t].state = ok ? DONE : FAILED;
	d->remaining--;
	if (!ok) {
		skip_users(d, t);
		return;
	}
	users = users_of(d, t, &n);
	for (uint32_t k = 0; k < n; k++)
		if (--d->tasks.at[users[k]].unfinished == 0 && d->tasks.at[users[k]].state == WAITING)
			make_ready(d, users[k]);
}

void *dag_payload(const struct dag *d, task_id t)
{
	BUG_ON(t >= d->count);
	return d->tasks.at[t].payload;
}

bool dag_skipped(const struct dag *d, task_id t)
{
	BUG_ON(t >= d->count);
	return d->tasks.at[t].state == SKIPPED;
}

uint32_t dag_remaining(const struct dag *d) { return d->started ? d->remaining : d->count; }

uint32_t dag_count(const struct dag *d) { return d->count; }
