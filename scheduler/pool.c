/* The life of a task: make_ready queues it. begin_task finds it a slot and memory. end_tasks ends it, and all tasks that are skipped
 * because of it. pool_wait reports it. One lock guards all state; tasks run without it. */
#include "scheduler/pool.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include "base/arena.h"
#include "base/bug.h"
#include "base/os.h"
#include "scheduler/cancel.h"
#include "scheduler/graph.h"
#include "scheduler/memory_budget.h"
#include "scheduler/ready_queue.h"
#include "scheduler/slots.h"

#define STACK_BYTES ((size_t)16 << 20) /* the code generator recurses; untouched pages cost nothing */

struct worker {
	struct pool *p;
	uint32_t id;
	pthread_t thread;
};
struct pool {
	uint32_t jobs, n_threads;
	_Atomic uint32_t pending;
	pthread_mutex_t lock;     /* guards what follows, and all submitted tasks */
	pthread_cond_t may_begin; /* idle workers */
	pthread_cond_t reported;  /* the thread in pool_wait */
	uint32_t idle;            /* workers that wait for may_begin */
	bool watched;             /* a worker is in slots_wait */
	bool stop;
	struct pool_idle waited; /* less the beginning of every wait that goes on */
	uint32_t waiting[IDLE_REASONS];
	struct slots slots;
	struct memory_budget memory;
	struct ready_queue ready;
	struct task *ended, **ended_tail; /* not yet seen by pool_wait, oldest first */
	struct arena *tasks;              /* those of no batch */
	arena_mark_t empty;
	VEC(struct arena *) batches;
	struct worker workers[];
};

/* ---- the rest of this file runs with the lock held, unless it says otherwise ---- */

static bool is_unwanted(const struct task *t) { return t->poisoned || cancelled(t->spec.cancel); }

static struct task *pop(struct task **list)
{
	struct task *t = *list;

	if (t)
		*list = t->next;
	return t;
}

static void wake_workers(struct pool *p, uint32_t n)
{
	if (p->watched)
		slots_wake(&p->slots); /* that worker wakes the next one */
	else
		for (uint32_t i = 0; i < n && i < p->idle; i++)
			pthread_cond_signal(&p->may_begin);
}

/* Queues the tasks of a list; those that must not run go to `ends` instead. */
static void make_ready(struct pool *p, struct task *list, struct task **ends)
{
	for (struct task *t; (t = pop(&list));) {
		if (is_unwanted(t)) {
			t->result.end = t->poisoned ? TASK_SKIPPED : TASK_CANCELLED;
			t->next = *ends;
			*ends = t;
		} else {
			ready_queue_push(&p->ready, t);
		}
	}
}

/* Ends the tasks of a list, whose results are known, and all that are skipped because of them. They may be gone afterwards. */
static void end_tasks(struct pool *p, struct task *ends)
{
	for (struct task *t; (t = pop(&ends));) {
		make_ready(p, graph_end(t, t->result.end == TASK_DONE), &ends);
		t->next = NULL;
		*p->ended_tail = t;
		p->ended_tail = &t->next;
	}
	pthread_cond_signal(&p->reported);
}

/* ---- workers ---- */

static bool has_work(const struct pool *p)
{
	return !p->stop && !memory_budget_is_full(&p->memory) && (p->memory.try_held || p->ready.heap.len > 0);
}

/* The next task that fits the memory budget; ends those that must not run on the way. NULL: nothing may begin now. */
static struct task *next_task(struct pool *p)
{
	while (has_work(p)) {
		struct task *t = memory_budget_resume(&p->memory), *ends = NULL;
		bool admitted = t;

		if (!t && !memory_budget_is_full(&p->memory))
			t = ready_queue_pop(&p->ready);
		if (!t)
			return NULL;
		if (is_unwanted(t)) {
			if (admitted)
				memory_budget_end(&p->memory, t->spec.memory);
			t->next = NULL;
			make_ready(p, t, &ends);
			end_tasks(p, ends);
		} else if (admitted || memory_budget_admit(&p->memory, t)) {
			return t;
		}
	}
	return NULL;
}

/* The next task, and the slot to run it in. NULL: nothing may begin now; *why is what to wait for, SLOT_TAKEN if not for a slot. */
static struct task *begin_task(struct pool *p, struct slot *slot, enum slot_outcome *why)
{
	struct task *t;

