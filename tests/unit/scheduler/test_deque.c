#include "scheduler/deque.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static int numbers[1000];

static void newest_for_the_owner_oldest_for_thieves(void **state)
{
	struct deque *d = deque_new();

	(void)state;
	assert_null(deque_take(d));
	assert_null(deque_steal(d));
	assert_false(deque_any(d));
	for (int i = 0; i < 1000; i++) /* grows */
		deque_push(d, &numbers[i]);
	assert_true(deque_any(d));
	assert_ptr_equal(deque_take(d), &numbers[999]);
	assert_ptr_equal(deque_steal(d), &numbers[0]);
	for (int i = 1; i < 999; i++)
		assert_ptr_equal(i % 2 ? deque_steal(d) : deque_take(d), i % 2 ? &numbers[(i + 1) / 2] : &numbers[999 - i / 2]);
	assert_null(deque_take(d));
	assert_null(deque_steal(d));
	deque_push(d, &numbers[7]);
	assert_ptr_equal(deque_take(d), &numbers[7]);
	deque_free(d);
	deque_free(NULL);
}

enum { ITEMS = 200000, THIEVES = 3 };

struct contest {
	struct deque *d;
	atomic_int *taken; /* per item */
	atomic_bool over;
};

static void note(struct contest *c, const int *item) { atomic_fetch_add(&c->taken[*item], 1); }

static void *thief(void *arg)
{
	struct contest *c = arg;

	while (!atomic_load(&c->over) || deque_any(c->d)) {
		const int *item = deque_steal(c->d);

		if (item)
			note(c, item);
	}
	return NULL;
}

/* Everything comes out once, whoever is faster; `burst` items at a time keep the deque nearly empty, or let it grow. */
static void run_contest(int burst)
{
	struct contest c = {.d = deque_new(), .taken = calloc(ITEMS, sizeof *c.taken)};
	int *items = calloc(ITEMS, sizeof *items);
	pthread_t threads[THIEVES];

	assert_non_null(items);
	assert_non_null(c.taken);
	for (int i = 0; i < THIEVES; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, thief, &c), 0);
	for (int i = 0; i < ITEMS;) {
		const int *item;

		for (int k = 0; k < burst && i < ITEMS; k++, i++) {
			items[i] = i;
			deque_push(c.d, &items[i]);
		}
		for (int k = 0; k < burst / 2 + 1 && (item = deque_take(c.d)); k++)
			note(&c, item);
	}
	atomic_store(&c.over, true);
	for (const int *item; (item = deque_take(c.d));)
		note(&c, item);
	for (int i = 0; i < THIEVES; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < ITEMS; i++)
		assert_int_equal(atomic_load(&c.taken[i]), 1);
	deque_free(c.d);
	free(items);
	free(c.taken);
}

static void once_each(void **state)
{
	(void)state;
	run_contest(1);
	run_contest(2);
	run_contest(1000);
}

int test_deque(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(newest_for_the_owner_oldest_for_thieves),
		cmocka_unit_test(once_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
