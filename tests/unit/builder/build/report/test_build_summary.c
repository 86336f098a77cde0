/* The build record is JSON with the promised keys. */
#include "builder/build/report/report.h"
#include "builder/build/session/build_result.h"
#include "builder/build/timing/timing.h"
#include "builder/store/lookups.h"
#include "tests/unit/unit.h"
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include "backend/plan/figures.h"
#include "base/buf.h"
#include "base/measure.h"

/* 5 ms later at each call. */
static int64_t clock_of_test(void)
{
	static int64_t now;
	return now += 5000000;
}

static void keys(void **state)
{
	struct timing *t = timing_new();
	struct build_result r = {.units = 9,
				 .compiled = 2,
				 .reused = 7,
				 .later = 3,
				 .hits = 7,
				 .misses = 2,
				 .packed = 5,
				 .packed_before = 6,
				 .efficiency = 0.75};
	const struct lookups lookups[LOOKUP_LEVELS] = {[LOOKUPS_MEMORY] = {3, 1}, [LOOKUPS_L3] = {0, 2}};
	const struct build_summary summary = {
		.type = "build", .ok = true, .wall_ns = 12345678, .jobs = 4, .result = &r, .lookups = lookups};
	struct buf b = {0};
	vec_push(&r.outputs, "build/libm.so");
	vec_push(&r.outputs, "build/\"odd\".h");
	struct measure_log *before = timing_enter(t, 2);
	((struct measure_log *)(uintptr_t)timing_lane(t, 2))->wall_ns = clock_of_test;
	phase_begin(PHASE_CODEGEN, "a");
	measure_end();
	timing_leave(t, before);
	struct plan_figures figures = {
		.of[FIRST_LOOP_PASS + LOOP_PASS_merge] = {.runs = 3, .changes = 4, .wall_ns = 1000000, .bytes = 100}};
	timing_watch_passes(t);
	timing_add_passes(t, &figures);
	timing_add_passes(t, &figures);
	build_summary_print(&summary, t, &b);
	assert_int_equal(b.at[b.len - 1], '\n');
	assert_ptr_equal(strchr(b.at, '\n'), b.at + b.len - 1);
	json_t *j = json_loads(b.at, 0, NULL);
	assert_non_null(j);
	assert_string_equal(json_string_value(json_object_get(j, "type")), "build");
	assert_true(json_is_true(json_object_get(j, "ok")));
	assert_true(json_number_value(json_object_get(j, "wall_ms")) > 12.3);
	json_t *p = json_object_get(j, "phases_ms");
	assert_int_equal(json_object_size(p), PHASE_COUNT);
	assert_true(json_number_value(json_object_get(p, "codegen")) == 5);
	json_t *pass = json_object_get(json_object_get(j, "passes"), "merge");
	assert_int_equal(json_object_size(json_object_get(j, "passes")), 1);
	assert_true(json_number_value(json_object_get(pass, "wall_ms")) == 2);
	assert_int_equal(json_integer_value(json_object_get(pass, "changes")), 8);
	json_t *u = json_object_get(j, "units");
	assert_int_equal(json_integer_value(json_object_get(u, "total")), 9);
	assert_int_equal(json_integer_value(json_object_get(u, "compiled")), 2);
	assert_int_equal(json_integer_value(json_object_get(u, "reused")), 7);
	assert_int_equal(json_integer_value(json_object_get(u, "later")), 3);
	assert_int_equal(json_integer_value(json_object_get(json_object_get(j, "cache"), "misses")), 2);
	json_t *levels = json_object_get(json_object_get(j, "cache"), "levels"), *l1 = json_object_get(levels, "l1");
	assert_int_equal(json_object_size(levels), LOOKUP_LEVELS);
	assert_int_equal(json_integer_value(json_object_get(l1, "lookups")), 4);
	assert_int_equal(json_integer_value(json_object_get(l1, "hits")), 3);
	assert_true(json_number_value(json_object_get(l1, "rate")) == 0.75);
	assert_true(json_number_value(json_object_get(json_object_get(levels, "l3"), "rate")) == 0);
	assert_null(json_object_get(json_object_get(levels, "l2"), "rate"));
	assert_int_equal(json_integer_value(json_object_get(json_object_get(j, "weights"), "packed")), 5);
	assert_int_equal(json_integer_value(json_object_get(json_object_get(j, "weights"), "reused")), 6);
	assert_int_equal(json_integer_value(json_object_get(j, "jobs")), 4);
	assert_true(json_integer_value(json_object_get(j, "peak_rss_kb")) > 0);
	assert_true(json_number_value(json_object_get(j, "efficiency")) == 0.75);
	assert_string_equal(json_string_value(json_array_get(json_object_get(j, "outputs"), 1)), "build/\"odd\".h");
	json_decref(j);
	buf_free(&b);
	vec_free(&r.outputs);
	timing_free(t);
}

int test_build_summary(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(keys)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