	*why = SLOT_TAKEN;
	if (!has_work(p))
		return NULL;
	*why = slots_take(&p->slots, slot);
	if (*why != SLOT_TAKEN)
		return NULL;
	t = next_task(p);
	if (!t)
		slots_return(&p->slots, slot);
	return t;
}

/* Without the lock. */
static void pool_run(struct task *t, uint32_t worker)
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

/* Runs one task. False: nothing may begin now, for the reason `why`. */
static bool scheduler_pool_work(struct pool *p, uint32_t worker, enum slot_outcome *why)
{
	struct slot slot;
	struct task *t = begin_task(p, &slot, why);

	if (!t)
		return false;
	pthread_mutex_unlock(&p->lock);
	pool_run(t, worker);
	pthread_mutex_lock(&p->lock);
	slots_return(&p->slots, &slot);
	memory_budget_end(&p->memory, t->spec.memory);
	t->next = NULL;
	end_tasks(p, t);
	if (has_work(p))
		wake_workers(p, p->memory.try_held ? p->jobs : p->ready.heap.len - 1); /* one task is for this worker */
	return true;
}

static enum idle_reason idle_reason(const struct pool *p, enum slot_outcome why)
{
	if (why != SLOT_TAKEN)
		return why == SLOT_LOAD ? IDLE_LOAD : IDLE_TOKEN;
	return p->memory.held.len > 0 ? IDLE_MEMORY : IDLE_INPUTS;
}

/* Waits until something may begin. One worker polls for a slot; when it ends, the next one takes its place. */
static void wait_until_woken(struct pool *p, enum slot_outcome why)
{
	if (why == SLOT_TAKEN || p->watched) {
		p->idle++;
		pthread_cond_wait(&p->may_begin, &p->lock);
		p->idle--;
		return;
	}
	p->watched = true;
	pthread_mutex_unlock(&p->lock);
	slots_wait(&p->slots, why);
	pthread_mutex_lock(&p->lock);
	p->watched = false;
	if (p->idle > 0)
		pthread_cond_signal(&p->may_begin);
}

static void wait_for_work(struct pool *p, enum slot_outcome why)
{
	enum idle_reason r = idle_reason(p, why);

	p->waited.ns[r] -= os_now_ns();
	p->waiting[r]++;
	wait_until_woken(p, why);
	p->waiting[r]--;
	p->waited.ns[r] += os_now_ns();
}

/* Without the lock. */
static void *worker_main(void *arg)
{
	struct worker *w = arg;
	struct pool *p = w->p;
	enum slot_outcome why;

	pthread_mutex_lock(&p->lock);
	while (!p->stop)
		if (!scheduler_pool_work(p, w->id, &why) && !p->stop)
			wait_for_work(p, why);
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

/* Workers block all signals, so that the main thread handles them, but not those of their own faults: a blocked one would kill the
 * process past any handler. Without the lock. */
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

/* ---- the pool; from here on without the lock ---- */

struct pool *pool_new(uint32_t jobs, const struct pool_limits *limits)
{
	struct pool *p = calloc(1, sizeof *p + jobs * sizeof *p->workers);
	pthread_condattr_t monotonic;

	BUG_ON(jobs == 0);
	if (!p)
		bug_no_memory();
	p->jobs = jobs;
	slots_init(&p->slots, limits ? limits->jobserver : NULL, limits ? limits->load : 0);
	p->memory = (struct memory_budget){.budget = limits ? limits->memory : 0, .most_passes = jobs};
	p->ended_tail = &p->ended;
	p->tasks = arena_new(0);
	p->empty = arena_mark(p->tasks);
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->may_begin, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&p->reported, &monotonic);
	pthread_condattr_destroy(&monotonic);
	for (uint32_t i = 0; i < jobs; i++)
		p->workers[i] = (struct worker){.p = p, .id = i};
	if (jobs == 1)
		return p;
	start_threads(p);
	if (p->n_threads > 0)
		return p;
	pool_free(p);
	return NULL;
}

void pool_set_memory(struct pool *p, uint64_t bytes)
{
	pthread_mutex_lock(&p->lock);
	BUG_ON(p->memory.running > 0 || p->memory.held.len > 0);
	p->memory.budget = bytes;
	pthread_mutex_unlock(&p->lock);
}

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
	pthread_mutex_lock(&p->lock);
	p->stop = true;
	pthread_cond_broadcast(&p->may_begin);
	if (p->watched)
		slots_wake(&p->slots);
	pthread_mutex_unlock(&p->lock);
	for (uint32_t i = 0; i < p->n_threads; i++)
		pthread_join(p->workers[i].thread, NULL);
	free_batches(p);
	vec_free(&p->batches);
	arena_free(p->tasks);
	vec_free(&p->ready.heap);
	vec_free(&p->memory.held);
	slots_destroy(&p->slots);
	pthread_cond_destroy(&p->may_begin);
	pthread_cond_destroy(&p->reported);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

