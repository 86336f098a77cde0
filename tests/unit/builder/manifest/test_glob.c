#include "builder/manifest/glob.h"
#include "tests/unit/unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/os.h"

static void expect(const char *pattern, const char *want)
{
	struct arena *a = arena_new(0);
	char got[512] = "";
	uint32_t n;
	const char *const *list = glob_expand(a, pattern, &n);
	for (uint32_t i = 0; i < n; i++) {
		strcat(got, i ? " " : "");
		strcat(got, list[i]);
	}
	assert_string_equal(got, want);
	arena_free(a);
}

static void patterns(void **state)
{
	static const char *const files[] = {"a.tri",     "b.tri",       ".hidden.tri",   "c.txt",
					    "src/a.tri", "src/x/b.tri", "src/x/y/c.tri", "src/z.tri/in.tri"};
	char dir[] = "/tmp/trib-glob-XXXXXX";
	assert_non_null(mkdtemp(dir));
	assert_int_equal(chdir(dir), 0);
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		char folder[128];
		snprintf(folder, sizeof folder, "%s", files[i]);
		char *slash = strrchr(folder, '/');
		if (slash) {
			*slash = 0;
			assert_true(os_mkdirs(folder));
		}
		assert_true(os_write_atomic(files[i], "", 0, 0666, false));
	}
	expect("*.tri", "a.tri b.tri");
	expect("./*.tri", "a.tri b.tri");
	expect("src/*.tri", "src/a.tri"); /* a folder is no file */
	expect("src/**/*.tri", "src/a.tri src/x/b.tri src/x/y/c.tri src/z.tri/in.tri");
	expect("*/?/[bc].tri", "src/x/b.tri");
	expect("nothing/*.tri", "");
	expect("[ab].tri", "a.tri b.tri");
	assert_int_equal(chdir("/"), 0);
	assert_true(os_remove_tree(dir));
}

/* Each `**` may end at any level: without memory of what was tried these take ages. */
static void many_stars(void **state)
{
	char dir[] = "/tmp/trib-glob-XXXXXX", deep[256] = "", pattern[1024] = "", name[128], stars[512] = "";
	assert_non_null(mkdtemp(dir));
	assert_int_equal(chdir(dir), 0);
	for (int i = 0; i < 30; i++)
		strcat(deep, i ? "/d" : "d");
	assert_true(os_mkdirs(deep));
	strcat(deep, "/a.tri");
	assert_true(os_write_atomic(deep, "", 0, 0666, false));
	for (int i = 0; i < 40; i++)
		strcat(pattern, i % 2 ? "d/" : "**/");
	expect(strcat(pattern, "*.tri"), deep);
	pattern[0] = 0;
	for (int i = 0; i < 40; i++)
		strcat(pattern, "**/");
	expect(strcat(pattern, "*.tri"), deep);
	strcat(pattern, ".none");
	expect(pattern, "");
	assert_false(glob_matches(pattern, deep));
	memset(name, 'a', sizeof name - 1);
	name[sizeof name - 1] = 0;
	for (int i = 0; i < 40; i++)
		strcat(stars, "a*");
	assert_true(glob_matches(stars, name));
	assert_false(glob_matches(strcat(stars, "b"), name));
	assert_int_equal(chdir("/"), 0);
	assert_true(os_remove_tree(dir));
}

static void components(void **state)
{
	assert_true(glob_matches("a[!b-d]*.t?i", "aexx.tri"));
	assert_false(glob_matches("a[!b-d]*.t?i", "acxx.tri"));
	assert_true(glob_matches("[[:digit:]]x", "4x"));
	assert_true(glob_matches("[]a]", "]"));
	assert_true(glob_matches("a[b", "a[b"));
	assert_true(glob_matches("a\\*b", "a*b"));
	assert_false(glob_matches("a\\*b", "axb"));
	assert_false(glob_matches("[.]a", ".a"));
	assert_false(glob_matches("?a", ".a"));
	assert_true(glob_matches("*a*b*", "xaxbx"));
	assert_false(glob_matches("*a*b", "xaxbx"));
}

static void matches(void **state)
{
	assert_true(glob_matches("*.tri", "a.tri"));
	assert_false(glob_matches("*.tri", ".a.tri"));
	assert_false(glob_matches("*.tri", "src/a.tri"));
	assert_true(glob_matches("src/**/*.tri", "src/a.tri"));
	assert_true(glob_matches("src/**/*.tri", "src/x/y/a.tri"));
	assert_false(glob_matches("src/**/*.tri", "src/.x/a.tri"));
	assert_false(glob_matches("src/**/*.tri", "lib/a.tri"));
	assert_true(glob_matches("**/x/**/b.tri", "a/x/x/c/b.tri"));
	assert_false(glob_matches("**/x/**/b.tri", "a/y/c/b.tri"));
	assert_true(glob_matches("src/**", "src/x/a.tri"));
	assert_false(glob_matches("src/**", "src/x/.a"));
	assert_true(glob_matches("../lib/[ab].tri", "../lib/b.tri"));
	assert_false(glob_matches("a/b", "a"));
	assert_false(glob_matches("a", "a/b"));
}

static void folders(void **state)
{
	struct arena *a = arena_new(0);
	assert_string_equal(glob_folder(a, "src/*.tri"), "src");
	assert_string_equal(glob_folder(a, "*.tri"), ".");
	assert_null(glob_folder(a, "src/**/*.tri"));
	assert_true(glob_is_pattern("a?"));
	assert_false(glob_is_pattern("a.tri"));
	arena_free(a);
}

int test_glob(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(patterns), cmocka_unit_test(many_stars), cmocka_unit_test(components),
					   cmocka_unit_test(matches), cmocka_unit_test(folders)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
