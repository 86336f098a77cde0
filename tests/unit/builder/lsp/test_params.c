/* Positions in UTF-16 units and bytes, and URIs. */
#include "builder/lsp/params.h"
#include "tests/unit/unit.h"
#include <string.h>
#include "base/arena.h"

static size_t offset(const char *text, int64_t line, int64_t character, bool utf8)
{
	return position_offset(text, strlen(text), (struct lsp_position){line, character}, utf8);
}

static void characters_are_utf16_units_unless_negotiated(void **state)
{
	const char *text = "a\xc3\xa4\xf0\x9f\x98\x80"
			   "b"; /* a, ä, a smiley of two units, b */
	const size_t utf16[] = {0, 1, 3, 3, 7, 8}, utf8[] = {0, 1, 1, 3, 3, 3, 3, 7, 8};
	for (int64_t i = 0; i < 6; i++)
		assert_int_equal(offset(text, 0, i, false), utf16[i]); /* 3: inside the smiley, so before it */
	for (int64_t i = 0; i < 9; i++)
		assert_int_equal(offset(text, 0, i, true), utf8[i]);
	assert_int_equal(position_width(text, 7, false), 4);
	assert_int_equal(position_width(text, 7, true), 7);
}

static void positions_beyond_the_end_move_back(void **state)
{
	const char *text = "ab\r\ncd\n";
	assert_int_equal(offset(text, 0, 99, false), 2); /* before the line's end, whichever it is */
	assert_int_equal(offset(text, 1, 99, false), 6);
	assert_int_equal(offset(text, 2, 0, false), 7);
	assert_int_equal(offset(text, 9, 1, false), 7);
	assert_int_equal(offset("", 0, 5, false), 0);
}

static void uris_are_paths(void **state)
{
	static const char *const cases[][2] = {
		{"file:///a/b.tri", "/a/b.tri"},
		{"file://localhost/a/./c/../b.tri", "/a/b.tri"},
		{"file:///a%20%C3%A4/%25.tri", "/a \xc3\xa4/%.tri"},
		{"file:///a/b.tri?query#part", "/a/b.tri"},
		{"file:///a%00b%4", "/a%00b%4"}, /* escapes that are none of a path */
		{"file://host", "file://host"},
		{"untitled:1", "untitled:1"},
	};
	struct arena *a = arena_new(0);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_string_equal(uri_path(a, cases[i][0]), cases[i][1]);
	arena_free(a);
}

static void paths_come_back_from_their_uri(void **state)
{
	static const char *const paths[] = {"/a/b.tri", "/\xc3\xa4 %41#?:\"/~x-1_.tri", "/"};
	struct arena *a = arena_new(0);
	assert_string_equal(uri_of_path(a, "/a b\xff.tri"), "file:///a%20b%FF.tri");
	assert_string_equal(uri_of_path(a, "untitled:1"), "untitled:1");
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
		assert_string_equal(uri_path(a, uri_of_path(a, paths[i])), paths[i]);
	arena_free(a);
}

int test_params(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(characters_are_utf16_units_unless_negotiated),
		cmocka_unit_test(positions_beyond_the_end_move_back),
		cmocka_unit_test(uris_are_paths),
		cmocka_unit_test(paths_come_back_from_their_uri),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
