#include "scheduler/graph.h"
#include "tests/unit/unit.h"
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

static void finish(struct fixture *f) { arena_free(f->b.a); }

static struct task *add(struct fixture *f, uint64_t cost) { return graph_add(&f->b, &(struct task_spec){.cost_ns = cost, .arg = f}); }

static void submit(struct fixture *f) { f->ready = graph_link(&f->b); }

static uint32_t length(const struct task *list)
{
	uint32_t n = 0;

	for (; list; list = list->next)
		n++;
	return n;
}

static void ranks_are_the_longest_path(void **state)
{
	struct fixture *f = begin();
	struct task *chain = add(f, 5), *dear = add(f, 10), *after = add(f, 50), *last = add(f, 7), *huge = add(f, UINT64_MAX),
		    *more = add(f, 1);

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

static void failure_poisons_the_users(void **state)
{
	struct fixture *f = begin();
	struct task *bad = add(f, 1), *good = add(f, 1), *both = add(f, 1), *other = add(f, 1);

	graph_need(&f->b, both, bad);
	graph_need(&f->b, both, good);
	graph_need(&f->b, other, good);
	submit(f);
	assert_null(graph_end(bad, false)); /* `both` waits for its other input */
	f->ready = graph_end(good, true);
	assert_int_equal(length(f->ready), 2);
	assert_true(both->poisoned);
	assert_false(other->poisoned);
	finish(f);
}

/* Any acyclic graph, added in any order: each task becomes ready once, after its inputs, and has a higher rank than its users. */
static void random_graphs(void **state)
{
	enum { N = 20 };
	uint32_t seed = 7;

	for (int round = 0; round < 500; round++) {
		bool needs[N][N] = {{false}}, ended[N] = {false};
		struct fixture *f = begin();
		struct task *t[N];
		uint32_t level[N], args[N], ran = 0;

		for (uint32_t i = 0; i < N; i++) {
			args[i] = i;
			level[i] = rng(&seed) % N;
			t[i] = graph_add(&f->b, &(struct task_spec){.arg = &args[i], .cost_ns = 1});
		}
		for (uint32_t i = rng(&seed) % 60; i > 0; i--) {
			uint32_t task = rng(&seed) % N, input = rng(&seed) % N;

			if (level[task] <= level[input])
				continue;
			needs[task][input] = true;
			graph_need(&f->b, t[task], t[input]);
		}
		submit(f);
		for (struct task *list = f->ready, *now; (now = list); ran++) {
			struct task **end = &list;
			uint32_t i = *(uint32_t *)now->spec.arg;

			assert_false(ended[i]);
			ended[i] = true;
			for (uint32_t k = 0; k < N; k++)
				if (needs[i][k])
					assert_true(ended[k] && t[k]->rank > now->rank);
			list = now->next;
			while (*end)
				end = &(*end)->next;
			*end = graph_end(now, true);
		}
		assert_int_equal(ran, N);
		finish(f);
	}
}

/* A long chain and a wide fan: no recursion, no quadratic work. */
static void large(void **state)
{
	enum { N = 200000 };
	struct fixture *f = begin();
	struct task **t = calloc(N, sizeof *t);
	uint32_t ran = 0;

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
		cmocka_unit_test(ranks_are_the_longest_path),
		cmocka_unit_test(failure_poisons_the_users),
		cmocka_unit_test(random_graphs),
		cmocka_unit_test(large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
