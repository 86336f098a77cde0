/* The way of a task: it becomes ready (publish), a worker takes it once it has a slot (next_task), runs it, ends it and whatever that skips (settle), and
 * reports it to the thread in pool_wait. */
#include "scheduler/pool.h"
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/bug.h"
#include "base/os.h"
#include "scheduler/cancel.h"
#include "scheduler/graph.h"
#include "scheduler/memory_budget.h"
#include "scheduler/park.h"
#include "scheduler/ready.h"
#include "scheduler/slots.h"

#define STACK_BYTES ((size_t)16 << 20) /* the code generator recurses; what is not touched costs nothing */

struct worker {
	struct pool *p;
	uint32_t id;
	struct arena *tasks; /* those that its tasks make one by one */
	arena_mark_t empty;
	pthread_t thread;
};
struct pool {
	uint32_t jobs, n_threads;
	struct slots *slots;
	struct memory_budget ration;
	struct ready *ready;
	struct park idle;             /* workers */
	struct park reported;         /* the thread in pool_wait */
	_Atomic(struct task *) ended; /* not yet seen by pool_wait, newest first */
	struct task *seen;            /* by pool_wait alone, oldest first */
	_Atomic uint32_t pending;
	_Atomic bool stop;
	pthread_mutex_t outside; /* guards what follows, and the owner's end of the outside's deques */
	struct arena *tasks;
	arena_mark_t empty;
	VEC(struct arena *) batches;
	struct worker workers[];
};

/* ---- ends ---- */

static void report(struct pool *p, struct task *t)
{
	t->next = atomic_load_explicit(&p->ended, memory_order_relaxed);
	while (!atomic_compare_exchange_weak(&p->ended, &t->next, t))
		continue;
}

static bool unwanted(const struct task *t) { return atomic_load_explicit(&t->poisoned, memory_order_relaxed) || cancelled(t->spec.cancel); }

static void skip(struct task *t)
{
	t->result.end = atomic_load_explicit(&t->poisoned, memory_order_relaxed) ? TASK_SKIPPED : TASK_CANCELLED;
}

static struct task *pop(struct task **list)
{
	struct task *t = *list;

	if (t)
		*list = t->next;
	return t;
}

/* Publishes the tasks of a list; those that must not run go to `ends` instead. Returns how many it published. */
static uint32_t publish(struct pool *p, uint32_t owner, struct task *list, struct task **ends)
{
	uint32_t n = 0;

	for (struct task *t; (t = pop(&list));) {
		if (unwanted(t)) {
			skip(t);
			t->next = *ends;
			*ends = t;
		} else {
			ready_push(p->ready, owner, t, t->rank);
			n++;
		}
	}
	return n;
}

/* Ends a list of tasks whose results are known, and what is skipped because of them. Returns how many became ready. */
static uint32_t settle(struct pool *p, uint32_t owner, struct task *ends)
{
	uint32_t n = 0;

	for (struct task *t; (t = pop(&ends));) {
		n += publish(p, owner, graph_end(t, t->result.end == TASK_DONE), &ends);
		report(p, t);
	}
	return n;
}

/* ---- workers ---- */

/* Whether a worker has something to do. Read after park_prepare, or by someone who will look again. */
static bool has_work(const void *pool)
{
	const struct pool *p = pool;

	return !atomic_load(&p->stop) && !memory_budget_full(&p->ration) && (memory_budget_work(&p->ration) || ready_any(p->ready));
}

/* A task that must not run, and what is skipped because of it. */
static void drop(struct pool *p, uint32_t worker, struct task *t)
{
	uint32_t freed;

	skip(t);
	t->next = NULL;
	freed = settle(p, worker, t);
	park_wake(&p->reported, 1);
	park_wake(&p->idle, freed);
}

static void tidy(struct pool *p)
{
	if (!ready_stale(p->ready) || pthread_mutex_trylock(&p->outside) != 0)
		return;
	ready_tidy(p->ready);
	pthread_mutex_unlock(&p->outside);
}

/* The next task for a worker with a slot; those that must not run are ended on the way. NULL: nothing may begin now. */
static struct task *next_task(struct pool *p, uint32_t worker)
{
	while (!atomic_load(&p->stop) && !memory_budget_full(&p->ration)) {
		struct task *t = memory_budget_resume(&p->ration);
		bool admitted = t;

		tidy(p);
		if (!t)
			t = ready_take(p->ready, worker);
		if (!t)
			return NULL;
		if (unwanted(t)) {
			if (admitted)
				memory_budget_end(&p->ration, t->spec.memory);
			drop(p, worker, t);
		} else if (admitted || memory_budget_admit(&p->ration, t)) {
			return t;
		}
	}
	return NULL;
}

