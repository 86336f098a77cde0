#include "builder/profile/statistics.h"
#include "tests/unit/unit.h"
#include <math.h>

static void near(double x, double want) { assert_true(fabs(x - want) <= 1e-9 * fabs(want)); }

static void quantiles(void **state)
{
	const double x[] = {5, 1, 4, 2, 3}, one[] = {7};
	near(statistics_median(x, 5), 3);
	near(statistics_median(x, 4), 3);
	near(statistics_quantile(x, 5, 0.95), 4.8);
	near(statistics_quantile(x, 5, 1), 5);
	near(statistics_deviation(x, 5), 1);
	near(statistics_median(one, 1), 7);
}

/* The expected values come from enumerating all permutations. */
static void ratio_of_two_samples(void **state)
{
	const double a[] = {10, 11.2, 12, 9, 10.5}, b[] = {11, 12.5, 13, 12.2, 11.7, 14};
	struct ratio r = statistics_ratio(a, 5, b, 6, 0.05);
	near(r.estimate, 1.1683321445547923);
	near(r.p, 0.030303030303030304);
	near(r.low, 1.0166666666666666);
	near(r.high, 1.3888888888888888);
	near(statistics_ratio(a, 5, a, 5, 0.05).p, 1);
}

static void ratio_of_pairs(void **state)
{
	const double a[] = {10, 11, 12, 9, 10.5, 8, 7}, b[] = {11, 12.5, 13, 12.2, 11.7, 7.5, 9};
	struct ratio r = statistics_paired_ratio(a, b, 7, 0.1);
	near(r.estimate, 1.121646423500067);
	near(r.p, 0.03125);
	near(r.low, 1.0220777158038703);
	near(r.high, 1.2411301464407511);
}

static void too_few_samples_decide_nothing(void **state)
{
	const double a[] = {1, 1.1}, b[] = {5, 5.1};
	struct ratio r = statistics_ratio(a, 2, b, 2, 0.05);
	near(r.p, 1 / 3.0);
	assert_true(r.low == 0 && isinf(r.high));
}

/* The exact distribution and the normal one agree where one takes over from the other. */
static void large_samples(void **state)
{
	double a[60], b[60];
	for (int i = 0; i < 60; i++) {
		a[i] = 100 + i * 0.5;
		b[i] = 105 + i * 0.5;
	}
	struct ratio exact = statistics_ratio(a, 50, b, 50, 0.05), normal = statistics_ratio(a, 51, b, 50, 0.05);
	assert_true(exact.p < 0.01 && normal.p > exact.p / 3 && normal.p < exact.p * 3);
	assert_true(fabs(exact.low / normal.low - 1) < 0.01);
}

/* The smallest values. */
static void precedence_of_two_samples(void **state)
{
	double a[10], b[10], noisy[10];
	for (uint32_t i = 0; i < 10; i++) {
		a[i] = 100 + i % 5;
		b[i] = 103 + i;
		noisy[i] = i % 2 ? a[i] : 2 * a[i];
	}
	near(statistics_precedence(a, 10, a, 10), 1);
	near(statistics_precedence(a, 10, b, 10), statistics_precedence(b, 10, a, 10));
	/* k = 2: eight of a are below the second of b. 2 * P(at most one of the first nine is of b) = 2 * (C(10, 9) + 10 C(10, 8)) / C(20, 9) */
	near(statistics_precedence(a, 10, b, 10), 2 * (10 + 10 * 45) / 167960.0);
	assert_true(statistics_precedence(a, 10, noisy, 10) > 0.05); /* noise that only adds time */
}

/* Ten processes, of which some were disturbed. */
static void fastest_of_two_samples(void **state)
{
	double a[10], b[10], c[10];
	for (uint32_t i = 0; i < 10; i++) {
		a[i] = 100 + 0.1 * i;
		b[i] = i % 2 ? 300 : 100.05 + 0.1 * i;
		c[i] = i % 2 ? 300 : 110 + 0.1 * i;
	}
	struct ratio equal = statistics_fastest_ratio(a, 10, b, 10, 0.01), slower = statistics_fastest_ratio(a, 10, c, 10, 0.01);
	assert_true(equal.low <= 1 && equal.high >= 1 && equal.estimate > 1 && equal.estimate < 1.01);
	assert_true(slower.low > 1.05 && slower.low < slower.estimate && slower.estimate <= slower.high);
	near(slower.p, statistics_ratio(a, 10, c, 10, 0.01).p);
	near(statistics_fastest(a, 10), 100.2); /* the mean of five */
	double many[80];
	for (uint32_t i = 0; i < 80; i++)
		many[i] = i + 1;
	near(statistics_fastest(many, 80), 6.5); /* of twelve at most */
	assert_true(statistics_fastest_ratio(a, 1, b, 1, 0.01).high > 0);
}

static void line_through_points(void **state)
{
	const double x[] = {1, 2, 3, 4}, y[] = {3, 5, 7, 9}, flat[] = {2, 2, 2, 2};
	struct line l = statistics_line(x, y, 4);
	near(l.slope, 2);
	near(l.intercept, 1);
	near(l.r2, 1);
	near(statistics_line(x, flat, 4).r2, 1);
}

int test_statistics(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantiles),
		cmocka_unit_test(ratio_of_two_samples),
		cmocka_unit_test(ratio_of_pairs),
		cmocka_unit_test(too_few_samples_decide_nothing),
		cmocka_unit_test(precedence_of_two_samples),
		cmocka_unit_test(fastest_of_two_samples),
		cmocka_unit_test(large_samples),
		cmocka_unit_test(line_through_points),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
