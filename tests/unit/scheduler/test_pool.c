#include "scheduler/pool.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "scheduler/cancel.h"

#if defined(__SANITIZE_THREAD__)
#define ROUNDS 300
#else
#define ROUNDS 2000
#endif

static uint32_t rng(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

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

	(void)state;
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

	(void)state;
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

	(void)state;
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
	(void)state;
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

	(void)state;
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

	(void)state;
	submit(p, look_at_mask, &mask);
	assert_true(pool_wait(p, -1, &r));
	pool_free(p);
	assert_false(sigismember(&mask, SIGSEGV));
	assert_false(sigismember(&mask, SIGBUS));
	assert_true(sigismember(&mask, SIGINT));
}

/* ---- random graphs: whatever fails, is cancelled, is added or held for memory, every task ends once, and in the right way ---- */

enum { MOST = 48, MOST_ADDED = 16 };

struct storm;
struct node {
	struct storm *s;
	uint32_t id, spin;
	bool fails, adds; /* adds: submits tasks of its own */
	atomic_int runs;
	int ends;
	enum task_end end;
	struct task *task;
};
struct storm {
	struct pool *pool;
	struct cancel cancel;
	struct node nodes[MOST + MOST_ADDED];
	bool needs[MOST][MOST];
	uint32_t n, n_added; /* of the first batch; by the one node that adds */
	uint64_t budget;
	_Atomic uint64_t memory;
	uint32_t seed;
};

static uint64_t memory_of(const struct node *n) { return n->s->budget ? n->id * 37 % 100 : 0; }

static bool run_node(void *arg, struct task_run *run);

static struct task_spec spec_of(struct node *n)
{
	return (struct task_spec){.run = run_node, .arg = n, .cost_ns = n->spin * 1000ull, .memory = memory_of(n), .cancel = &n->s->cancel};
}

static void add_more(struct storm *s)
{
	struct batch *b = pool_new_batch(s->pool);

	for (uint32_t i = 0; i < s->n_added; i++) {
		struct node *n = &s->nodes[s->n + i];
		struct task_spec spec = spec_of(n);

		n->task = batch_add(b, &spec);
		if (i > 0)
			batch_need(b, n->task, s->nodes[s->n + i / 2].task);
	}
	batch_submit(b);
}

static bool run_node(void *arg, struct task_run *run)
{
	struct node *n = arg;
	struct storm *s = n->s;
	uint64_t mine = memory_of(n), together = atomic_fetch_add(&s->memory, mine) + mine;

	assert_int_equal(atomic_fetch_add(&n->runs, 1), 0);
	assert_true(s->budget == 0 || together <= s->budget || together == mine);
	if (n->id < s->n)
		for (uint32_t i = 0; i < s->n; i++)
			if (s->needs[n->id][i])
				assert_int_equal(atomic_load(&s->nodes[i].runs), 1);
	for (volatile uint32_t i = 0; i < n->spin && !cancelled(run->cancel); i++)
		continue;
	if (n->adds)
		add_more(s);
	run->memory = n->id;
	atomic_fetch_sub(&s->memory, mine);
	return !n->fails;
}

static void make_nodes(struct storm *s)
{
	uint32_t failures = rng(&s->seed) % 3;

	s->n = 2 + rng(&s->seed) % (MOST - 1);
	s->n_added = rng(&s->seed) % MOST_ADDED;
	for (uint32_t i = 0; i < s->n + s->n_added; i++) {
		s->nodes[i] = (struct node){.s = s, .id = i, .spin = rng(&s->seed) % 2000};
		s->nodes[i].fails = failures > 0 && rng(&s->seed) % 20 < failures;
	}
	s->nodes[rng(&s->seed) % (s->n - 1)].adds = s->n_added > 0;
}

static void make_edges(struct storm *s, struct batch *b)
{
	for (uint32_t i = 0; i < s->n; i++)
		for (uint32_t k = 0; k < i; k++)
			if (rng(&s->seed) % 8 == 0) {
				s->needs[i][k] = true;
				batch_need(b, s->nodes[i].task, s->nodes[k].task);
			}
}

static void submit_storm(struct storm *s)
{
	struct batch *b = pool_new_batch(s->pool);

	make_nodes(s);
	for (uint32_t i = 0; i < s->n; i++) {
		struct task_spec spec = spec_of(&s->nodes[i]);

		s->nodes[i].task = batch_add(b, &spec);
	}
	make_edges(s, b);
	batch_submit(b);
}

