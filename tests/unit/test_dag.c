#include "scheduler/dag.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

static uint32_t rng(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

static void start(struct dag *d)
{
	const task_id *cycle;
	uint32_t n;

	assert_true(dag_start(d, &cycle, &n));
}

static void empty(void **state)
{
	struct dag *d = dag_new();

	(void)state;
	start(d);
	assert_int_equal(dag_next(d), TASK_NONE);
	assert_int_equal(dag_remaining(d), 0);
	dag_free(d);
	dag_free(NULL);
}

static void critical_path_first(void **state)
{
	struct dag *d = dag_new();
	int payload;
	task_id cheap = dag_add(d, NULL, 1), dear = dag_add(d, &payload, 10), chain = dag_add(d, NULL, 5), after = dag_add(d, NULL, 50);
	task_id twin = dag_add(d, NULL, 10);

	(void)state;
	dag_need(d, after, chain);
	dag_need(d, after, chain); /* twice does no harm */
	assert_int_equal(dag_remaining(d), 5);
	start(d);
	assert_ptr_equal(dag_payload(d, dear), &payload);
	assert_int_equal(dag_next(d), chain); /* 55 */
	assert_int_equal(dag_next(d), dear);  /* 10, and the lower id */
	assert_int_equal(dag_next(d), twin);
	assert_int_equal(dag_next(d), cheap);
	assert_int_equal(dag_next(d), TASK_NONE);
	dag_done(d, chain, true);
	assert_int_equal(dag_next(d), after);
	dag_done(d, after, false);
	dag_done(d, dear, true);
	dag_done(d, twin, true);
	assert_int_equal(dag_remaining(d), 1);
	dag_done(d, cheap, true);
	assert_int_equal(dag_remaining(d), 0);
	dag_free(d);
}

static void huge_costs_saturate(void **state)
{
	struct dag *d = dag_new();
	task_id a = dag_add(d, NULL, 7), b = dag_add(d, NULL, UINT64_MAX), c = dag_add(d, NULL, UINT64_MAX);

	(void)state;
	dag_need(d, c, b);
	start(d);
	assert_int_equal(dag_next(d), b);
	assert_int_equal(dag_next(d), a);
	dag_free(d);
}

static void check_cycle(uint32_t n_tasks, const task_id (*edges)[2], uint32_t n_edges, const task_id *expect, uint32_t n_expect)
{
	struct dag *d = dag_new();
	const task_id *cycle;
	uint32_t n;

	for (uint32_t i = 0; i < n_tasks; i++)
		dag_add(d, NULL, 1);
	for (uint32_t i = 0; i < n_edges; i++)
		dag_need(d, edges[i][0], edges[i][1]);
	assert_false(dag_start(d, &cycle, &n));
	assert_int_equal(n, n_expect);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(cycle[i], expect[i]);
	dag_free(d);
}

static void cycles(void **state)
{
	(void)state;
	check_cycle(1, (const task_id[][2]){{0, 0}}, 1, (const task_id[]){0}, 1);
	check_cycle(3, (const task_id[][2]){{2, 1}, {1, 2}, {0, 1}}, 3, (const task_id[]){1, 2}, 2);
	/* 0 needs the cycle 1 -> 3 -> 2; 4 feeds it. */
	check_cycle(5, (const task_id[][2]){{0, 1}, {1, 3}, {3, 2}, {2, 1}, {2, 4}}, 5, (const task_id[]){1, 3, 2}, 3);
}

enum { MOST = 60 };

struct random_graph {
	bool needs[MOST][MOST];
	uint32_t n;
};

static struct dag *random_dag(struct random_graph *g, uint32_t *seed)
{
	struct dag *d = dag_new();

	*g = (struct random_graph){.n = 1 + rng(seed) % MOST};
	for (uint32_t i = 0; i < g->n; i++)
		dag_add(d, NULL, rng(seed) % 5);
	for (uint32_t i = 0; i < g->n; i++)
		for (uint32_t j = 0; j < i; j++)
			if (rng(seed) % 6 == 0) {
				/* Edges against the ids' order as often as with it. */
				bool odd = g->n % 2;

				g->needs[odd ? j : i][odd ? i : j] = true;
				dag_need(d, odd ? j : i, odd ? i : j);
			}
	return d;
}

static bool reaches(const struct random_graph *g, const bool *failed, uint32_t t)
{
	for (uint32_t i = 0; i < g->n; i++)
		if (g->needs[t][i] && (failed[i] || reaches(g, failed, i)))
			return true;
	return false;
}

/* Runs with up to three tasks at once that end in any order; a tenth fail. */
static void run_random(uint32_t seed)
{
	struct random_graph g;
	struct dag *d = random_dag(&g, &seed);
	bool done[MOST] = {false}, failed[MOST] = {false}, begun[MOST] = {false};
	task_id running[3];
	uint32_t n = 0, skipped = 0;

	start(d);
	while (dag_remaining(d) > 0) {
		task_id t;
		uint32_t k;

		while (n < 3 && (t = dag_next(d)) != TASK_NONE) {
			assert_false(begun[t]);
			begun[t] = true;
			for (uint32_t i = 0; i < g.n; i++)
				assert_true(!g.needs[t][i] || done[i]);
			running[n++] = t;
		}
		assert_true(n > 0); /* or nothing would ever end */
		k = rng(&seed) % n;
		t = running[k];
		running[k] = running[--n];
		failed[t] = rng(&seed) % 10 == 0;
		done[t] = !failed[t];
		dag_done(d, t, done[t]);
	}
	assert_int_equal(n, 0);
	for (uint32_t t = 0; t < g.n; t++) {
		assert_int_equal(dag_skipped(d, t), reaches(&g, failed, t));
		assert_int_equal(begun[t], !dag_skipped(d, t));
		skipped += dag_skipped(d, t);
	}
	assert_true(skipped <= dag_count(d));
	dag_free(d);
}

static void random_graphs(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed <= 500; seed++)
		run_random(seed);
}

