#include "scheduler/ready_queue.h"
#include "tests/unit/unit.h"
#include "scheduler/graph.h"

/* The highest rank first, and the oldest at equal ranks, however pushes and pops alternate. */
static void order(void **state)
{
	enum { TASKS = 500 };
	static struct task tasks[TASKS];
	struct ready_queue q = {0};
	uint32_t seed = 1, pushed = 0, waiting = 0;

	assert_null(ready_queue_pop(&q));
	while (pushed < TASKS || waiting > 0) {
		seed = seed * 1664525u + 1013904223u;
		if (pushed < TASKS && (waiting == 0 || seed >> 31)) {
			tasks[pushed].rank = (seed >> 8) % 20;
			tasks[pushed].waits = 1; /* here: in the queue */
			ready_queue_push(&q, &tasks[pushed++]);
			waiting++;
			continue;
		}
		struct task *t = ready_queue_pop(&q);

		assert_non_null(t);
		t->waits = 0;
		waiting--;
		for (uint32_t i = 0; i < pushed; i++)
			if (tasks[i].waits)
				assert_true(tasks[i].rank < t->rank || (tasks[i].rank == t->rank && &tasks[i] > t));
	}
	assert_null(ready_queue_pop(&q));
	vec_free(&q.heap);
}

int test_ready_queue(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(order)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
