/* Random graphs on a pool: whatever fails, is cancelled, is added or held for memory, every task ends once, and in the right way. */
#include "scheduler/pool.h"
#include "tests/unit/unit.h"
#include <stdatomic.h>
#include <string.h>
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

enum { MOST = 48, MOST_ADDED = 16 };

struct run;
struct node {
	struct run *s;
	uint32_t id, spin;
	bool fails, adds; /* adds: submits tasks of its own */
	atomic_int runs;
	int ends;
	enum task_end end;
	struct task *task;
};
struct run {
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

static void add_more(struct run *s)
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
	struct run *s = n->s;
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

static void make_nodes(struct run *s)
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

static void make_edges(struct run *s, struct batch *b)
{
	for (uint32_t i = 0; i < s->n; i++)
		for (uint32_t k = 0; k < i; k++)
			if (rng(&s->seed) % 8 == 0) {
				s->needs[i][k] = true;
				batch_need(b, s->nodes[i].task, s->nodes[k].task);
			}
}

static void submit_run(struct run *s)
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
static uint32_t drain(struct run *s, uint32_t when)
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

static void check_ends(const struct run *s, uint32_t ends)
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

static void run_graphs(uint32_t jobs, uint64_t budget, uint32_t rounds)
{
	struct pool_limits limits = {.memory = budget};
	struct pool *p = pool_new(jobs, &limits);
	static struct run s;

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
		submit_run(&s);
		ends = drain(&s, when);
		check_ends(&s, ends);
	}
	pool_free(p);
}

static void random_graphs_inline(void **state)
{
	run_graphs(1, 0, ROUNDS / 4);
	run_graphs(1, 120, ROUNDS / 4);
}

static void random_graphs_on_threads(void **state)
{
	run_graphs(2, 0, ROUNDS);
	run_graphs(3, 0, ROUNDS);
	run_graphs(8, 0, ROUNDS);
}

static void random_graphs_with_little_memory(void **state)
{
	run_graphs(2, 120, ROUNDS);
	run_graphs(4, 150, ROUNDS);
	run_graphs(8, 99, ROUNDS);
}

/* A pool that is freed at a random moment of a random graph. */
static void freed_at_random_moments(void **state)
{
	static struct run s;

	for (uint32_t round = 0; round < ROUNDS / 4; round++) {
		struct task_result r;

		memset(&s, 0, sizeof s);
		s.pool = pool_new(3, NULL);
		s.seed = round;
		submit_run(&s);
		for (uint32_t i = rng(&s.seed) % MOST; i > 0 && pool_wait(s.pool, -1, &r); i--)
			continue;
		pool_free(s.pool);
	}
}

int test_pool_random(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_graphs_inline),
		cmocka_unit_test(random_graphs_on_threads),
		cmocka_unit_test(random_graphs_with_little_memory),
		cmocka_unit_test(freed_at_random_moments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
