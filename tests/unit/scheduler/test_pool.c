#include "scheduler/pool.h"
#include "tests/unit/unit.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "scheduler/cancel.h"

enum { JOBS = 2000 };

struct job {
	struct pool *pool;
	uint32_t workers; /* of the pool */
	int runs, returned;
	int more; /* jobs to submit in turn */
	struct job *next;
};
static atomic_int running[8];

static bool work(void *arg, struct task_run *run)
{
	struct job *j = arg;

	assert_true(run->worker < j->workers);
	assert_int_equal(atomic_fetch_add(&running[run->worker], 1), 0); /* one job at a time per worker */
	j->runs++;
	for (int i = 0; i < j->more; i++)
		pool_submit(j->pool, &(struct task_spec){.run = work, .arg = &j->next[i]});
	atomic_fetch_sub(&running[run->worker], 1);
	return true;
}

static void submit(struct pool *p, task_fn *fn, void *arg) { pool_submit(p, &(struct task_spec){.run = fn, .arg = arg}); }

static void run_all(uint32_t workers)
{
	static struct job jobs[JOBS];
	struct pool *p = pool_new(workers, NULL);
	struct task_result r;
	uint32_t n = 0;

	assert_non_null(p);
	assert_int_equal(pool_jobs(p), workers);
	assert_false(pool_wait(p, -1, &r)); /* nothing to wait for */
	for (int i = 0; i < JOBS; i++) {
		jobs[i] = (struct job){.pool = p, .workers = workers};
		submit(p, work, &jobs[i]);
	}
	assert_int_equal(pool_pending(p), JOBS);
	while (pool_wait(p, -1, &r)) {
		struct job *j = r.arg;

		assert_int_equal(r.end, TASK_DONE);
		assert_true(r.wall_ns >= 0 && r.began > 0);
		assert_int_equal(j->runs, 1); /* what the job wrote is seen here */
		assert_int_equal(j->returned++, 0);
		n++;
	}
	assert_int_equal(n, JOBS);
	assert_int_equal(pool_pending(p), 0);
	pool_free(p);
}

static void one_worker(void **state) { run_all(1); }

static void eight_workers(void **state) { run_all(8); }

static void jobs_submit_jobs(void **state)
{
	for (uint32_t workers = 1; workers <= 8; workers += 7) {
		struct pool *p = pool_new(workers, NULL);
		struct job leaves[50], root = {.pool = p, .workers = workers, .more = 50, .next = leaves};
		struct task_result r;
		uint32_t n = 0;

		for (int i = 0; i < 50; i++)
			leaves[i] = (struct job){.pool = p, .workers = workers};
		submit(p, work, &root);
		while (pool_wait(p, -1, &r))
			n++;
		assert_int_equal(n, 51);
		pool_free(p);
	}
}

static void inline_order(void **state)
{
	struct pool *p = pool_new(1, NULL);
	struct task_result r;
	struct job jobs[10];

	for (int i = 0; i < 10; i++) {
		jobs[i] = (struct job){.pool = p, .workers = 1};
		submit(p, work, &jobs[i]);
		assert_int_equal(jobs[i].runs, 0); /* only pool_wait runs it */
	}
	for (int i = 0; i < 10; i++) {
		assert_true(pool_wait(p, 0, &r));
		assert_ptr_equal(r.arg, &jobs[i]);
	}
	pool_free(p);
}

static void urgent_first(void **state)
{
	struct pool *p = pool_new(1, NULL);
	struct job jobs[5] = {{0}};
	static const uint64_t costs[] = {1000, 10000000, 5000000, 50000000, 10000000};
	static const int order[] = {2, 3, 1, 4, 0}; /* 2 comes before 3 */
	struct batch *b = pool_new_batch(p);
	struct task *t[5];
	struct task_result r;

	for (int i = 0; i < 5; i++) {
		jobs[i] = (struct job){.pool = p, .workers = 1};
		t[i] = batch_add(b, &(struct task_spec){.run = work, .arg = &jobs[i], .cost_ns = costs[i]});
	}
	batch_need(b, t[3], t[2]);
	batch_submit(b);
	for (int i = 0; i < 5; i++) {
		assert_true(pool_wait(p, -1, &r));
		assert_ptr_equal(r.arg, &jobs[order[i]]);
	}
	pool_free(p);
}

static atomic_bool opened;

static bool wait_until_opened(void *arg, struct task_run *run)
{
	(void)run;
	while (!atomic_load(&opened))
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	*(int *)arg = 1;
	return true;
}

static void timeout(void **state)
{
	struct pool *p = pool_new(2, NULL);
	struct task_result r;
	int done = 0;

	atomic_store(&opened, false);
	submit(p, wait_until_opened, &done);
	assert_false(pool_wait(p, 0, &r));
	assert_false(pool_wait(p, 20, &r));
	assert_int_equal(pool_pending(p), 1);
	atomic_store(&opened, true);
	assert_true(pool_wait(p, 1000000, &r));
	assert_ptr_equal(r.arg, &done);
	assert_int_equal(done, 1);
	pool_free(p);
}

/* Freeing waits for what runs, and drops what does not. */
static void free_while_busy(void **state)
{
	for (int round = 0; round < 20; round++) {
		struct pool *p = pool_new(4, NULL);
		int done[100] = {0};

		atomic_store(&opened, true);
		for (int i = 0; i < 100; i++)
			submit(p, wait_until_opened, &done[i]);
		pool_free(p);
	}
	pool_free(NULL);
}

