#include "base/diag.h"
#include "tests/unit/unit.h"
#include <string.h>

static span at(uint32_t source, uint32_t start, uint32_t end) { return (span){source, start, end}; }

static void codes_are_unique_and_found(void **state)
{
	for (enum diag_code a = 0; a < DIAG_COUNT; a++) {
		const char *text = diag_code_text(a);

		assert_int_equal(strlen(text), 5);
		assert_int_equal(text[0], diag_severity_of(a) == SEV_ERROR ? 'E' : 'W');
		assert_int_equal(diag_code_find(text), a); /* the first with this text: no code stands twice */
		assert_true(strlen(diag_title(a)) > 5);
	}
	assert_int_equal(diag_code_find("e0001"), DIAG_NOT_UTF8);
	assert_int_equal(diag_code_find("E9999"), DIAG_COUNT);
	assert_int_equal(diag_code_find(""), DIAG_COUNT);
}

static void everything_is_copied(void **state)
{
	struct diags *d = diags_new(0), *all = diags_new(0);
	char text[] = "text";
	struct diag *g = diag_add(d, DIAG_NOT_UTF8, at(0, 1, 2), "%s %d", text, 7);
	const struct diag *c;

	diag_label_primary(d, g, "%s", text);
	for (uint32_t i = 0; i < 9; i++) {
		diag_secondary(d, g, at(0, i, i), "s%u", i);
		diag_note(d, g, "n%u", i);
	}
	diag_help(d, g, "help %s", text);
	diag_edit(d, g, at(0, 3, 4), text);
	memset(text, 'x', 4);
	diags_merge(all, d);
	diags_free(d);
	assert_int_equal(diags_count(all), 1);
	assert_int_equal(diags_errors(all), 1);
	c = diags_at(all, 0);
	assert_string_equal(c->message, "text 7");
	assert_string_equal(c->primary.text, "text");
	assert_int_equal(c->primary.at.start, 1);
	assert_int_equal(c->n_secondary, 9);
	assert_string_equal(c->secondary[8].text, "s8");
	assert_int_equal(c->secondary[8].at.start, 8);
	assert_int_equal(c->n_notes, 9);
	assert_string_equal(c->notes[0], "n0");
	assert_string_equal(c->help, "help text");
	assert_string_equal(c->replacement, "text");
	assert_int_equal(c->edit.start, 3);
	diags_free(all);
	diags_free(NULL);
}

static void limit_counts_on(void **state)
{
	struct diags *d = diags_new(3), *all = diags_new(2);

	for (int i = 0; i < 10; i++) {
		struct diag *g = diag_add(d, DIAG_NOT_UTF8, SPAN_NONE, "%d", i);

		diag_note(d, g, "ignored beyond the limit");
		diag_secondary(d, g, SPAN_NONE, "too");
		diag_help(d, g, "too");
		diag_label_primary(d, g, "too");
		diag_edit(d, g, SPAN_NONE, "too");
		diag_add(d, DIAG_STORE_DAMAGED, SPAN_NONE, "a warning");
	}
	assert_int_equal(diags_errors(d), 10);
	assert_int_equal(diags_warnings(d), 10);
	assert_int_equal(diags_count(d), 6);
	assert_int_equal(diags_dropped_warnings(d), 7);
	diags_merge(all, d);
	assert_int_equal(diags_errors(all), 10);
	assert_int_equal(diags_warnings(all), 10);
	assert_int_equal(diags_count(all), 4);
	assert_int_equal(diags_dropped_warnings(all), 8);
	diags_free(d);
	diags_free(all);
}

