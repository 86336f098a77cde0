#include "scheduler/pool.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

enum { JOBS = 2000 };

struct job {
	struct pool *pool;
	uint32_t workers; /* of the pool */
	int runs, returned;
	int more; /* jobs to submit in turn */
	struct job *next;
};
static atomic_int running[8];

static void work(void *arg, uint32_t worker)
{
	struct job *j = arg;

	assert_true(worker < j->workers);
	assert_int_equal(atomic_fetch_add(&running[worker], 1), 0); /* one job at a time per worker */
	j->runs++;
	for (int i = 0; i < j->more; i++)
		pool_submit(j->pool, work, &j->next[i]);
	atomic_fetch_sub(&running[worker], 1);
}

static void run_all(uint32_t workers)
{
	static struct job jobs[JOBS];
	struct pool *p = pool_new(workers);
	struct job *j;
	uint32_t n = 0;

	assert_non_null(p);
	assert_int_equal(pool_jobs(p), workers);
	assert_null(pool_wait(p, -1)); /* nothing to wait for */
	for (int i = 0; i < JOBS; i++) {
		jobs[i] = (struct job){.pool = p, .workers = workers};
		pool_submit(p, work, &jobs[i]);
	}
	assert_int_equal(pool_pending(p), JOBS);
	while ((j = pool_wait(p, -1))) {
		assert_int_equal(j->runs, 1); /* what the job wrote is seen here */
		assert_int_equal(j->returned++, 0);
		n++;
	}
	assert_int_equal(n, JOBS);
	assert_int_equal(pool_pending(p), 0);
	pool_free(p);
}

static void one_worker(void **state)
{
	(void)state;
	run_all(1);
}

static void eight_workers(void **state)
{
	(void)state;
	run_all(8);
}

static void jobs_submit_jobs(void **state)
{
	(void)state;
	for (uint32_t workers = 1; workers <= 8; workers += 7) {
		struct pool *p = pool_new(workers);
		struct job leaves[50], root = {.pool = p, .workers = workers, .more = 50, .next = leaves};
		uint32_t n = 0;

		for (int i = 0; i < 50; i++)
			leaves[i] = (struct job){.pool = p, .workers = workers};
		pool_submit(p, work, &root);
		while (pool_wait(p, -1))
			n++;
		assert_int_equal(n, 51);
		pool_free(p);
	}
}

static void inline_order(void **state)
{
	struct pool *p = pool_new(1);
	struct job jobs[10];

	(void)state;
	for (int i = 0; i < 10; i++) {
		jobs[i] = (struct job){.pool = p, .workers = 1};
		pool_submit(p, work, &jobs[i]);
		assert_int_equal(jobs[i].runs, 0); /* only pool_wait runs it */
	}
	for (int i = 0; i < 10; i++)
		assert_ptr_equal(pool_wait(p, 0), &jobs[i]);
	pool_free(p);
}

static atomic_bool gate;

static void wait_for_gate(void *arg, uint32_t worker)
{
	(void)worker;
	while (!atomic_load(&gate))
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	*(int *)arg = 1;
}

static void timeout(void **state)
{
	struct pool *p = pool_new(2);
	int done = 0;

	(void)state;
	atomic_store(&gate, false);
	pool_submit(p, wait_for_gate, &done);
	assert_null(pool_wait(p, 0));
	assert_null(pool_wait(p, 20));
	assert_int_equal(pool_pending(p), 1);
	atomic_store(&gate, true);
	assert_ptr_equal(pool_wait(p, 1000000), &done);
	assert_int_equal(done, 1);
	pool_free(p);
}

/* Freeing waits for what runs, and drops what does not. */
static void free_while_busy(void **state)
{
	(void)state;
	for (int round = 0; round < 20; round++) {
		struct pool *p = pool_new(4);
		int done[100] = {0};

		atomic_store(&gate, true);
		for (int i = 0; i < 100; i++)
			pool_submit(p, wait_for_gate, &done[i]);
		pool_free(p);
	}
	pool_free(NULL);
}

static void free_with_queued_inline(void **state)
{
	struct pool *p = pool_new(1);
	int done = 0;

	(void)state;
	pool_submit(p, wait_for_gate, &done);
	pool_free(p);
	assert_int_equal(done, 0);
}

static void look_at_mask(void *arg, uint32_t worker)
{
	(void)worker;
	pthread_sigmask(SIG_BLOCK, NULL, arg);
}

static void faults_of_workers_reach_their_handler(void **state)
{
	struct pool *p = pool_new(2);
	sigset_t mask;

	(void)state;
	pool_submit(p, look_at_mask, &mask);
	while (!pool_wait(p, 1000))
		continue;
	pool_free(p);
	assert_false(sigismember(&mask, SIGSEGV));
	assert_false(sigismember(&mask, SIGBUS));
	assert_true(sigismember(&mask, SIGINT));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_worker),
		cmocka_unit_test(eight_workers),
		cmocka_unit_test(jobs_submit_jobs),
		cmocka_unit_test(inline_order),
		cmocka_unit_test(timeout),
		cmocka_unit_test(free_while_busy),
		cmocka_unit_test(free_with_queued_inline),
		cmocka_unit_test(faults_of_workers_reach_their_handler),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