/* `when`: after so many ends the rest is cancelled. Returns the number of ends. */
static uint32_t drain(struct storm *s, uint32_t when)
{
	struct task_result r;
	uint32_t ends = 0;

	while (pool_wait(s->pool, -1, &r)) {
		struct node *n = r.arg;

		assert_int_equal(n->ends++, 0);
		n->end = r.end;
		if (r.end <= TASK_FAILED)
			assert_int_equal(r.memory, n->id);
		if (++ends == when)
			cancel_set(&s->cancel);
	}
	return ends;
}

static void check_ends(const struct storm *s, uint32_t ends)
{
	bool added = false;

	for (uint32_t i = 0; i < s->n + s->n_added; i++) {
		const struct node *n = &s->nodes[i];
		bool spoilt = false;

		for (uint32_t k = 0; i < s->n && k < s->n; k++)
			spoilt |= s->needs[i][k] && s->nodes[k].end != TASK_DONE;
		added |= n->adds && n->end <= TASK_FAILED;
		if (i >= s->n && !added) {
			assert_int_equal(n->ends, 0);
			continue;
		}
		assert_int_equal(n->ends, 1);
		assert_int_equal(atomic_load(&n->runs), n->end <= TASK_FAILED);
		if (n->end <= TASK_FAILED)
			assert_int_equal(n->end, n->fails ? TASK_FAILED : TASK_DONE);
		if (n->end == TASK_CANCELLED)
			assert_true(cancelled(&s->cancel));
		if (spoilt)
			assert_int_equal(n->end, TASK_SKIPPED);
		else if (i < s->n && !cancelled(&s->cancel))
			assert_true(n->end <= TASK_FAILED);
	}
	assert_int_equal(ends, s->n + (added ? s->n_added : 0));
}

static void storms(uint32_t jobs, uint64_t budget, uint32_t rounds)
{
	struct pool_limits limits = {.memory = budget};
	struct pool *p = pool_new(jobs, &limits);
	static struct storm s;

	assert_non_null(p);
	for (uint32_t round = 0; round < rounds; round++) {
		uint32_t when = UINT32_MAX, ends;

		memset(&s, 0, sizeof s);
		s.pool = p;
		s.budget = budget;
		s.seed = jobs * 1000000 + round;
		if (rng(&s.seed) % 3 == 0)
			when = rng(&s.seed) % MOST;
		s.cancel.most_failures = rng(&s.seed) % 3;
		if (when == 0)
			cancel_set(&s.cancel);
		submit_storm(&s);
		ends = drain(&s, when);
		check_ends(&s, ends);
	}
	pool_free(p);
}

static void random_graphs_inline(void **state)
{
	(void)state;
	storms(1, 0, ROUNDS / 4);
	storms(1, 120, ROUNDS / 4);
}

static void random_graphs_on_threads(void **state)
{
	(void)state;
	storms(2, 0, ROUNDS);
	storms(3, 0, ROUNDS);
	storms(8, 0, ROUNDS);
}

static void random_graphs_with_little_memory(void **state)
{
	(void)state;
	storms(2, 120, ROUNDS);
	storms(4, 150, ROUNDS);
	storms(8, 99, ROUNDS);
}

/* A pool that is freed at a random moment of a random graph. */
static void freed_at_random_moments(void **state)
{
	static struct storm s;

	(void)state;
	for (uint32_t round = 0; round < ROUNDS / 4; round++) {
		struct task_result r;

		memset(&s, 0, sizeof s);
		s.pool = pool_new(3, NULL);
		s.seed = round;
		submit_storm(&s);
		for (uint32_t i = rng(&s.seed) % MOST; i > 0 && pool_wait(s.pool, -1, &r); i--)
			continue;
		pool_free(s.pool);
	}
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
	(void)state;
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
	nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
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

	(void)state;
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
		cmocka_unit_test(random_graphs_inline),
		cmocka_unit_test(random_graphs_on_threads),
		cmocka_unit_test(random_graphs_with_little_memory),
		cmocka_unit_test(freed_at_random_moments),
		cmocka_unit_test(so_many_failures),
		cmocka_unit_test(large_tasks_have_their_turn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
