#include "base/map.h"
#include "tests/unit/unit.h"
#include <stdio.h>

#define KEYS 100000u

static void many_keys(void **state)
{
	struct map m = {0};
	uint64_t v = 5;

	assert_false(map_get(&m, map_key_u64(1), &v));
	assert_int_equal(v, 5);
	for (uint64_t i = 0; i < KEYS; i++)
		assert_true(map_put(&m, map_key_u64(i << 12), i));
	assert_int_equal(m.len, KEYS);
	for (uint64_t i = 0; i < KEYS; i++)
		assert_false(map_put(&m, map_key_u64(i << 12), i + 1));
	for (uint64_t i = 0; i < KEYS; i++) {
		assert_true(map_get(&m, map_key_u64(i << 12), &v));
		assert_int_equal(v, i + 1);
		assert_false(map_get(&m, map_key_u64((i << 12) + 1), NULL));
	}
	assert_int_equal(m.len, KEYS);
	map_free(&m);
	assert_int_equal(m.len, 0);
}

/* Against an array, on few keys, so that probe sequences overlap and wrap around. */
static void random_against_model(void **state)
{
	enum { DISTINCT = 200 };
	uint64_t model[DISTINCT] = {0}; /* 0: absent */
	struct map m = {0};
	uint32_t seed = 12345, count = 0;

	for (uint32_t step = 1; step < 2000; step++) {
		uint32_t k;
		uint64_t v = 0;
		hash128 key;

		seed = seed * 1664525u + 1013904223u;
		k = (seed >> 8) % DISTINCT;
		key = (hash128){k % 7, k}; /* hashes badly on purpose */
		assert_int_equal(map_put(&m, key, step), model[k] == 0);
		count += model[k] == 0;
		model[k] = step;
		assert_int_equal(m.len, count);
		k = (seed >> 4) % DISTINCT;
		assert_int_equal(map_get(&m, (hash128){k % 7, k}, &v), model[k] != 0);
		assert_int_equal(v, model[k]);
	}
	map_free(&m);
}

static void zero_and_text_keys(void **state)
{
	struct map m = {0};
	uint64_t v = 0;

	assert_true(map_put(&m, (hash128){0, 0}, 9));
	assert_true(map_get(&m, (hash128){0, 0}, &v));
	assert_int_equal(v, 9);
	for (int i = 0; i < 1000; i++) {
		char name[16];

		snprintf(name, sizeof name, "w%d", i);
		assert_true(map_put(&m, map_key_str(name), (uint64_t)i));
	}
	assert_true(map_get(&m, map_key_bytes("w77", 3), &v));
	assert_int_equal(v, 77);
	map_free(&m);
}

int test_map(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_keys),
		cmocka_unit_test(random_against_model),
		cmocka_unit_test(zero_and_text_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