static void free_with_queued_inline(void **state)
{
	struct pool *p = pool_new(1, NULL);
	int done = 0;

	submit(p, wait_until_opened, &done);
	pool_free(p);
	assert_int_equal(done, 0);
}

static bool look_at_mask(void *arg, struct task_run *run)
{
	(void)run;
	pthread_sigmask(SIG_BLOCK, NULL, arg);
	return true;
}

static void faults_of_workers_reach_their_handler(void **state)
{
	struct pool *p = pool_new(2, NULL);
	struct task_result r;
	sigset_t mask;

	submit(p, look_at_mask, &mask);
	assert_true(pool_wait(p, -1, &r));
	pool_free(p);
	assert_false(sigismember(&mask, SIGSEGV));
	assert_false(sigismember(&mask, SIGBUS));
	assert_true(sigismember(&mask, SIGINT));
}

/* ---- failures and memory ---- */

static bool always_fails(void *arg, struct task_run *run)
{
	(void)run;
	++*(int *)arg;
	return false;
}

static void so_many_failures(void **state)
{
	for (uint32_t most = 0; most < 4; most++) {
		struct pool *p = pool_new(1, NULL);
		struct cancel c = {.most_failures = most};
		struct task_result r;
		int ran = 0, cancels = 0;

		for (int i = 0; i < 10; i++)
			pool_submit(p, &(struct task_spec){.run = always_fails, .arg = &ran, .cancel = &c});
		while (pool_wait(p, -1, &r))
			cancels += r.end == TASK_CANCELLED;
		assert_int_equal(ran, most ? (int)most : 10);
		assert_int_equal(ran + cancels, 10);
		pool_free(p);
	}
}

struct hog {
	_Atomic int *now;
	int together; /* most that ran at once while it did */
};

static bool use_memory(void *arg, struct task_run *run)
{
	struct hog *h = arg;

	(void)run;
	h->together = atomic_fetch_add(h->now, 1) + 1;
	nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL); /* others may begin meanwhile */
	atomic_fetch_sub(h->now, 1);
	return true;
}

/* One that is larger than the budget runs, alone, and is not passed for ever by the small ones. */
static void large_tasks_have_their_turn(void **state)
{
	struct pool *p = pool_new(4, &(struct pool_limits){.memory = 100});
	_Atomic int now = 0;
	struct hog hogs[40];
	struct task_result r;
	int after = 0;
	bool large_ended = false;

	for (int i = 0; i < 40; i++) {
		hogs[i] = (struct hog){&now, 0};
		pool_submit(p, &(struct task_spec){.run = use_memory, .arg = &hogs[i], .memory = i == 2 ? 1000 : 30, .cost_ns = 1000000});
	}
	while (pool_wait(p, -1, &r)) {
		after += large_ended;
		large_ended |= r.arg == &hogs[2];
	}
	pool_free(p);
	assert_int_equal(hogs[2].together, 1);
	assert_true(after >= 20); /* it had its turn long before the end */
	for (int i = 0; i < 40; i++)
		assert_true(hogs[i].together <= 3);
}

struct watcher {
	struct pool *pool;
	enum idle_reason reason;
};

/* Runs until another worker is idle for the reason. */
static bool see_idle(void *arg, struct task_run *run)
{
	const struct watcher *w = arg;
	while (pool_idle(w->pool).ns[w->reason] <= 0)
		nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
	return true;
}

static bool do_nothing(void *arg, struct task_run *run) { return true; }

static void idle_by_reason(void **state)
{
	struct pool *p = pool_new(2, &(struct pool_limits){.memory = 100});
	struct watcher w = {p, IDLE_MEMORY};
	struct task_result r;
	submit(p, see_idle, &(struct watcher){p, IDLE_INPUTS});
	while (pool_wait(p, -1, &r))
		;
	assert_int_equal(pool_idle(p).ns[IDLE_MEMORY], 0);
	pool_submit(p, &(struct task_spec){.run = see_idle, .arg = &w, .memory = 90, .cost_ns = 1000});
	pool_submit(p, &(struct task_spec){.run = do_nothing, .memory = 90});
	while (pool_wait(p, -1, &r))
		;
	struct pool_idle idle = pool_idle(p);
	assert_true(idle.ns[IDLE_INPUTS] > 0 && idle.ns[IDLE_MEMORY] > 0);
	assert_int_equal(idle.ns[IDLE_LOAD], 0);
	assert_int_equal(idle.ns[IDLE_TOKEN], 0);
	pool_free(p);
}

int test_pool(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_worker),
		cmocka_unit_test(eight_workers),
		cmocka_unit_test(jobs_submit_jobs),
		cmocka_unit_test(inline_order),
		cmocka_unit_test(urgent_first),
		cmocka_unit_test(timeout),
		cmocka_unit_test(free_while_busy),
		cmocka_unit_test(free_with_queued_inline),
		cmocka_unit_test(faults_of_workers_reach_their_handler),
		cmocka_unit_test(so_many_failures),
		cmocka_unit_test(large_tasks_have_their_turn),
		cmocka_unit_test(idle_by_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
