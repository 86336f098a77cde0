#include "builder/profile/scaling.h"
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "builder/profile/report.h"
#include "tests/unit/unit.h"

static void add(struct scaling *s, const char *name, double size, double wall_ns, bool is_measured)
{
	struct scaling_model m = {
		.name = name, .size = {size * 1e6, size, 100}, .is_measured = is_measured, .cost = {wall_ns, wall_ns, 1e6 * size}};
	vec_push(&s->models, m);
}

/* 5 ms and 2 ms for each million parameters; the model that was not measured does not count. */
static void lines_through_models(void **state)
{
	(void)state;
	struct scaling s = {.arena = arena_new(0), .samples = 1};
	struct line l;
	add(&s, "a", 1, 7e6, true);
	add(&s, "b", 2, 9e6, true);
	add(&s, "huge", 1000, 0, false);
	assert_false(scaling_line(&s, SIZE_PARAMETERS, false, &l));
	add(&s, "c", 10, 25e6, true);
	assert_true(scaling_line(&s, SIZE_PARAMETERS, false, &l));
	assert_true(l.slope > 1.9999 && l.slope < 2.0001);
	assert_true(l.intercept > 4.999e6 && l.intercept < 5.001e6);
	assert_true(l.r2 > 0.9999);
	assert_true(scaling_line(&s, SIZE_LAYERS, true, &l));
	assert_true(l.slope > 0.999e6 && l.slope < 1.001e6);
	assert_false(scaling_line(&s, SIZE_LINES, false, &l)); /* all have 100 */
	vec_free(&s.models);
	arena_free(s.arena);
}

static void a_report_says_what_is_missing(void **state)
{
	(void)state;
	struct scaling s = {.arena = arena_new(0), .samples = 3};
	const struct report_options o = {.format = REPORT_TEXT, .top = 10};
	struct buf out = {0};
	add(&s, "a", 1, 7e6, true);
	add(&s, "huge", 1000, 0, false);
	report_scaling(&s, &o, &out);
	assert_non_null(strstr(out.at, "not measured"));
	assert_non_null(strstr(out.at, "at least three models"));
	buf_free(&out);
	vec_free(&s.models);
	arena_free(s.arena);
}

int test_scaling(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(lines_through_models), cmocka_unit_test(a_report_says_what_is_missing)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
