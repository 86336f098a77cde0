#include "builder/profile/gate.h"
#include "tests/unit/unit.h"
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "builder/profile/figures.h"
#include "builder/profile/report.h"

#define SAMPLES 10

/* A build with one phase and one unit; times differ by some percent from sample to sample. */
static struct profile *sample(double phase_ms, double unit_ms)
{
	struct profile *p = profile_new(PROFILE_BUILD, SAMPLES);
	uint32_t phase = profile_add_item(p, ITEM_PHASE, PROFILE_NONE, "codegen", NULL);
	uint32_t unit = profile_add_item(p, ITEM_UNIT, PROFILE_NONE, "Block(64)", "src/net.tri:12");
	for (uint32_t s = 0; s < SAMPLES; s++) {
		double noise = 1 + 0.004 * s;
		profile_set(p, &p->items.at[phase].values, METRIC_WALL, s, phase_ms * 1e6 * noise);
		profile_set(p, &p->items.at[unit].values, METRIC_WALL, s, unit_ms * 1e6 * noise);
		profile_set(p, &p->total, METRIC_WALL, s, (phase_ms + unit_ms) * 1e6 * noise);
		profile_set(p, &p->total, METRIC_PEAK, s, 100e6);
	}
	return p;
}

struct outcome {
	enum gate_verdict verdict;
	char *text;
};

static struct outcome check(double before_ms, double after_ms, double threshold, const char *budget)
{
	struct arena *a = arena_new(0);
	struct profile *p = sample(40, before_ms), *q = sample(40, after_ms);
	struct compare_options co = {.threshold = 0.02, .alpha = 0.01};
	struct comparison *c = compare_profiles(p, q, co);
	struct gate_options o = {.threshold = threshold};
	struct report_options ro = {.top = 10};
	struct gate_result r;
	struct budget *budgets = NULL;
	struct buf text = {0};
	assert_true(gate_read_budgets(a, budget, &budgets, &o.n_budgets, &text));
	o.budgets = budgets;
	gate_check(c, &o, &r);
	report_gate(&r, &ro, &text);
	struct outcome out = {r.verdict, text.at};
	gate_free(&r);
	compare_free(c);
	profile_free(p);
	profile_free(q);
	arena_free(a);
	return out;
}

static void expect(double before_ms, double after_ms, double threshold, const char *budget, enum gate_verdict verdict, const char *text)
{
	struct outcome o = check(before_ms, after_ms, threshold, budget);
	assert_int_equal(o.verdict, verdict);
	assert_non_null(strstr(o.text, text));
	free(o.text);
}

static void regressions(void **state)
{
	expect(10, 10, 1.2, "", GATE_PASSED, "check passed");
	expect(10, 11, 1.2, "", GATE_PASSED, "check passed");
	expect(10, 15, 1.2, "", GATE_FAILED, "REGRESSION Block(64): wall");
	expect(10, 15, 1.2, "", GATE_FAILED, "at src/net.tri:12");
	expect(10, 11.1, 1.05, "", GATE_FAILED, "REGRESSION Block(64)");
	expect(10, 11.1, 1.1, "", GATE_UNDECIDED, "UNDECIDED Block(64)"); /* the interval includes 1.1 */
	expect(10, 5, 1.2, "", GATE_PASSED, "check passed");
}

static void budgets(void **state)
{
	expect(10, 10, 1.2, "total=1s,peak=500MB,unit:*=50ms", GATE_PASSED, "check passed");
	expect(10, 10, 1.2, "total=10ms", GATE_FAILED, "OVER BUDGET whole process: wall 50.9 ms, the budget is total=10ms");
	expect(10, 10, 1.2, "peak=50MB", GATE_FAILED, "peak memory");
	expect(10, 10, 1.2, "unit:Block*=5ms", GATE_FAILED, "OVER BUDGET Block(64)");
	expect(10, 10, 1.2, "unit:Other*=5ms", GATE_PASSED, "check passed");
}

static void rejects(const char *text)
{
	struct arena *a = arena_new(0);
	struct budget *list;
	uint32_t n;
	struct buf error = {0};
	assert_false(gate_read_budgets(a, text, &list, &n, &error));
	assert_true(error.len > 0);
	buf_free(&error);
	arena_free(a);
}

static void wrong_budgets(void **state)
{
	rejects("total");
	rejects("total=");
	rejects("total=1");
	rejects("total=1MB");
	rejects("peak=1s");
	rejects("shape:x=1s");
	rejects("total=-1s");
	rejects("total=1s,unit:*=nan");
}

static void figures(void **state)
{
	char text[FIGURE_SIZE];
	assert_string_equal(figure_text(UNIT_NS, 1234567, text), "1.23 ms");
	assert_string_equal(figure_text(UNIT_NS, 999999, text), "1.00 ms");
	assert_string_equal(figure_text(UNIT_NS, 15, text), "15 ns");
	assert_string_equal(figure_text(UNIT_NS, 2.5e9, text), "2.50 s");
	assert_string_equal(figure_text(UNIT_BYTES, 3 << 19, text), "1.50 MiB");
	assert_string_equal(figure_text(UNIT_COUNT, 1234567, text), "1,234,567");
	assert_string_equal(figure_change(1.1234, text), "+12.3 %");
	assert_string_equal(figure_change(0.5, text), "-50.0 %");
}

int test_gate(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(regressions),
		cmocka_unit_test(budgets),
		cmocka_unit_test(wrong_budgets),
		cmocka_unit_test(figures),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
