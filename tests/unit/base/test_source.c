#include "base/source.h"
#include "tests/unit/unit.h"
#include <string.h>

static void check(const struct sources *s, uint32_t id, uint32_t offset, uint32_t line, uint32_t col)
{
	struct position p = source_position(s, id, offset);

	assert_int_equal(p.line, line);
	assert_int_equal(p.col, col);
}

static void check_line(const struct sources *s, uint32_t id, uint32_t line, const char *expect)
{
	const char *text;
	uint32_t len;

	source_line(s, id, line, &text, &len);
	assert_int_equal(len, strlen(expect));
	assert_memory_equal(text, expect, len);
}

static void positions(void **state)
{
	struct sources *s = sources_new();
	const struct source *a = sources_add(s, "a.tri", "one\n\nthree\r\nfour", 16);
	const struct source *empty = sources_add(s, "b.tri", "", 0);

	assert_int_equal(sources_count(s), 2);
	assert_ptr_equal(sources_get(s, 0), a);
	assert_int_equal(a->text[a->len], 0);
	check(s, a->id, 0, 1, 1);
	check(s, a->id, 3, 1, 4); /* the newline belongs to its line */
	check(s, a->id, 4, 2, 1);
	check(s, a->id, 5, 3, 1);
	check(s, a->id, 12, 4, 1);
	check(s, a->id, 16, 4, 5);
	check(s, a->id, 1000, 4, 5); /* clamped */
	check(s, empty->id, 0, 1, 1);
	check_line(s, a->id, 1, "one");
	check_line(s, a->id, 2, "");
	check_line(s, a->id, 3, "three");
	check_line(s, a->id, 4, "four");
	check_line(s, empty->id, 1, "");
	sources_free(s);
	sources_free(NULL);
}

static void many_sources_stay_in_place(void **state)
{
	struct sources *s = sources_new();
	const struct source *first = sources_add(s, "0", "x", 1);

	for (uint32_t i = 1; i < 5000; i++)
		assert_int_equal(sources_add(s, "n", "text\n", 5)->id, i);
	assert_string_equal(first->text, "x");
	check(s, 4999, 5, 2, 1);
	sources_free(s);
}

int test_source(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(positions), cmocka_unit_test(many_sources_stay_in_place)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
