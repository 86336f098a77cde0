/* The times of statements and what is outside of them add up to a run, by whatever neighbours and the hook add. */
#include "builder/run/run_profile.h"
#include "backend/runtime/profile/collect.c" /* the code of built libraries */
#include "backend/runtime/profile/origins.c"
#include "base/arena.h"
#include "tests/unit/unit.h"

enum { RUNS = 12, OUTSIDE = 30 };

static const char texts[] = "\0loop\0unit";
static const tri_statement statements[] = {{.name = 1}, {.name = 1}, {.name = 6, .kind = TRI_STATEMENT_UNIT}, {.name = 1}};

/* A model whose runs take what the test says. */
struct tri_model {
	struct tri_collector *collector;
	tri_profile sums;
	int64_t wall_ns;
};
static const tri_profile *sums_of(struct tri_model *m, tri_error *e)
{
	(void)e;
	m->sums = *tri_profiling.result(m->collector, 1);
	m->sums.wall_ns = m->wall_ns;
	return &m->sums;
}
static const tri_model_desc desc = {.texts = texts, .statements = statements, .profile = sums_of};

static int64_t report(struct tri_model *m, uint32_t statement, int64_t start, int64_t ns, int64_t cpu)
{
	tri_profile_event e = {.size = sizeof e, .statement = statement, .start_ns = start, .ns = ns, .cpu_ns = cpu};
	tri_profiling.event(m->collector, &e);
	return start + ns;
}

/* Two loops, and a unit with a loop. A neighbour delays another one of them in each run, and the run number 5 by very much. */
static struct profile *measure(double *whole)
{
	struct run_profiler *p = run_profiler_new(&desc);
	const tri_options options = {.size = sizeof options, .profile = run_profiler_event, .profile_user = p};
	struct tri_model m = {.collector = tri_profiling.open(&desc, &options)};
	struct profile *out = profile_new(PROFILE_RUN, 1);
	for (int64_t run = 0, at = 1000; run < RUNS; run++, at += 100000) {
		int64_t delay = run == 5 ? 90000 : 900 + 10 * run, began = at;
		at = report(&m, 0, at, 1000 + (run % 3 == 0 ? delay : 0), 700);
		at = report(&m, 1, at, 500 + (run % 3 == 1 ? delay : 0), 400);
		int64_t inside = 200 + (run % 3 == 2 ? delay : 0);
		report(&m, 3, at + 10, inside, 100);
		at = report(&m, 2, at, inside + 20, 120);
		m.wall_ns += at - began + OUTSIDE;
		run_profiler_end_run(p, &m);
	}
	*whole = run_profiler_finish(p, out);
	run_profiler_free(p);
	tri_profiling.close(m.collector);
	return out;
}

static double wall(const struct profile *p, uint32_t item) { return profile_median(p, &p->items.at[item].values, METRIC_WALL); }

/* The middle half are the runs 3, 4, 6, 7, 8, 10 or their like: each statement is delayed in some of them. */
static void statements_add_up(void **state)
{
	double whole;
	struct profile *p = measure(&whole);
	assert_int_equal(p->items.len, 4);
	assert_true(p->items.at[2].kind == ITEM_UNIT && p->items.at[3].parent == 2);
	assert_true(p->spans.len == 4 && p->spans.at[3].item == 3 && p->spans.at[3].start_ns - p->spans.at[2].start_ns == 10);
	double outside = profile_fact(p, "outside_ns", -1);
	assert_float_equal(outside, OUTSIDE, 0.01);
	assert_float_equal(wall(p, 0) + wall(p, 1) + wall(p, 2) + outside, whole, 0.01);
	assert_true(whole > 1000 + 500 + 220 + OUTSIDE + 900 && whole < 3000); /* delays count, but not those of the slowest run */
	assert_float_equal(wall(p, 2) - wall(p, 3), 20, 0.01);
	assert_true(profile_median(p, &p->items.at[0].values, METRIC_LEAST) == 1000);
	assert_float_equal(profile_median(p, &p->items.at[0].values, METRIC_CPU), 700, 0.01);
	profile_free(p);
}

static void hook_is_taken_off_and_the_rest_scaled(void **state)
{
	static const double clocks[] = {20, 1000}, totals[] = {2000, 3500};
	for (int i = 0; i < 2; i++)
		for (int k = 0; k < 2; k++) {
			double measured;
			struct profile *p = measure(&measured);
			double before = wall(p, 1), cpu = profile_median(p, &p->items.at[1].values, METRIC_CPU);
			profile_set(p, &p->total, METRIC_WALL, 0, totals[k]);
			run_profile_remove_hook(p, measured, (int64_t)clocks[i]);
			double each = profile_fact(p, "hook_ns", -1), scale = profile_fact(p, "scale", 0);
			assert_float_equal(wall(p, 0) + wall(p, 1) + wall(p, 2) + profile_fact(p, "outside_ns", -1), totals[k], 0.01);
			assert_float_equal(profile_fact(p, "measured_ns", 0), measured, 0.01);
			assert_true(each >= 0 && each <= 4 * clocks[i] && (k == 0 || each == 0));
			assert_float_equal(wall(p, 1), (before - each) * scale, 0.01);
			assert_float_equal(profile_median(p, &p->items.at[1].values, METRIC_CPU), cpu * wall(p, 1) / before, 0.01);
			assert_true(profile_median(p, &p->items.at[1].values, METRIC_LEAST) <= wall(p, 1));
			assert_true(wall(p, 3) <= wall(p, 2));
			profile_free(p);
		}
}

int test_run_profile(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(statements_add_up),
		cmocka_unit_test(hook_is_taken_off_and_the_rest_scaled),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
