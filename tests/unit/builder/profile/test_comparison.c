#include "builder/profile/compare.h"
#include "tests/unit/unit.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"

#define ITEMS 20

/* Times with a noise of some percent, and now and then a much longer one, as on a shared machine. */
struct noise {
	uint64_t state;
};

static double uniform(struct noise *n)
{
	n->state = n->state * 6364136223846793005u + 1442695040888963407u;
	return (double)(n->state >> 11) / 9007199254740992.0;
}

static double noisy(struct noise *n, double value)
{
	double sum = 0;
	for (int i = 0; i < 6; i++)
		sum += uniform(n) - 0.5;
	return value * (1 + 0.03 * sum + (uniform(n) < 0.1 ? 0.4 * uniform(n) : 0));
}

/* Twenty items of 1, 2, … ms; the one called "item 7" takes `factor` times as long. */
static struct profile *sample(struct noise *n, uint32_t samples, double factor)
{
	struct profile *p = profile_new(PROFILE_RUN, samples);
	for (uint32_t i = 0; i < ITEMS; i++) {
		char name[32];
		snprintf(name, sizeof name, "item %u", i);
		profile_add_item(p, ITEM_KERNEL, PROFILE_NONE, name, NULL);
	}
	for (uint32_t s = 0; s < samples; s++) {
		double total = 0;
		for (uint32_t i = 0; i < ITEMS; i++) {
			double ns = noisy(n, (i + 1) * 1e6 * (i == 7 ? factor : 1));
			profile_set(p, &p->items.at[i].values, METRIC_WALL, s, ns);
			total += ns;
		}
		profile_set(p, &p->total, METRIC_WALL, s, total);
	}
	return p;
}

static void planted_changes_are_found_and_nothing_else(void **state)
{
	struct noise n = {1};
	struct compare_options o = COMPARE_DEFAULTS;
	uint32_t found = 0, others = 0, rounds = quick(100, 20);
	for (uint32_t i = 0; i < rounds; i++) {
		struct profile *p = sample(&n, 20, 1), *q = sample(&n, 20, 1.1);
		struct comparison *c = compare_profiles(p, q, o);
		uint32_t len;
		const uint32_t *rows = compare_rows(c, CHANGE_REGRESSION, &len);
		for (uint32_t k = 0; k < len; k++)
			*(strcmp(compare_name(c, &c->rows[rows[k]]), "item 7") == 0 ? &found : &others) += 1;
		others += c->counts[CHANGE_IMPROVEMENT];
		compare_free(c);
		profile_free(p);
		profile_free(q);
	}
	assert_true(found * 20 >= rounds * 19);
	assert_true(others * 100 <= rounds);
}

static void equal_profiles_raise_no_alarm(void **state)
{
	struct noise n = {2};
	struct compare_options o = COMPARE_DEFAULTS;
	uint32_t alarms = 0;
	for (uint32_t i = 0; i < 100; i++) {
		struct profile *p = sample(&n, 10, 1), *q = sample(&n, 10, 1);
		struct comparison *c = compare_profiles(p, q, o);
		alarms += c->counts[CHANGE_NONE] != c->n_rows;
		compare_free(c);
		profile_free(p);
		profile_free(q);
	}
	assert_true(alarms <= 1);
}

static enum change change_of(const struct comparison *c, const char *path)
{
	for (uint32_t i = 0; i < c->n_rows; i++)
		if (strcmp(compare_name(c, &c->rows[i]), path) == 0 && c->rows[i].metric == METRIC_WALL)
			return c->rows[i].change;
	return CHANGES;
}

static struct profile *single(double unit_ns, const char *other)
{
	struct profile *p = profile_new(PROFILE_BUILD, 1);
	uint32_t unit = profile_add_item(p, ITEM_UNIT, PROFILE_NONE, "Block(64)", NULL);
	uint32_t more = profile_add_item(p, ITEM_UNIT, PROFILE_NONE, other, NULL);
	profile_set(p, &p->items.at[unit].values, METRIC_WALL, 0, unit_ns);
	profile_set(p, &p->items.at[more].values, METRIC_WALL, 0, 5e6);
	profile_set(p, &p->total, METRIC_WALL, 0, unit_ns + 5e6);
	return p;
}

