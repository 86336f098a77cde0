/* The statements of a run: what each adds, what they add up to, and the words on them. */
#include "builder/profile/kernel_rows.h"
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "builder/profile/report.h"
#include "tests/unit/unit.h"

static uint32_t add(struct profile *p, enum profile_item_kind kind, uint32_t parent, const char *name, double ns, double operations)
{
	uint32_t item = profile_add_item(p, kind, parent, name, "net.tri:7");
	struct profile_values *v = &p->items.at[item].values;
	p->items.at[item].ceiling = CEILING_FLOAT;
	profile_set(p, v, METRIC_WALL, 0, ns);
	profile_set(p, v, METRIC_CALLS, 0, 1);
	profile_set(p, v, METRIC_OPERATIONS, 0, operations);
	profile_set(p, v, METRIC_BYTES, 0, operations / 100);
	return item;
}

/* 10 us with a loop in a loop; a device of 100 GOP/s and 10 GB/s. */
static struct profile *nested(void)
{
	struct profile *p = profile_new(PROFILE_RUN, 1);
	profile_set(p, &p->total, METRIC_WALL, 0, 10000);
	kernel_add_ceilings(p, &(struct ceilings){10e9, 10e9, 100e9, 400e9});
	uint32_t outer = add(p, ITEM_STATEMENT, PROFILE_NONE, "outer", 8000, 400e3);
	uint32_t inner = add(p, ITEM_STATEMENT, outer, "inner", 7000, 400e3);
	add(p, ITEM_KERNEL, inner, "matmul", 6000, 400e3);
	add(p, ITEM_KERNEL, PROFILE_NONE, "last", 1000, 95e3);
	return p;
}

static const char *report(struct arena *a, const struct profile *p)
{
	struct buf out = {0};
	report_kernels(p, &(struct report_options){.format = REPORT_TEXT, .top = 20}, &out);
	const char *text = arena_strdup(a, out.at);
	buf_free(&out);
	return text;
}

static void nothing_counts_twice(void **state)
{
	struct arena *a = arena_new(0);
	struct profile *p = nested();
	uint32_t n;
	const struct kernel_row *rows = kernel_rows(a, p, &n);
	double ns = 0, operations = 0;
	for (uint32_t i = 0; i < n; i++) {
		ns += rows[i].ns;
		operations += rows[i].operations;
	}
	assert_int_equal(n, 4);
	assert_true(ns == 9000 && operations == 495e3);
	assert_true(rows[0].item == 2 && rows[0].ns == 6000 && rows[1].ns == 1000);
	assert_non_null(strstr(report(a, p), "all of them together are 90.0 % of a run\n"));
	profile_free(p);
	arena_free(a);
}

static void report_says_what_cannot_be_separated(void **state)
{
	struct arena *a = arena_new(0);
	struct profile *p = nested();
	profile_add_fact(p, "clock_ns", 30);
	profile_add_fact(p, "outside_ns", 1000);
	assert_null(strstr(report(a, p), "separated"));
	assert_non_null(strstr(report(a, p), "outside of its statements a run takes 1.00 us, 10.0 %\n"));
	assert_null(strstr(report(a, p), "measured by statements"));
	profile_add_fact(p, "clock_ns", 101); /* a thousandth more than a tenth of three of the statements */
	profile_add_fact(p, "measured_ns", 12500);
	profile_add_fact(p, "hook_ns", 20);
	profile_add_fact(p, "scale", 0.85);
	const char *text = report(a, p);
	assert_non_null(strstr(text, "statements below 1.01 us cannot be separated from the clock: 3.00 us in 3 statements together\n"));
	assert_non_null(strstr(text,
			       "runs that are measured by statements take 12.5 us, 25.0 % more than others; 20 ns a call is taken off; "
			       "all times are scaled by 0.85\nother load of the machine cannot be separated"));
	assert_null(strstr(text, " %  too short")); /* nor is there a roofline of them */
	profile_add_fact(p, "measured_ns", 9800);
	profile_add_fact(p, "hook_ns", 0);
	profile_add_fact(p, "scale", 1.02);
	assert_non_null(strstr(report(a, p), "take 9.80 us, 2.0 % less than others; all times are scaled by 1.02\nstatements below"));
	assert_non_null(strstr(text, "too short for the clock"));
	profile_free(p);
	arena_free(a);
}

