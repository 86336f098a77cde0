#include "builder/json_read.h"
#include "tests/unit/unit.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"

static bool reads(const char *text, size_t len, struct buf *why)
{
	why->len = 0;
	json_t *root = json_read(text, len, 0, why);
	json_decref(root);
	return root;
}

static void errors_have_a_line(void **state)
{
	struct buf why = {0};
	assert_false(reads("{\n\"a\": 1,\n\"b\" 2}", 17, &why));
	assert_non_null(strstr(why.at, "line 3, column 5: ':' expected near '2'"));
	assert_false(reads("", 0, &why));
	assert_false(reads("\"\\", 2, &why));
	assert_null(json_read("[", 1, 0, NULL));
	buf_free(&why);
}

static void depth(void **state)
{
	struct buf why = {0}, text = {0};
	for (int i = 0; i <= JSON_MOST_DEPTH; i++)
		buf_puts(&text, i == 7 ? "\n[" : "[");
	assert_false(reads(text.at, text.len, &why));
	assert_string_equal(why.at, "line 2, column 94: it is nested deeper than 100 levels");
	for (int i = 0; i < JSON_MOST_DEPTH; i++)
		buf_puts(&text, "]");
	assert_true(reads(text.at + 1, text.len - 1, &why));
	text.len = 0;
	buf_puts(&text, "[\"\\\"");
	for (int i = 0; i <= JSON_MOST_DEPTH; i++)
		buf_puts(&text, "[{");
	buf_puts(&text, "\"]");
	assert_true(reads(text.at, text.len, &why)); /* inside of a text */
	buf_free(&text);
	buf_free(&why);
}

static void values(void **state)
{
	struct buf why = {0};
	size_t len = 2 * JSON_MOST_VALUES + 4;
	char *text = malloc(len);
	for (size_t i = 0; i < len; i++)
		text[i] = i % 2 ? ',' : '1';
	text[0] = '[';
	assert_false(reads(text, len, &why));
	assert_non_null(strstr(why.at, "it has more than 16777216 values"));
	free(text);
	buf_free(&why);
}

static void bytes(void **state)
{
	struct buf why = {0};
	assert_false(reads("[]", JSON_MOST_BYTES + 1, &why));
	assert_string_equal(why.at, "it has 268435457 bytes, more than 268435456");
	buf_free(&why);
}

int test_json_read(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errors_have_a_line),
		cmocka_unit_test(depth),
		cmocka_unit_test(values),
		cmocka_unit_test(bytes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