uint32_t pool_jobs(const struct pool *p) { return p->jobs; }

struct pool_idle pool_idle(struct pool *p)
{
	struct pool_idle idle;
	int64_t now;

	pthread_mutex_lock(&p->lock);
	now = os_now_ns();
	idle = p->waited;
	for (int r = 0; r < IDLE_REASONS; r++)
		idle.ns[r] += p->waiting[r] * now;
	pthread_mutex_unlock(&p->lock);
	return idle;
}

uint32_t pool_pending(const struct pool *p) { return atomic_load(&p->pending); }

/* ---- what comes in ---- */

struct pool_batch {
	struct batch graph; /* first */
	struct pool *p;
};

struct batch *pool_new_batch(struct pool *p)
{
	struct arena *a = arena_new(0);
	struct pool_batch *b = ARENA_NEW(a, struct pool_batch);

	b->graph.a = a;
	b->p = p;
	return &b->graph;
}

struct task *batch_add(struct batch *b, const struct task_spec *spec) { return graph_add(b, spec); }

void batch_need(struct batch *b, struct task *task, struct task *input) { graph_need(b, task, input); }

/* With the lock held: queues the tasks of a list, and wakes workers for them. */
static void submit(struct pool *p, struct task *list)
{
	struct task *ends = NULL;

	make_ready(p, list, &ends);
	if (ends)
		end_tasks(p, ends);
	wake_workers(p, p->ready.heap.len);
}

void batch_submit(struct batch *batch)
{
	struct pool *p = ((struct pool_batch *)batch)->p;
	uint32_t n = batch->tasks.len;
	struct arena *a = batch->a;
	struct task *ready = graph_link(batch);

	pthread_mutex_lock(&p->lock);
	atomic_fetch_add(&p->pending, n);
	vec_push(&p->batches, a);
	submit(p, ready);
	pthread_mutex_unlock(&p->lock);
}

struct task *pool_submit(struct pool *p, const struct task_spec *spec)
{
	struct task *t;

	pthread_mutex_lock(&p->lock);
	atomic_fetch_add(&p->pending, 1);
	t = graph_new_task(p->tasks, spec);
	submit(p, t);
	pthread_mutex_unlock(&p->lock);
	return t;
}

/* ---- what goes out; with the lock held ---- */

static bool next_result(struct pool *p, struct task_result *out)
{
	struct task *t = pop(&p->ended);

	if (!t)
		return false;
	if (!p->ended)
		p->ended_tail = &p->ended;
	*out = t->result;
	atomic_fetch_sub(&p->pending, 1);
	return true;
}

static struct timespec deadline_in(int ms)
{
	struct timespec t;
	int64_t ns;

	clock_gettime(CLOCK_MONOTONIC, &t);
	ns = t.tv_nsec + (int64_t)ms * 1000000;
	return (struct timespec){t.tv_sec + ns / 1000000000, ns % 1000000000};
}

/* Waits for a result. False: none is left, or the deadline has passed. */
static bool wait_for_result(struct pool *p, const struct timespec *deadline, struct task_result *out)
{
	enum slot_outcome why;

	while (!next_result(p, out)) {
		if (atomic_load(&p->pending) == 0) { /* no task is known to anyone any more */
			arena_release(p->tasks, p->empty);
			free_batches(p);
			return false;
		}
		if (p->n_threads == 0)
			BUG_ON(!scheduler_pool_work(p, 0, &why) && !p->ended); /* tasks wait for each other */
		else if (!deadline)
			pthread_cond_wait(&p->reported, &p->lock);
		else if (pthread_cond_timedwait(&p->reported, &p->lock, deadline) == ETIMEDOUT)
			return next_result(p, out);
	}
	return true;
}

bool pool_wait(struct pool *p, int timeout_ms, struct task_result *out)
{
	struct timespec deadline = deadline_in(timeout_ms < 0 ? 0 : timeout_ms);
	bool ok;

	pthread_mutex_lock(&p->lock);
	ok = wait_for_result(p, timeout_ms < 0 ? NULL : &deadline, out);
	pthread_mutex_unlock(&p->lock);
	return ok;
}
