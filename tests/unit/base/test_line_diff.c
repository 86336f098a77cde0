/* Changes between texts by lines. */
#include "tests/unit/unit.h"
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/line_diff.h"

static void put_lines(struct buf *b, unsigned *seed)
{
	for (int n = rand_r(seed) % 12; n > 0; n--)
		buf_printf(b, "%.*s\n", rand_r(seed) % 3, "ab");
	if (rand_r(seed) % 4 == 0)
		buf_puts(b, "end without a newline");
}

static void changes_make_the_second_text(void **state)
{
	for (unsigned round = 0, seed = 7; round < 3000; round++) {
		struct buf a = {0}, b = {0}, made = {0};
		size_t at = 0;
		put_lines(&a, &seed);
		put_lines(&b, &seed);
		const char *ta = a.at ? a.at : "", *tb = b.at ? b.at : "";
		struct line_changes c = line_changes(ta, a.len, tb, b.len);
		for (uint32_t i = 0; i < c.at.len; i++) {
			const struct line_change *g = &c.at.at[i];
			assert_true(g->from >= at && g->to >= g->from && g->new_to >= g->new_from);
			buf_put(&made, ta + at, g->from - at);
			buf_put(&made, tb + g->new_from, g->new_to - g->new_from);
			at = g->to;
		}
		buf_put(&made, ta + at, a.len - at);
		assert_int_equal(made.len, b.len);
		assert_true(!b.len || !memcmp(made.at, tb, b.len));
		vec_free(&c.at);
		buf_free(&a);
		buf_free(&b);
		buf_free(&made);
	}
}

static void equal_lines_stay(void **state)
{
	struct line_changes c = line_changes("a\nb\nc\nd\n", 8, "a\nx\nc\nd\ne\n", 10);
	assert_int_equal(c.at.len, 2);
	assert_int_equal(c.at.at[0].from, 2);
	assert_int_equal(c.at.at[0].to, 4);
	assert_int_equal(c.at.at[1].from, 8);
	assert_int_equal(c.at.at[1].new_to, 10);
	vec_free(&c.at);
}

int test_line_diff(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(changes_make_the_second_text), cmocka_unit_test(equal_lines_stay)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
