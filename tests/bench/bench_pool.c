/* Measures the cost of an empty task in nanoseconds, in the pool and in a list under a mutex: bench_pool [TASKS] */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/bug.h"
#include "base/os.h"
#include "scheduler/pool.h"

enum { ROUNDS = 7 };

static bool nothing(void *arg, struct task_run *run)
{
	(void)arg;
	(void)run;
	return true;
}

/* A batch that is ready as a whole, then a chain, in which each task makes the next ready. */
static int64_t pool_time(uint32_t workers, uint32_t n, bool chain)
{
	struct pool *p = pool_new(workers, NULL);
	struct batch *b = pool_new_batch(p);
	struct task *before = NULL;
	struct task_result r;
	int64_t start;

	for (uint32_t i = 0; i < n; i++) {
		struct task *t = batch_add(b, &(struct task_spec){.run = nothing, .cost_ns = 1000});

		if (chain && before)
			batch_need(b, t, before);
		before = t;
	}
	start = os_now_ns();
	batch_submit(b);
	while (pool_wait(p, -1, &r))
		continue;
	start = os_now_ns() - start;
	pool_free(p);
	return start;
}

struct item {
	struct item *next;
	task_fn *run;
};
struct queue {
	pthread_mutex_t lock;
	pthread_cond_t some, all;
	struct item *first, **end;
	uint32_t left;
};

static void *serve(void *arg)
{
	struct queue *q = arg;

	pthread_mutex_lock(&q->lock);
	while (q->left > 0) {
		struct item *i = q->first;

		if (!i) {
			pthread_cond_wait(&q->some, &q->lock);
			continue;
		}
		q->first = i->next;
		if (!q->first)
			q->end = &q->first;
		pthread_mutex_unlock(&q->lock);
		i->run(NULL, NULL);
		free(i);
		pthread_mutex_lock(&q->lock);
		if (--q->left == 0)
			pthread_cond_broadcast(&q->some);
	}
	pthread_mutex_unlock(&q->lock);
	return NULL;
}

static int64_t queue_time(uint32_t workers, uint32_t n)
{
	struct queue q = {.lock = PTHREAD_MUTEX_INITIALIZER, .some = PTHREAD_COND_INITIALIZER, .left = n};
	pthread_t threads[8];
	int64_t start = os_now_ns();

	q.end = &q.first;
	for (uint32_t i = 0; i < workers; i++)
		BUG_ON(pthread_create(&threads[i], NULL, serve, &q) != 0);
	for (uint32_t i = 0; i < n; i++) {
		struct item *item = malloc(sizeof *item);

		if (!item)
			bug_no_memory();
		*item = (struct item){NULL, nothing};
		pthread_mutex_lock(&q.lock);
		*q.end = item;
		q.end = &item->next;
		pthread_cond_signal(&q.some);
		pthread_mutex_unlock(&q.lock);
	}
	for (uint32_t i = 0; i < workers; i++)
		pthread_join(threads[i], NULL);
	return os_now_ns() - start;
}

static int by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static double median(const int64_t *times, uint32_t n)
{
	int64_t sorted[ROUNDS];

	for (int i = 0; i < ROUNDS; i++)
		sorted[i] = times[i];
	qsort(sorted, ROUNDS, sizeof *sorted, by_size);
	return (double)sorted[ROUNDS / 2] / n;
}

int main(int argc, char **argv)
{
	uint32_t n = argc > 1 ? (uint32_t)atoi(argv[1]) : 200000;

	if (n == 0)
		return 2;
	printf("%8s %16s %16s %16s\n", "workers", "pool, batch ns", "pool, chain ns", "mutex queue ns");
	for (uint32_t workers = 1; workers <= 2; workers++) {
		int64_t batch[ROUNDS], chain[ROUNDS], queue[ROUNDS];

		for (int i = 0; i < ROUNDS; i++) {
			batch[i] = pool_time(workers, n, false);
			chain[i] = pool_time(workers, n, true);
			queue[i] = queue_time(workers, n);
		}
		printf("%8u %16.0f %16.0f %16.0f\n", workers, median(batch, n), median(chain, n), median(queue, n));
	}
	return 0;
}
