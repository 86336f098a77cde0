#include "scheduler/graph.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include "base/arena.h"

static uint32_t rng(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

struct fixture {
	struct batch b;
	struct task *ready; /* as a list */
};

static struct fixture *begin(void)
{
	struct arena *a = arena_new(0);
	struct fixture *f = ARENA_NEW(a, struct fixture);

	f->b.a = a;
	return f;
}

static void finish(struct fixture *f)
{
	struct arena *a = f->b.a;

	graph_free(&f->b);
	arena_free(a);
}

static struct task *add(struct fixture *f, uint64_t cost) { return graph_add(&f->b, &(struct task_spec){.cost_ns = cost, .arg = f}); }

static void submit(struct fixture *f)
{
	struct task_cycle cycle;

	assert_true(graph_rank(&f->b, &cycle));
	f->ready = graph_submit(&f->b);
}

static uint32_t length(const struct task *list)
{
	uint32_t n = 0;

	for (; list; list = list->next)
		n++;
	return n;
}

static void ranks_are_the_longest_way(void **state)
{
	struct fixture *f = begin();
	struct task *chain = add(f, 5), *dear = add(f, 10), *after = add(f, 50), *last = add(f, 7), *huge = add(f, UINT64_MAX),
		    *more = add(f, 1);

	(void)state;
	graph_need(&f->b, after, chain);
	graph_need(&f->b, after, chain); /* twice does no harm */
	graph_need(&f->b, last, after);
	graph_need(&f->b, last, dear);
	graph_need(&f->b, huge, more);
	submit(f);
	assert_int_equal(last->rank, 7);
	assert_int_equal(after->rank, 57);
	assert_int_equal(chain->rank, 62);
	assert_int_equal(dear->rank, 17);
	assert_int_equal(more->rank, UINT64_MAX); /* not 0 */
	assert_int_equal(length(f->ready), 3);
	assert_ptr_equal(f->ready, chain); /* in the order in which they were added */
	f->ready = graph_end(chain, true);
	assert_ptr_equal(f->ready, after);
	assert_null(f->ready->next);
	finish(f);
}

static void failure_poisons_those_that_need_it(void **state)
{
	struct fixture *f = begin();
	struct task *bad = add(f, 1), *good = add(f, 1), *both = add(f, 1), *other = add(f, 1);

	(void)state;
	graph_need(&f->b, both, bad);
	graph_need(&f->b, both, good);
	graph_need(&f->b, other, good);
	submit(f);
	assert_null(graph_end(bad, false)); /* `both` waits for its other input */
	f->ready = graph_end(good, true);
	assert_int_equal(length(f->ready), 2);
	assert_true(atomic_load(&both->poisoned));
	assert_false(atomic_load(&other->poisoned));
	finish(f);
}

/* A second batch: inputs that have ended already, well or not, and an input for a task of the first. */
static void later_batches(void **state)
{
	struct fixture *f = begin();
	struct task *good = add(f, 3), *bad = add(f, 3), *run = add(f, 4), *end = add(f, 100), *late, *after_good, *after_bad;

	(void)state;
	graph_need(&f->b, end, run);
	submit(f);
	graph_end(good, true);
	graph_end(bad, false);
	late = add(f, 10);
	after_good = add(f, 1);
	after_bad = add(f, 1);
	graph_need(&f->b, end, late);
	graph_need(&f->b, after_good, good);
	graph_need(&f->b, after_bad, bad);
	submit(f);
	assert_int_equal(late->rank, 110);
	assert_int_equal(length(f->ready), 3);
	assert_false(atomic_load(&after_good->poisoned));
	assert_true(atomic_load(&after_bad->poisoned));
	assert_null(graph_end(run, true)); /* `end` needs `late` now */
	assert_ptr_equal(graph_end(late, true), end);
	finish(f);
}

static void check_cycle(uint32_t n_tasks, const uint32_t (*edges)[2], uint32_t n_edges, const uint32_t *expect, uint32_t n_expect)
{
	struct fixture *f = begin();
	int args[8];
	struct task *t[8];
	struct task_cycle cycle;

	for (uint32_t i = 0; i < n_tasks; i++)
		t[i] = graph_add(&f->b, &(struct task_spec){.arg = &args[i]});
	for (uint32_t i = 0; i < n_edges; i++)
		graph_need(&f->b, t[edges[i][0]], t[edges[i][1]]);
	assert_false(graph_rank(&f->b, &cycle));
	assert_int_equal(cycle.n, n_expect);
	for (uint32_t i = 0; i < cycle.n; i++)
		assert_ptr_equal(cycle.args[i], &args[expect[i]]);
	free(cycle.args);
	finish(f);
}

static void cycles(void **state)
{
	(void)state;
	check_cycle(1, (const uint32_t[][2]){{0, 0}}, 1, (const uint32_t[]){0}, 1);
	check_cycle(3, (const uint32_t[][2]){{2, 1}, {1, 2}, {0, 1}}, 3, (const uint32_t[]){1, 2}, 2);
	/* 0 needs the cycle 1 -> 3 -> 2; 4 feeds it. */
	check_cycle(5, (const uint32_t[][2]){{0, 1}, {1, 3}, {3, 2}, {2, 1}, {2, 4}}, 5, (const uint32_t[]){1, 3, 2}, 3);
}

/* Any directed graph: either all of it runs, or what is reported is a cycle. */
static void random_cycles(void **state)
{
	enum { N = 20 };
	uint32_t seed = 7, found = 0;

	(void)state;
	for (int round = 0; round < 500; round++) {
		bool needs[N][N] = {{false}};
		struct fixture *f = begin();
		struct task *t[N];
		int args[N];
		struct task_cycle cycle;
		uint32_t edges = rng(&seed) % 40;

		for (int i = 0; i < N; i++)
			t[i] = graph_add(&f->b, &(struct task_spec){.arg = &args[i]});
		for (uint32_t i = 0; i < edges; i++) {
			uint32_t a = rng(&seed) % N, b = rng(&seed) % N;

			needs[a][b] = true;
			graph_need(&f->b, t[a], t[b]);
		}
		if (!graph_rank(&f->b, &cycle)) {
			found++;
			for (uint32_t i = 0; i < cycle.n; i++) {
				int *task = cycle.args[i], *input = cycle.args[(i + 1) % cycle.n];

				assert_true(needs[task - args][input - args]);
				assert_true(cycle.args[i] >= cycle.args[0]);
			}
			free(cycle.args);
		} else {
			uint32_t ran = 0;

			for (struct task *list = graph_submit(&f->b), *now; (now = list); ran++) {
				struct task **end = &list;

				list = now->next;
				while (*end)
					end = &(*end)->next;
				*end = graph_end(now, true);
			}
			assert_int_equal(ran, N);
		}
		finish(f);
	}
	assert_true(found > 100 && found < 400);
}

/* A long chain and a wide fan: no recursion, no quadratic work. */
static void large(void **state)
{
	enum { N = 200000 };
	struct fixture *f = begin();
	struct task **t = calloc(N, sizeof *t);
	uint32_t ran = 0;

	(void)state;
	assert_non_null(t);
	for (uint32_t i = 0; i < N; i++) {
		t[i] = add(f, i % 3);
		if (i > 0)
			graph_need(&f->b, t[i], t[i < N / 2 ? i - 1 : 0]);
	}
	submit(f);
	for (struct task *list = f->ready, *now; (now = list); ran++) {
		struct task *more;

		list = now->next;
		more = graph_end(now, true);
		for (struct task *next; more; more = next) {
			next = more->next;
			more->next = list;
			list = more;
		}
	}
	assert_int_equal(ran, N);
	free(t);
	finish(f);
}

int test_graph(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_are_the_longest_way),
		cmocka_unit_test(failure_poisons_those_that_need_it),
		cmocka_unit_test(later_batches),
		cmocka_unit_test(cycles),
		cmocka_unit_test(random_cycles),
		cmocka_unit_test(large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
