#include "base/json.h"
#include "tests/unit/unit.h"
#include <math.h>

static void nesting(void **state)
{
	struct buf b = {0};
	struct json_writer w = {.out = &b};

	json_open(&w, '{');
	json_member_open(&w, "a", '[');
	json_int(&w, INT64_MIN);
	json_num(&w, 1.5);
	json_num(&w, NAN);
	json_num(&w, -INFINITY);
	json_bool(&w, true);
	json_bool(&w, false);
	json_none(&w);
	json_open(&w, '{');
	json_close(&w, '}');
	json_open(&w, '[');
	json_close(&w, ']');
	json_close(&w, ']');
	json_member_str(&w, "b", "");
	json_member_str(&w, "c", NULL);
	json_member_int(&w, "d", -1);
	json_member_num(&w, "e", 2);
	json_member_bool(&w, "f", true);
	json_close(&w, '}');
	assert_string_equal(
		b.at,
		"{\"a\":[-9223372036854775808,1.500,null,null,true,false,null,{},[]],\"b\":\"\",\"c\":null,\"d\":-1,\"e\":2.000,\"f\":true}");
	buf_free(&b);
}

static void check(const char *s, size_t n, const char *expect)
{
	struct buf b = {0};
	struct json_writer w = {.out = &b};

	json_strn(&w, s, n);
	assert_string_equal(b.at, expect);
	buf_free(&b);
}

static void strings(void **state)
{
	check("a\"b\\c/", 6, "\"a\\\"b\\\\c/\"");
	check("\n\r\t\x01\0\x7f", 6, "\"\\n\\r\\t\\u0001\\u0000\\u007f\"");
	check("h\xC3\xA9 \xF0\x9F\x98\x80", 8, "\"h\xC3\xA9 \xF0\x9F\x98\x80\"");
	check("\xFF"
	      "a\xC3",
	      3,
	      "\"\xEF\xBF\xBD"
	      "a\xEF\xBF\xBD\"");                                             /* no lead byte; cut off */
	check("\xED\xA0\x80", 3, "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\""); /* a surrogate */
	check("\xC0\x80", 2, "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");                 /* overlong */
	check("\xEF\xBF\xBD", 3, "\"\xEF\xBF\xBD\"");                         /* U+FFFD itself */
}

int test_json(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(nesting), cmocka_unit_test(strings)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
