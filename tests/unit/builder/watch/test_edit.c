/* What a save changed, in words, and when it is time to look. */
#include "tests/unit/unit.h"
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "builder/watch/watcher.h"
#include "builder/watch/edit.h"

static struct edit_text text(const char *s) { return (struct edit_text){s, s ? strlen(s) : 0}; }

static void check(const char *file, const char *before, const char *after, const char *want)
{
	struct arena *a = arena_new(0);
	struct buf out = {0};
	struct edit e = edit_describe(a, file, text(before), text(after));
	edit_print(&e, &out);
	assert_string_equal(out.at, want);
	buf_free(&out);
	arena_free(a);
}

#define SCALE "fn scale(x: int) -> int {\n    return x * 2\n}\n"
#define GAIN "fn gain(x: int) -> int {\n    let wide = 3\n    return f(x, by=4) + wide\n}\n"

static void small_changes_are_shown(void **state)
{
	check("a.tri", "const hidden = 256\n", "const hidden = 512\n", "a.tri:1 `hidden` 256→512");
	check("a.tri", "const hidden: int = 256\n", "const hidden: int = 512\n", "a.tri:1 `hidden` 256→512");
	check("a.tri", SCALE GAIN, "fn scale(x: int) -> int {\n    return x + 2\n}\n" GAIN, "a.tri:2 `scale` *→+");
	check("a.tri", SCALE GAIN, SCALE "fn gain(x: int) -> int {\n    let wide = 5\n    return f(x, by=4) + wide\n}\n",
	      "a.tri:5 `wide` 3→5");
	check("a.tri", SCALE GAIN, SCALE "fn gain(x: int) -> int {\n    let wide = 3\n    return f(x, by=7) + wide\n}\n",
	      "a.tri:6 `by` 4→7");
	check("a.tri", SCALE, "fn scale(x: int) -> int {\n    return x * 2 + 1\n}\n", "a.tri:2 `scale` nothing→+ 1");
	check("a.tri", "fn scale(x: int) -> int {\n    return x * 2 + 1\n}\n", SCALE, "a.tri:2 `scale` + 1→nothing");
}

static void larger_changes_name_definitions(void **state)
{
	check("a.tri", SCALE, SCALE GAIN, "a.tri:4 `gain`");
	check("a.tri", SCALE GAIN, SCALE, "a.tri:3 `gain`");
	check("a.tri", SCALE GAIN, "fn scale(y: int) -> int {\n    return y * 3\n}\nfn gain(x: int) -> int {\n    return x\n}\n",
	      "a.tri:1 `scale` and 1 more");
	check("a.tri", "import nn\n", "import nn\nfrom nn import Linear\n", "a.tri:2 `import`");
	check("a.tri", SCALE, "", "a.tri:1 `scale`");
}

static void texts_without_tokens(void **state)
{
	check("a.tri", "# one\n" SCALE, "# two\n" SCALE, "a.tri:1 comments or white space");
	check("a.tri", NULL, SCALE, "a.tri is new");
	check("a.tri", SCALE, NULL, "a.tri is gone");
	check("a.tri", "\"", "'", "a.tri:1 \"→'");
}

static void manifests_have_keys(void **state)
{
	check("tri.build", "project p\n    version = 1.0\n", "project p\n    version = 1.1\n", "tri.build:2 `version` 1.0→1.1");
	check("tri.build", "project p\n", "project q\n", "tri.build:1");
	check("tri.build", "project p\n", "project p\n    opt = 2\n", "tri.build:2 `opt`");
	check("tri.build", "", "", "tri.build:1");
}

static void half_written_files_get_time(void **state)
{
	struct debounce d;
	struct file_events e = {.any = true, .first = 1000, .last = 1000};
	debounce_init(&d);
	int64_t complete = debounce_end(&d, &e);
	assert_true(complete > 1000 && complete <= 1000 + 1000000);
	e.incomplete_until = 1000 + DEBOUNCE_WRITING_NS;
	assert_int_equal(debounce_end(&d, &e), e.incomplete_until);
	e.incomplete_until = INT64_MAX; /* a file that is written to without end */
	assert_true(debounce_end(&d, &e) < 1000000000);
}

static void pause_follows_superseded_builds(void **state)
{
	struct debounce d;
	debounce_init(&d);
	int64_t least = d.pause;
	for (int i = 0; i < 40; i++)
		debounce_superseded(&d);
	int64_t most = d.pause;
	assert_true(most > 20 * least && most < 100000000);
	debounce_completed(&d);
	assert_int_equal(d.pause, most / 2);
	for (int i = 0; i < 40; i++)
		debounce_completed(&d);
	assert_int_equal(d.pause, least);
}

int test_edit(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_changes_are_shown),     cmocka_unit_test(larger_changes_name_definitions),
		cmocka_unit_test(texts_without_tokens),        cmocka_unit_test(manifests_have_keys),
		cmocka_unit_test(half_written_files_get_time), cmocka_unit_test(pause_follows_superseded_builds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
