/* What is around the cursor in a text that may not parse. A `|` marks the cursor. */
#include "builder/lsp/query.h"
#include "tests/unit/unit.h"
#include <string.h>

/* Removes the mark. Returns its offset. */
static size_t place(const char *marked, struct buf *text)
{
	size_t at = strcspn(marked, "|");
	buf_put(text, marked, at);
	buf_puts(text, marked + at + 1);
	return at;
}

/* The call as "callee argument", or "callee argument name". */
static void calls(const char *marked, const char *expected)
{
	struct buf text = {0}, got = {0};
	struct cursor c;
	struct cursor_call call;
	size_t at = place(marked, &text);
	cursor_open(&c, text.at, text.len, at);
	buf_puts(&got, "");
	if (cursor_call(&c, &call)) {
		const uint32_t *from = c.tokens.starts, *to = c.tokens.ends;
		buf_printf(&got, "%.*s %u", (int)(to[call.callee] - from[call.callee]), text.at + from[call.callee], call.argument);
		if (call.name != TOKEN_NONE)
			buf_printf(&got, " %.*s", (int)(to[call.name] - from[call.name]), text.at + from[call.name]);
	}
	assert_string_equal(got.at, expected);
	cursor_close(&c);
	buf_free(&text);
	buf_free(&got);
}

static void argument_is_counted_in_the_innermost_call(void **state)
{
	calls("let y = f(|)", "f 0");
	calls("let y = f(a, |b)", "f 1");
	calls("let y = f(g(a, b), [1, 2], |", "f 2");
	calls("let y = f(a, g(|", "g 0");
	calls("let y = f(a, (b + |", "f 1"); /* a bracket that is no call belongs to the argument */
	calls("let y = f(a, [b, |", "f 1");
}

static void named_argument(void **state)
{
	calls("let y = f(a, by=|", "f 1 by");
	calls("let y = f(by=1, |", "f 1");
}

static void nothing_outside_a_call(void **state)
{
	calls("let y = f(a)|", "");
	calls("let y = |", "");
	calls("let y = f(a\nlet z = |", ""); /* a new statement ends an open call */
	calls("fn f(a) { |", "");
}

static void names(const char *marked, const char *expected)
{
	struct buf text = {0}, out = {0};
	size_t name_at, at = place(marked, &text);
	bool is_name = cursor_insert_name(text.at, text.len, at, &out, &name_at);
	assert_int_equal(is_name, expected != NULL);
	if (is_name)
		assert_string_equal(out.at, expected);
	buf_free(&text);
	buf_free(&out);
}

static void name_is_completed_where_one_can_be(void **state)
{
	names("let y = |", "let y = _");
	names("let y = x.|", "let y = x._");
	names("let y = le|t", "let y = let_"); /* no keyword any more */
	names("let y = |abc + 1", "let y = abc_ + 1");
}

static void no_name_in_comments_strings_and_numbers(void **state)
{
	names("# a |", NULL);
	names("let y = \"a|\"", NULL);
	names("let y = 12|", NULL);
}

int test_cursor(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(argument_is_counted_in_the_innermost_call),
		cmocka_unit_test(named_argument),
		cmocka_unit_test(nothing_outside_a_call),
		cmocka_unit_test(name_is_completed_where_one_can_be),
		cmocka_unit_test(no_name_in_comments_strings_and_numbers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