/* Any directed graph: either it starts, or what is reported is a cycle. */
static void random_cycles(void **state)
{
	uint32_t seed = 7, found = 0;

	(void)state;
	for (int round = 0; round < 500; round++) {
		bool needs[20][20] = {{false}};
		struct dag *d = dag_new();
		const task_id *cycle;
		uint32_t n, edges = rng(&seed) % 40;

		for (int i = 0; i < 20; i++)
			dag_add(d, NULL, 1);
		for (uint32_t i = 0; i < edges; i++) {
			task_id a = rng(&seed) % 20, b = rng(&seed) % 20;

			needs[a][b] = true;
			dag_need(d, a, b);
		}
		if (!dag_start(d, &cycle, &n)) {
			found++;
			for (uint32_t i = 0; i < n; i++) {
				assert_true(needs[cycle[i]][cycle[(i + 1) % n]]);
				assert_true(cycle[i] >= cycle[0]);
			}
		} else {
			uint32_t ran = 0;

			for (task_id t; (t = dag_next(d)) != TASK_NONE; ran++)
				dag_done(d, t, true);
			assert_int_equal(ran, 20);
		}
		dag_free(d);
	}
	assert_true(found > 100 && found < 400);
}

/* A long chain and a wide fan: no recursion, no quadratic work. */
static void large(void **state)
{
	enum { N = 200000 };
	struct dag *d = dag_new();
	uint32_t ran = 0;

	(void)state;
	for (task_id i = 0; i < N; i++) {
		dag_add(d, NULL, i % 3);
		if (i > 0)
			dag_need(d, i, i < N / 2 ? i - 1 : 0);
	}
	start(d);
	for (task_id t; (t = dag_next(d)) != TASK_NONE; ran++)
		dag_done(d, t, true);
	assert_int_equal(ran, N);
	dag_free(d);
}

static void failure_skips_a_long_chain(void **state)
{
	enum { N = 100000 };
	struct dag *d = dag_new();

	(void)state;
	for (task_id i = 0; i < N; i++) {
		dag_add(d, NULL, 1);
		if (i > 0)
			dag_need(d, i, i - 1);
	}
	start(d);
	dag_done(d, dag_next(d), false);
	assert_int_equal(dag_remaining(d), 0);
	assert_true(dag_skipped(d, N - 1));
	assert_false(dag_skipped(d, 0));
	dag_free(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty),
		cmocka_unit_test(critical_path_first),
		cmocka_unit_test(huge_costs_saturate),
		cmocka_unit_test(cycles),
		cmocka_unit_test(random_graphs),
		cmocka_unit_test(random_cycles),
		cmocka_unit_test(large),
		cmocka_unit_test(failure_skips_a_long_chain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
