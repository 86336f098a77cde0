#include "base/vec.h"
#include "tests/unit/unit.h"

static void push_and_free(void **state)
{
	VEC(uint64_t) v = {0};

	for (uint64_t i = 0; i < 100000; i++)
		vec_push(&v, i * i);
	assert_int_equal(v.len, 100000);
	for (uint64_t i = 0; i < 100000; i++)
		assert_true(v.at[i] == i * i);
	vec_reserve(&v, 10); /* no shrinking */
	assert_true(v.cap >= 100000);
	vec_free(&v);
	assert_null(v.at);
	assert_int_equal(v.len + v.cap, 0);
	vec_reserve(&v, 1000);
	assert_true(v.cap >= 1000);
	vec_free(&v);
}

int test_vec(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(push_and_free)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