static void sorting(void **state)
{
	static const char expect[] = "abcdefg";
	struct diags *d = diags_new(0);

	diag_add(d, DIAG_NOT_UTF8, SPAN_NONE, "g");
	diag_add(d, DIAG_NOT_UTF8, at(1, 0, 1), "f");
	diag_add(d, DIAG_NOT_UTF8, at(0, 5, 9), "c");
	diag_add(d, DIAG_NOT_UTF8, at(0, 5, 6), "d"); /* equal starts keep their order */
	diag_add(d, DIAG_NOT_UTF8, at(0, 5, 9), "c"); /* a duplicate, not adjacent */
	diag_add(d, DIAG_NOT_UTF8, at(0, 5, 9), "e");
	diag_add(d, DIAG_NOT_UTF8, at(0, 1, 2), "a");
	diag_note(d, diag_add(d, DIAG_NOT_UTF8, at(0, 1, 2), "b"), "with a note");
	diag_note(d, diag_add(d, DIAG_NOT_UTF8, at(0, 1, 2), "b"), "with a note");
	diag_add(d, DIAG_NOT_UTF8, at(1, 0, 1), "f");
	diags_sort(d);
	assert_int_equal(diags_count(d), strlen(expect));
	assert_int_equal(diags_errors(d), strlen(expect));
	for (uint32_t i = 0; i < diags_count(d); i++)
		assert_int_equal(diags_at(d, i)->message[0], expect[i]);
	diags_free(d);
}

/* An error that several instances of a layer show, and an import that several definitions lack, are reported once. */
static void reported_once(void **state)
{
	struct diags *d = diags_new(0);

	diag_add(d, DIAG_SHAPE, at(0, 5, 9), "[N, 4] does not fit 12 of `x`");
	diag_add(d, DIAG_SHAPE, at(0, 5, 9), "[N, 8, 8] does not fit 3 of `x`");
	diag_add(d, DIAG_SHAPE, at(0, 5, 9), "[N, 4] does not fit 12 of `y`");
	diag_add(d, DIAG_SHAPE, at(0, 5, 8), "[N, 4] does not fit 12 of `x`");
	diag_add(d, DIAG_SHAPE, SPAN_NONE, "no place");
	diag_add(d, DIAG_SHAPE, SPAN_NONE, "no place, 2");
	diag_edit(d, diag_add(d, DIAG_UNKNOWN_NAME, at(0, 20, 22), "unknown name `nn`"), at(0, 0, 0), "import nn\n");
	diag_edit(d, diag_add(d, DIAG_UNKNOWN_NAME, at(0, 30, 32), "unknown name `nn`"), at(0, 0, 0), "import nn\n");
	diag_edit(d, diag_add(d, DIAG_UNKNOWN_NAME, at(1, 30, 32), "unknown name `nn`"), at(1, 0, 0), "import nn\n");
	diags_sort(d);
	assert_int_equal(diags_count(d), 7);
	assert_int_equal(diags_errors(d), 7);
	diags_free(d);
}

static void nearest(void **state)
{
	static const char *const names[] = {"matmul", "softmax", "relu", "gelu", "transpose", "x"};
	const uint32_t n = sizeof names / sizeof names[0];
	char longest[300];

	assert_string_equal(diag_nearest("mtmul", names, n), "matmul");
	assert_string_equal(diag_nearest("amtmul", names, n), "matmul"); /* swapped neighbours count once */
	assert_string_equal(diag_nearest("Relu", names, n), "relu");
	assert_string_equal(diag_nearest("telu", names, n), "relu"); /* the first of equals */
	assert_string_equal(diag_nearest("transpsoe", names, n), "transpose");
	assert_string_equal(diag_nearest("relu", names, n), "relu");
	assert_null(diag_nearest("y", names, n));
	assert_null(diag_nearest("conv", names, n));
	assert_null(diag_nearest("", names, n));
	assert_null(diag_nearest("matmul", names, 0));
	memset(longest, 'a', sizeof longest - 1);
	longest[sizeof longest - 1] = '\0';
	assert_null(diag_nearest(longest, names, n));
}

int test_diag(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(codes_are_unique_and_found),
		cmocka_unit_test(everything_is_copied),
		cmocka_unit_test(limit_counts_on),
		cmocka_unit_test(sorting),
		cmocka_unit_test(reported_once),
		cmocka_unit_test(nearest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