static void one_sample_shows_only_large_changes(void **state)
{
	struct profile *p = single(10e6, "f()"), *near = single(12e6, "f()"), *far = single(20e6, "g()");
	struct compare_options o = COMPARE_DEFAULTS;
	struct comparison *c = compare_profiles(p, near, o), *d = compare_profiles(p, far, o);
	assert_int_equal(change_of(c, "Block(64)"), CHANGE_UNDECIDED);
	assert_true(compare_visible(c, METRIC_WALL) == 0);
	assert_int_equal(change_of(d, "Block(64)"), CHANGE_REGRESSION);
	assert_int_equal(change_of(d, "f()"), CHANGE_REMOVED);
	assert_int_equal(change_of(d, "g()"), CHANGE_NEW);
	compare_free(c);
	compare_free(d);
	profile_free(p);
	profile_free(near);
	profile_free(far);
}

/* Everything, the calibration too, takes 1.3 times as long. */
static void slower_machine(void **state)
{
	struct noise n = {3};
	struct compare_options o = COMPARE_DEFAULTS;
	struct profile *p = sample(&n, 10, 1), *q = sample(&n, 10, 1);
	double before[10], after[10];
	for (uint32_t s = 0; s < 10; s++) {
		before[s] = 4e6;
		after[s] = 5.2e6;
		q->total.of[METRIC_WALL][s] *= 1.3;
		for (uint32_t i = 0; i < ITEMS; i++)
			q->items.at[i].values.of[METRIC_WALL][s] *= 1.3;
	}
	struct comparison *c = compare_profiles(p, q, o);
	assert_true(c->counts[CHANGE_REGRESSION] > ITEMS / 2);
	compare_free(c);
	p->calibration_ns = before;
	q->calibration_ns = after;
	c = compare_profiles(p, q, o);
	assert_int_equal(c->counts[CHANGE_NONE], c->n_rows);
	compare_free(c);
	profile_free(p);
	profile_free(q);
}

static void other_conditions(void **state)
{
	struct profile *p = single(1e6, "f()"), *q = single(1e6, "f()");
	struct buf text = {0};
	assert_true(compare_conditions(p, q, FOREIGN_LINE, &text));
	profile_add_setting(p, "jobs", "2");
	profile_add_setting(q, "jobs", "4");
	profile_add_setting(q, "flags", "-O2");
	q->machine.id = "other";
	assert_false(compare_conditions(p, q, FOREIGN_LINE, &text));
	assert_non_null(strstr(text.at, "jobs: 2 before, 4 after"));
	assert_non_null(strstr(text.at, "flags: not set before, -O2 after"));
	assert_non_null(strstr(text.at, "machine:"));
	buf_free(&text);
	profile_free(p);
	profile_free(q);
}

/* Returns the memory of a comparison of two trees of that depth. */
static size_t memory_of(uint32_t depth)
{
	struct profile *p = profile_new(PROFILE_BUILD, 4);
	for (uint32_t i = 0; i < depth; i++) {
		uint32_t item = profile_add_item(p, ITEM_STAGE, i ? i - 1 : PROFILE_NONE, "a stage of some length", NULL);
		for (uint32_t k = 0; k < 4; k++)
			profile_set(p, &p->items.at[item].values, METRIC_CPU, k, 1e9);
	}
	struct comparison *c = compare_profiles(p, p, (struct compare_options)COMPARE_DEFAULTS);
	assert_int_equal(c->counts[CHANGE_NONE], depth);
	size_t used = arena_used(c->arena);
	compare_free(c);
	profile_free(p);
	return used;
}

static void memory_grows_with_the_items_not_with_their_depth(void **state) { assert_true(memory_of(800) <= 3 * memory_of(400)); }

int test_comparison(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(planted_changes_are_found_and_nothing_else),
		cmocka_unit_test(equal_profiles_raise_no_alarm),
		cmocka_unit_test(one_sample_shows_only_large_changes),
		cmocka_unit_test(slower_machine),
		cmocka_unit_test(other_conditions),
		cmocka_unit_test(memory_grows_with_the_items_not_with_their_depth),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
