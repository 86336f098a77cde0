#include "base/arena.h"
#include "tests/unit/unit.h"
#include <string.h>

static void alignment_and_zero(void **state)
{
	struct arena *a = arena_new(64);

	for (size_t i = 1; i < 2000; i++) {
		size_t align = (size_t)1 << i % 8;
		unsigned char *p = arena_alloc(a, i, align);

		assert_int_equal((uintptr_t)p % align, 0);
		for (size_t k = 0; k < i; k++)
			assert_int_equal(p[k], 0);
		memset(p, 0xFF, i);
	}
	assert_true(arena_used(a) >= 2000 * 1999 / 2);
	arena_free(a);
	arena_free(NULL);
}

static void copies(void **state)
{
	struct arena *a = arena_new(0);

	assert_string_equal(arena_strndup(a, "abcdef", 3), "abc");
	assert_string_equal(arena_strdup(a, ""), "");
	assert_string_equal(arena_printf(a, "%d-%s", 42, "x"), "42-x");
	assert_non_null(arena_alloc(a, 0, 1));
	arena_free(a);
}

static void release_gives_back(void **state)
{
	struct arena *a = arena_new(32);
	arena_mark_t start = arena_mark(a), kept;
	char *keep;
	size_t used;

	assert_int_equal(arena_used(a), 0);
	keep = arena_strdup(a, "kept");
	kept = arena_mark(a);
	used = arena_used(a);
	for (int round = 0; round < 50; round++) {
		unsigned char *p;

		for (int i = 0; i < 100; i++)
			memset(arena_alloc(a, 77, 8), 0xEE, 77);
		assert_true(arena_used(a) > used);
		arena_release(a, kept);
		assert_int_equal(arena_used(a), used);
		assert_string_equal(keep, "kept");
		p = arena_alloc(a, 64, 1); /* was released: zeroed again */
		for (int k = 0; k < 64; k++)
			assert_int_equal(p[k], 0);
		arena_release(a, kept);
	}
	arena_release(a, start);
	assert_int_equal(arena_used(a), 0);
	arena_free(a);
}

static void nested_marks(void **state)
{
	struct arena *a = arena_new(0);
	arena_mark_t outer, inner;
	int *x;

	ARENA_NEW(a, int);
	outer = arena_mark(a);
	x = ARENA_ARRAY(a, int, 3);
	x[2] = 7;
	inner = arena_mark(a);
	arena_alloc(a, 1 << 20, 16);
	arena_release(a, inner);
	assert_int_equal(x[2], 7);
	arena_release(a, outer);
	arena_free(a);
}

int test_arena(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(alignment_and_zero),
		cmocka_unit_test(copies),
		cmocka_unit_test(release_gives_back),
		cmocka_unit_test(nested_marks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
