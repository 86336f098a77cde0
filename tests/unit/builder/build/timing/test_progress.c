/* The line that a build draws on a terminal. */
#include "builder/build/timing/progress.h"
#include "tests/unit/unit.h"
#include "base/buf.h"

#define S INT64_C(1000000000)

static void draws(const char *expected, uint32_t done, int64_t left_ns, const struct progress_task *running, uint32_t n, uint32_t columns)
{
	struct buf line = {0};
	progress_line(&line, done, 25, left_ns, running, n, columns);
	assert_string_equal(line.at, expected);
	buf_free(&line);
}

static void counts_and_time_left(void **state)
{
	draws("[17/25] <1 s left", 17, S / 5, NULL, 0, 79);
	draws("[17/25] 3 s left", 17, 3 * S, NULL, 0, 79);
	draws("[0/25] 99 s left", 0, 99 * S, NULL, 0, 79);
	draws("[0/25] 12 min left", 0, 700 * S, NULL, 0, 79);
}

static void running_units_that_fit(void **state)
{
	const struct progress_task units[] = {
		{"compile conv2d [8, 3, 3]", 12 * S / 10, S}, {"compile matmul", 8 * S / 10, S}, {"link", S / 10, S}};
	draws("[1/25] 3 s left: compile conv2d [8, 3, 3] 1.2 s, compile matmul 0.8 s, link 0.1 s", 1, 3 * S, units, 3, 100);
	draws("[1/25] 3 s left: compile conv2d [8, 3, 3] 1.2 s, compile matmul 0.8 s", 1, 3 * S, units, 3, 72);
	draws("[1/25] 3 s left: compile conv2d [8, 3, 3] 1.2 s, compile … 0.8 s", 1, 3 * S, units, 3, 64);
	draws("[1/25] 3 s left: compile co… 1.2 s", 1, 3 * S, units, 3, 34);
	draws("[1/25] 3 s left", 1, 3 * S, units, 3, 20);
}

/* A name may hold what is wide, and what moves the cursor. */
static void odd_names(void **state)
{
	const struct progress_task wide = {"層層層層層層層層層層", S, S}, control = {"a\033[2J\rb", S, S};
	draws("[1/25] 3 s left: 層層層層… 1.0 s", 1, 3 * S, &wide, 1, 32);
	draws("[1/25] 3 s left: a[2Jb 1.0 s", 1, 3 * S, &control, 1, 79);
}

int test_progress(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_and_time_left),
		cmocka_unit_test(running_units_that_fit),
		cmocka_unit_test(odd_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
