#include "base/path.h"
#include "tests/unit/unit.h"
#include "base/arena.h"

static struct arena *a;

static int set_up(void **state)
{
	a = arena_new(0);
	return 0;
}

static int tear_down(void **state)
{
	arena_free(a);
	return 0;
}

static void join(void **state)
{
	assert_string_equal(path_join(a, "a", "b"), "a/b");
	assert_string_equal(path_join(a, "a/", "b"), "a/b");
	assert_string_equal(path_join(a, "/", "b"), "/b");
	assert_string_equal(path_join(a, "a", "/b"), "/b");
	assert_string_equal(path_join(a, "", "b"), "b");
	assert_string_equal(path_join(a, ".", "b"), "b");
}

static void parts(void **state)
{
	assert_string_equal(path_dir(a, "a/b/c.tri"), "a/b");
	assert_string_equal(path_dir(a, "c.tri"), ".");
	assert_string_equal(path_dir(a, "/c"), "/");
	assert_string_equal(path_dir(a, "/"), "/");
	assert_string_equal(path_dir(a, ""), ".");
	assert_string_equal(path_dir(a, "a//b"), "a");
	assert_string_equal(path_dir(a, "a/b/"), "a");
	assert_string_equal(path_base("a/b.tri"), "b.tri");
	assert_string_equal(path_base("b"), "b");
	assert_string_equal(path_stem(a, "a/b.tar.gz"), "b.tar");
	assert_string_equal(path_stem(a, "a.d/b"), "b");
	assert_string_equal(path_stem(a, ".hidden"), ".hidden");
}

static void normal(void **state)
{
	static const char *const cases[][2] = {
		{"a/b", "a/b"},   {"a//b/", "a/b"},      {"./a/./b", "a/b"},
		{"a/../b", "b"},  {"a/..", "."},         {"", "."},
		{"../a", "../a"}, {"a/../../b", "../b"}, {"../..", "../.."},
		{"/..", "/"},     {"/../a", "/a"},       {"/a/../..", "/"},
		{"/", "/"},       {"//a", "/a"},         {"a/b/../../c", "c"},
		{"...", "..."},   {"a/..b/..", "a"},     {"../../a/../b", "../../b"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		assert_string_equal(path_normal(a, cases[i][0]), cases[i][1]);
}

int test_path(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(join), cmocka_unit_test(parts), cmocka_unit_test(normal)};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