static void run(struct task *t, uint32_t worker)
{
	struct task_run how = {worker, t->spec.cancel, t->spec.memory};
	int64_t began = os_now_ns();
	bool ok = t->spec.run(t->spec.arg, &how);

	if (!ok)
		cancel_failure(t->spec.cancel);
	t->result.end = ok ? TASK_DONE : TASK_FAILED;
	t->result.worker = worker;
	t->result.began = began;
	t->result.wall_ns = os_now_ns() - began;
	t->result.memory = how.memory;
}

/* False: nothing may begin now. */
static bool work(struct pool *p, uint32_t worker)
{
	struct slot slot;
	struct task *t;
	uint64_t memory;
	uint32_t freed;

	if (!slots_enter(p->slots, &slot, has_work, p))
		return false;
	t = next_task(p, worker);
	if (!t) {
		slots_leave(p->slots, &slot);
		return has_work(p); /* it may have come while the slot was ours */
	}
	memory = t->spec.memory;
	run(t, worker);
	t->next = NULL;
	freed = settle(p, worker, t); /* t may be gone now */
	if (memory_budget_end(&p->ration, memory))
		freed = p->jobs;
	slots_leave(p->slots, &slot);
	park_wake(&p->reported, 1);
	if (freed > 1)
		park_wake(&p->idle, freed - 1); /* one is for us */
	return true;
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;
	struct pool *p = w->p;

	while (!atomic_load(&p->stop)) {
		if (work(p, w->id))
			continue;
		park_prepare(&p->idle);
		if (has_work(p) || atomic_load(&p->stop))
			park_cancel(&p->idle);
		else
			park_sleep(&p->idle, -1);
	}
	return NULL;
}

/* Workers block all signals, so that the main thread handles them, but those of their own faults: these, blocked, would kill the process past any
 * handler. */
