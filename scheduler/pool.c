/* One mutex, `lock`, guards every field of the pool but `jobs` and `threads`, which are fixed once it exists. */
#include "scheduler/pool.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include "base/bug.h"

#define STACK_BYTES ((size_t)16 << 20) /* the code generator recurses; what is not touched costs nothing */

struct job {
	struct job *next;
	pool_fn *fn;
	void *arg;
};
struct queue {
	struct job *first, **end;
};
struct pool {
	pthread_mutex_t lock;
	pthread_cond_t work;     /* a job was queued, or `stop` was set */
	pthread_cond_t finished; /* a job went to `done` */
	struct queue queued, done;
	uint32_t pending; /* in queued, running or in done */
	bool stop;
	uint32_t jobs;
	pthread_t *threads; /* NULL if jobs == 1 */
	uint32_t n_threads;
};
struct worker {
	struct pool *p;
	uint32_t id;
};

static void queue_init(struct queue *q) { *q = (struct queue){NULL, &q->first}; }

static void queue_push(struct queue *q, struct job *j)
{
	j->next = NULL;
	*q->end = j;
	q->end = &j->next;
}

static struct job *queue_pop(struct queue *q)
{
	struct job *j = q->first;

	if (!j)
		return NULL;
	q->first = j->next;
	if (!q->first)
		q->end = &q->first;
	return j;
}

static void queue_drop(struct queue *q)
{
	struct job *j;

	while ((j = queue_pop(q)))
		free(j);
}

static void *worker_main(void *arg)
{
	struct worker w = *(struct worker *)arg;
	struct pool *p = w.p;

	free(arg);
	pthread_mutex_lock(&p->lock);
	while (!p->stop) {
		struct job *j = queue_pop(&p->queued);

		if (!j) {
			pthread_cond_wait(&p->work, &p->lock);
			continue;
		}
		pthread_mutex_unlock(&p->lock);
		j->fn(j->arg, w.id);
		pthread_mutex_lock(&p->lock);
		queue_push(&p->done, j);
		pthread_cond_signal(&p->finished);
	}
	pthread_mutex_unlock(&p->lock);
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
	while (p->n_threads < p->jobs) {
		struct worker *w = malloc(sizeof *w);

		if (!w)
			bug_no_memory();
		*w = (struct worker){p, p->n_threads};
		if (pthread_create(&p->threads[p->n_threads], &attr, worker_main, w) != 0) {
			free(w);
			break;
		}
		p->n_threads++;
	}
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

struct pool *pool_new(uint32_t jobs)
{
	struct pool *p = calloc(1, sizeof *p);
	pthread_condattr_t attr;

	BUG_ON(jobs == 0);
	if (!p)
		bug_no_memory();
	p->jobs = jobs;
	queue_init(&p->queued);
	queue_init(&p->done);
	pthread_mutex_init(&p->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&p->work, &attr);
	pthread_cond_init(&p->finished, &attr);
	pthread_condattr_destroy(&attr);
	if (jobs == 1)
		return p;
	p->threads = calloc(jobs, sizeof *p->threads);
	if (!p->threads)
		bug_no_memory();
	start_threads(p);
	if (p->n_threads == 0) {
		pool_free(p);
		return NULL;
	}
	return p;
}

void pool_submit(struct pool *p, pool_fn *fn, void *arg)
{
	struct job *j = malloc(sizeof *j);

	BUG_ON(!arg); /* pool_wait's result would say "none left" */
	if (!j)
		bug_no_memory();
	*j = (struct job){NULL, fn, arg};
	pthread_mutex_lock(&p->lock);
	queue_push(&p->queued, j);
	p->pending++;
	pthread_cond_signal(&p->work);
	pthread_mutex_unlock(&p->lock);
}

static struct timespec deadline_in(int ms)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_sec += ms / 1000;
	t.tv_nsec += (long)(ms % 1000) * 1000000;
	if (t.tv_nsec >= 1000000000) {
		t.tv_nsec -= 1000000000;
		t.tv_sec++;
	}
	return t;
}

/* With the lock held. NULL: timed out. */
static struct job *wait_done(struct pool *p, int timeout_ms)
{
	struct timespec deadline = deadline_in(timeout_ms < 0 ? 0 : timeout_ms);
	int rc = 0;

	while (!p->done.first && rc != ETIMEDOUT)
		rc = timeout_ms < 0 ? pthread_cond_wait(&p->finished, &p->lock) : pthread_cond_timedwait(&p->finished, &p->lock, &deadline);
	return queue_pop(&p->done);
}

/* With the lock held; runs the oldest job on the calling thread, without it. */
static struct job *run_inline(struct pool *p)
{
	struct job *j = queue_pop(&p->queued);

	pthread_mutex_unlock(&p->lock);
	j->fn(j->arg, 0);
	pthread_mutex_lock(&p->lock);
	return j;
}

void *pool_wait(struct pool *p, int timeout_ms)
{
	struct job *j = NULL;
	void *arg = NULL;

	pthread_mutex_lock(&p->lock);
	if (p->pending > 0)
		j = p->n_threads == 0 ? run_inline(p) : wait_done(p, timeout_ms);
	if (j) {
		p->pending--;
		arg = j->arg;
	}
	pthread_mutex_unlock(&p->lock);
	free(j);
	return arg;
}

uint32_t pool_pending(const struct pool *p)
{
	struct pool *m = (struct pool *)(uintptr_t)p; /* the lock is not part of the value */
	uint32_t n;

	pthread_mutex_lock(&m->lock);
	n = p->pending;
	pthread_mutex_unlock(&m->lock);
	return n;
}

uint32_t pool_jobs(const struct pool *p) { return p->jobs; }

void pool_free(struct pool *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->stop = true;
	pthread_cond_broadcast(&p->work);
	pthread_mutex_unlock(&p->lock);
	for (uint32_t i = 0; i < p->n_threads; i++)
		pthread_join(p->threads[i], NULL);
	queue_drop(&p->queued);
	queue_drop(&p->done);
	pthread_cond_destroy(&p->work);
	pthread_cond_destroy(&p->finished);
	pthread_mutex_destroy(&p->lock);
	free(p->threads);
	free(p);
}