static void verdicts_say_what_they_mean(void **state)
{
	static const struct {
		double share;
		bool by_memory;
		const char *verdict;
	} cases[] = {{0.9, false, "at the ceiling"},
		     {0.9, true, "at the memory's rate"},
		     {0.89, false, "near the ceiling"},
		     {0.75, true, "near the memory's rate"},
		     {0.52, false, "1.9 times the least time"},
		     {0.1, true, "10.0 times the least time"}};
	struct arena *a = arena_new(0);
	struct profile *p = nested();
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct kernel_row r = {.ns = 5000, .has_ceilings = true, .share = cases[i].share, .by_memory = cases[i].by_memory};
		assert_string_equal(kernel_verdict(a, p, &r), cases[i].verdict);
	}
	struct kernel_row row = kernel_row(p, 3); /* 100 operations a byte: arithmetic is the limit */
	assert_true(!row.by_memory && row.share > 0.94 && row.share < 0.96);
	profile_free(p);
	arena_free(a);
}

/* A statement above the memory's rate is measured against arithmetic, and there is nothing to measure a copy against. */
static void caches_are_faster_than_memory(void **state)
{
	struct arena *a = arena_new(0);
	struct profile *p = nested();
	uint32_t near = add(p, ITEM_KERNEL, PROFILE_NONE, "near", 1000, 10.9e3), far = add(p, ITEM_KERNEL, PROFILE_NONE, "far", 1000, 50e3),
		 copy = add(p, ITEM_KERNEL, PROFILE_NONE, "copy", 1000, 0);
	profile_set(p, &p->items.at[near].values, METRIC_BYTES, 0, 10e3);
	profile_set(p, &p->items.at[far].values, METRIC_BYTES, 0, 20e3);
	profile_set(p, &p->items.at[copy].values, METRIC_BYTES, 0, 20e3);
	struct kernel_row row = kernel_row(p, near);
	assert_true(row.by_memory && !row.in_caches && row.share > 0.99 && row.share < 1.01);
	row = kernel_row(p, far);
	assert_true(!row.by_memory && row.in_caches && row.share == 0.5);
	assert_string_equal(kernel_verdict(a, p, &row), "its data stays in the caches");
	row = kernel_row(p, copy);
	assert_true(row.in_caches && row.share == 0);
	profile_set(p, &p->total, METRIC_BYTES, 0, 300 << 10);
	assert_true(!kernel_row(p, near).in_caches);
	profile_set(p, &p->total, METRIC_BYTES, 0, 200 << 10); /* all of a run stays in the caches */
	assert_true(kernel_row(p, near).in_caches && !kernel_row(p, near).by_memory);
	assert_string_equal(kernel_verdict(a, p, &row), "its data stays in the caches");
	profile_free(p);
	arena_free(a);
}

/* The fastest statement proves what the device can do, if the clock can measure it. */
static void ceilings_are_raised_to_statements(void **state)
{
	struct profile *p = nested();
	struct ceilings c = kernel_raised_ceilings(p);
	assert_true(c.float_ops == 100e9 && c.int8_ops == 400e9);
	add(p, ITEM_KERNEL, PROFILE_NONE, "fast", 1000, 250e3);
	uint32_t faster = add(p, ITEM_KERNEL, PROFILE_NONE, "faster", 100, 50e3);
	c = kernel_raised_ceilings(p);
	assert_true(c.float_ops == 500e9 && c.int8_ops == 400e9);
	profile_add_fact(p, "clock_ns", 11);
	c = kernel_raised_ceilings(p);
	assert_true(c.float_ops == 250e9 && c.int8_ops == 400e9 && c.read_bytes == 10e9);
	assert_true(kernel_row(p, faster).share == 0);
	profile_free(p);
}

int test_kernel_rows(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_counts_twice),
		cmocka_unit_test(report_says_what_cannot_be_separated),
		cmocka_unit_test(verdicts_say_what_they_mean),
		cmocka_unit_test(caches_are_faster_than_memory),
		cmocka_unit_test(ceilings_are_raised_to_statements),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