static void start_threads(struct pool *p)
{
	pthread_attr_t attr;
	static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
	sigset_t all, old;

	sigfillset(&all);
	for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
		sigdelset(&all, faults[i]);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	while (p->n_threads < p->jobs &&
	       pthread_create(&p->workers[p->n_threads].thread, &attr, worker_main, &p->workers[p->n_threads]) == 0)
		p->n_threads++;
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

struct pool *pool_new(uint32_t jobs, const struct pool_limits *limits)
{
	struct pool *p = calloc(1, sizeof *p + jobs * sizeof *p->workers);

	BUG_ON(jobs == 0);
	if (!p)
		bug_no_memory();
	p->jobs = jobs;
	if (limits)
		p->slots = slots_new(limits->jobserver, limits->load);
	memory_budget_init(&p->ration, limits ? limits->memory : 0, jobs);
	p->ready = ready_new(jobs);
	p->tasks = arena_new(0);
	park_init(&p->idle);
	park_init(&p->reported);
	pthread_mutex_init(&p->outside, NULL);
	p->empty = arena_mark(p->tasks);
	for (uint32_t i = 0; i < jobs; i++) {
		struct arena *a = arena_new(0);

		p->workers[i] = (struct worker){.p = p, .id = i, .tasks = a, .empty = arena_mark(a)};
	}
	if (jobs == 1)
		return p;
	start_threads(p);
	if (p->n_threads > 0)
		return p;
	pool_free(p);
	return NULL;
}

void pool_set_memory(struct pool *p, uint64_t bytes) { memory_budget_set_budget(&p->ration, bytes); }

static void free_batches(struct pool *p)
{
	for (uint32_t i = 0; i < p->batches.len; i++)
		arena_free(p->batches.at[i]);
	p->batches.len = 0;
}

void pool_free(struct pool *p)
{
	if (!p)
		return;
	atomic_store(&p->stop, true);
	park_wake(&p->idle, p->jobs);
	slots_wake(p->slots);
	for (uint32_t i = 0; i < p->n_threads; i++)
		pthread_join(p->workers[i].thread, NULL);
	for (uint32_t i = 0; i < p->jobs; i++)
		arena_free(p->workers[i].tasks);
	free_batches(p);
	vec_free(&p->batches);
	arena_free(p->tasks);
	ready_free(p->ready);
	slots_free(p->slots);
	memory_budget_destroy(&p->ration);
	park_destroy(&p->idle);
	park_destroy(&p->reported);
	pthread_mutex_destroy(&p->outside);
	free(p);
}

uint32_t pool_jobs(const struct pool *p) { return p->jobs; }

uint32_t pool_pending(const struct pool *p) { return atomic_load(&p->pending); }

/* ---- what comes in ---- */

struct pool_batch {
	struct batch graph; /* first */
	struct pool *p;
	uint32_t owner;
};

static uint32_t owner_of(const struct pool *p, const struct task_run *from) { return from ? from->worker : p->jobs; }

struct batch *pool_batch(struct pool *p, const struct task_run *from)
{
	struct arena *a = arena_new(0);
	struct pool_batch *b = ARENA_NEW(a, struct pool_batch);

	b->graph.a = a;
	b->p = p;
	b->owner = owner_of(p, from);
	return &b->graph;
}

struct task *batch_add(struct batch *b, const struct task_spec *s) { return graph_add(b, s); }

void batch_need(struct batch *b, struct task *task, struct task *input) { graph_need(b, task, input); }

/* Publishes a list as `owner`, and wakes who can run it. */
static void hand_over(struct pool *p, uint32_t owner, struct task *list)
{
	struct task *ends = NULL;
	uint32_t n = publish(p, owner, list, &ends);

	n += settle(p, owner, ends);
	park_wake(&p->idle, n);
}

bool batch_submit(struct batch *batch, struct task_cycle *cycle)
{
	struct pool_batch *b = (struct pool_batch *)batch;
	struct pool *p = b->p;
	struct task_cycle unused = {0};
	uint32_t owner = b->owner;
	struct arena *a = batch->a;
	struct task *ready;
	bool ok = graph_rank(batch, cycle ? cycle : &unused), outside = owner == p->jobs;

	free(unused.args);
	if (!ok) {
		graph_free(batch);
		arena_free(a);
		return false;
	}
	atomic_fetch_add(&p->pending, batch->tasks.len);
	pthread_mutex_lock(&p->outside);
	vec_push(&p->batches, a);
	if (!outside)
		pthread_mutex_unlock(&p->outside);
	ready = graph_submit(batch);
	graph_free(batch); /* before anything runs, because its arena goes with the tasks */
	hand_over(p, owner, ready);
	if (outside)
		pthread_mutex_unlock(&p->outside);
	return true;
}

struct task *pool_submit(struct pool *p, const struct task_run *from, const struct task_spec *s)
{
	uint32_t owner = owner_of(p, from);
	struct task *t;

	atomic_fetch_add(&p->pending, 1);
	if (from) {
		t = graph_one(p->workers[owner].tasks, s);
		hand_over(p, owner, t);
		return t;
	}
	pthread_mutex_lock(&p->outside);
	t = graph_one(p->tasks, s);
	hand_over(p, owner, t);
	pthread_mutex_unlock(&p->outside);
	return t;
}

/* ---- what goes out ---- */

/* Everything was reported: nobody knows a task any more. */
static void forget_tasks(struct pool *p)
{
	pthread_mutex_lock(&p->outside);
	if (atomic_load(&p->pending) == 0) {
		arena_release(p->tasks, p->empty);
		for (uint32_t i = 0; i < p->jobs; i++)
			arena_release(p->workers[i].tasks, p->workers[i].empty);
		free_batches(p);
	}
	pthread_mutex_unlock(&p->outside);
}

static bool next_result(struct pool *p, struct task_result *out)
{
	struct task *t;

	if (!p->seen)
		for (struct task *list = atomic_exchange(&p->ended, NULL); (t = pop(&list)); p->seen = t)
			t->next = p->seen;
	t = pop(&p->seen);
	if (!t)
		return false;
	*out = t->result;
	atomic_fetch_sub(&p->pending, 1);
	return true;
}

bool pool_wait(struct pool *p, int timeout_ms, struct task_result *out)
{
	for (;;) {
		if (next_result(p, out))
			return true;
		if (atomic_load(&p->pending) == 0) {
			forget_tasks(p);
			return false;
		}
		if (p->n_threads == 0) {
			BUG_ON(!work(p, 0) && !atomic_load(&p->ended)); /* tasks wait for each other */
			continue;
		}
		park_prepare(&p->reported);
		if (atomic_load(&p->ended))
			park_cancel(&p->reported);
		else if (!park_sleep(&p->reported, timeout_ms))
			return false;
	}
}
