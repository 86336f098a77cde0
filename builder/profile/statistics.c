#include "builder/profile/statistics.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"

#define EXACT_PAIRS 2500 /* up to n_a * n_b: the exact distribution of the rank sum; beyond it a normal one */
#define EXACT_SIGNED 60  /* the same, for pairs */

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double *copy_sorted(const double *x, uint32_t n)
{
	double *s = alloc_zeroed((n ? n : 1) * sizeof *s);
	memcpy(s, x, n * sizeof *s);
	qsort(s, n, sizeof *s, compare_doubles);
	return s;
}

static double quantile_of_sorted(const double *s, uint32_t n, double q)
{
	double at = q * (n - 1);
	uint32_t i = (uint32_t)at;
	return i + 1 < n ? s[i] + (at - i) * (s[i + 1] - s[i]) : s[n - 1];
}

double statistics_quantile(const double *x, uint32_t n, double q)
{
	double *s = copy_sorted(x, n), r = quantile_of_sorted(s, n, q);
	free(s);
	return r;
}

double statistics_median(const double *x, uint32_t n) { return n == 1 ? x[0] : statistics_quantile(x, n, 0.5); }

double statistics_mean(const double *x, uint32_t n)
{
	double sum = 0;
	for (uint32_t i = 0; i < n; i++)
		sum += x[i] / n;
	return sum;
}

double statistics_deviation(const double *x, uint32_t n)
{
	double m = statistics_median(x, n), *d = alloc_zeroed(n * sizeof *d);
	for (uint32_t i = 0; i < n; i++)
		d[i] = fabs(x[i] - m);
	double r = statistics_median(d, n);
	free(d);
	return r;
}

/* ---- null distributions ---- */

/* Probabilities of a statistic that is a whole number 0 … n - 1 and symmetric; malloc'd. */
struct distribution {
	double *p;
	uint32_t n;
};

/* Of the number of pairs (i, j) with b_j > a_i, if both are of one distribution: the coefficients of the Gaussian binomial, by its
 * recurrence over factors (1 - x^(n_b + i)) / (1 - x^i). */
static struct distribution pairs_distribution(uint32_t n_a, uint32_t n_b)
{
	struct distribution d = {.n = n_a * n_b + 1};
	d.p = alloc_zeroed(d.n * sizeof *d.p);
	d.p[0] = 1;
	for (uint32_t i = 1; i <= n_a; i++) {
		for (uint32_t k = d.n - 1; k >= n_b + i; k--)
			d.p[k] -= d.p[k - n_b - i];
		for (uint32_t k = i; k < d.n; k++)
			d.p[k] += d.p[k - i];
		double factor = (double)i / (double)(n_b + i); /* keeps the sum at 1 */
		for (uint32_t k = 0; k < d.n; k++)
			d.p[k] *= factor;
	}
	return d;
}

/* Of the sum of the ranks of the positive differences of n pairs. */
static struct distribution signed_distribution(uint32_t n)
{
	struct distribution d = {.n = n * (n + 1) / 2 + 1};
	d.p = alloc_zeroed(d.n * sizeof *d.p);
	d.p[0] = 1;
	for (uint32_t i = 1; i <= n; i++)
		for (uint32_t k = d.n; k-- > 0;)
			d.p[k] = (d.p[k] + (k >= i ? d.p[k - i] : 0)) / 2;
	return d;
}

static double normal_tail(double z) { return erfc(z / sqrt(2)) / 2; }

/* A distribution, exact or a normal one, of a statistic with this mean and deviation. */
struct null_hypothesis {
	struct distribution exact; /* p NULL: normal */
	double mean, deviation;
};

/* P(statistic <= k) */
static double lower_tail(const struct null_hypothesis *h, double k)
{
	if (!h->exact.p)
		return normal_tail((h->mean - k - 0.5) / h->deviation);
	double sum = 0;
	for (uint32_t i = 0; i < h->exact.n && i <= k; i++)
		sum += h->exact.p[i];
	return sum < 1 ? sum : 1;
}

static double two_sided(const struct null_hypothesis *h, double statistic)
{
	double low = statistic < h->mean ? statistic : 2 * h->mean - statistic; /* symmetric */
	double p = 2 * lower_tail(h, floor(low));
	return p < 1 ? p : 1;
}

/* The number of order statistics to leave out at either end. */
static int64_t statistics_trimmed(const struct null_hypothesis *h, double alpha, int64_t n)
{
	int64_t k = 0;
	while (k < n / 2 && lower_tail(h, (double)k) <= alpha / 2)
		k++;
	return k;
}

/* The ratio whose logarithms, for all pairs, are `logs`. */
static struct ratio statistics_ratio_of(double *logs, uint32_t n, const struct null_hypothesis *h, double statistic, double alpha)
{
	qsort(logs, n, sizeof *logs, compare_doubles);
	int64_t k = statistics_trimmed(h, alpha, n);
	return (struct ratio){.estimate = exp(quantile_of_sorted(logs, n, 0.5)),
			      .low = k ? exp(logs[k - 1]) : 0,
			      .high = k ? exp(logs[n - k]) : INFINITY,
			      .p = two_sided(h, statistic)};
}

struct ratio statistics_ratio(const double *a, uint32_t n_a, const double *b, uint32_t n_b, double alpha)
{
	uint32_t n = n_a * n_b;
	double *logs = alloc_zeroed(n * sizeof *logs), larger = 0;
	for (uint32_t i = 0; i < n_a; i++)
		for (uint32_t k = 0; k < n_b; k++) {
			logs[i * n_b + k] = log(b[k] / a[i]);
			larger += b[k] > a[i] ? 1 : b[k] == a[i] ? 0.5 : 0;
		}
	struct null_hypothesis h = {.mean = n / 2.0, .deviation = sqrt(n * (n_a + n_b + 1.0) / 12)};
	if (n <= EXACT_PAIRS)
		h.exact = pairs_distribution(n_a, n_b);
	struct ratio r = statistics_ratio_of(logs, n, &h, larger, alpha);
	free(h.exact.p);
	free(logs);
	return r;
}

static double log_choose(uint32_t n, uint32_t k) { return lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0); }

/* The chance that as many of `a` as here, or more, are below the k-th smallest of `b`. */
static double precedence(const double *a, uint32_t n_a, const double *b, uint32_t n_b, uint32_t k)
{
	double *sorted = copy_sorted(b, n_b), p = 0;
	uint32_t below = 0;
	for (uint32_t i = 0; i < n_a; i++)
		below += a[i] < sorted[k - 1];
	free(sorted);
	uint32_t first = below + k - 1; /* of all values: fewer than k of them are of `b` */
	for (uint32_t j = 0; j < k; j++)
		if (first - j <= n_a && j <= n_b)
			p += exp(log_choose(n_b, j) + log_choose(n_a, first - j) - log_choose(n_a + n_b, first));
	return p < 1 ? p : 1;
}

double statistics_precedence(const double *a, uint32_t n_a, const double *b, uint32_t n_b)
{
	double p = 2 * fmin(precedence(a, n_a, b, n_b, n_b / 10 + 1), precedence(b, n_b, a, n_a, n_a / 10 + 1));
	return p < 1 ? p : 1;
}

enum { MOST_FASTEST = 12 };

/* The fastest of a sample: their number and mean, and the lowest bound of the least possible time at this confidence. */
struct fastest {
	uint32_t n;
	double mean, least, bound;
};

static struct fastest fastest_of(const double *x, uint32_t n, double alpha)
{
	double *s = copy_sorted(x, n);
	uint32_t quarter = n / 4 + 3 < MOST_FASTEST ? n / 4 + 3 : MOST_FASTEST;
	struct fastest f = {.n = quarter < n ? quarter : n, .least = s[0]};
	f.mean = statistics_mean(s, f.n);
	if (f.n > 1) {
		double t = 1 - pow(alpha, 1.0 / (f.n - 1));
		f.bound = s[0] - t / (1 - t) * (s[f.n - 1] - s[0]);
	}
	free(s);
	return f;
}

double statistics_fastest(const double *x, uint32_t n) { return fastest_of(x, n, 0.5).mean; }

struct ratio statistics_fastest_ratio(const double *a, uint32_t n_a, const double *b, uint32_t n_b, double alpha)
{
	struct fastest x = fastest_of(a, n_a, alpha / 2), y = fastest_of(b, n_b, alpha / 2);
	return (struct ratio){.estimate = y.mean / x.mean,
			      .low = y.bound > 0 ? fmin(y.bound / x.least, y.mean / x.mean) : 0,
			      .high = x.bound > 0 ? fmax(y.least / x.bound, y.mean / x.mean) : INFINITY,
			      .p = statistics_ratio(a, n_a, b, n_b, alpha).p};
}

struct ratio statistics_paired_ratio(const double *a, const double *b, uint32_t n, double alpha)
{
	uint32_t n_walsh = n * (n + 1) / 2, at = 0;
	double *logs = alloc_zeroed(n_walsh * sizeof *logs), positive = 0;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = i; k < n; k++) {
			double walsh = (log(b[i] / a[i]) + log(b[k] / a[k])) / 2;
			positive += walsh > 0 ? 1 : walsh == 0 ? 0.5 : 0;
			logs[at++] = walsh;
		}
	struct null_hypothesis h = {.mean = n_walsh / 2.0, .deviation = sqrt(n * (n + 1.0) * (2 * n + 1.0) / 24)};
	if (n <= EXACT_SIGNED)
		h.exact = signed_distribution(n);
	struct ratio r = statistics_ratio_of(logs, n_walsh, &h, positive, alpha);
	free(h.exact.p);
	free(logs);
	return r;
}

struct line statistics_line(const double *x, const double *y, uint32_t n)
{
	double mx = 0, my = 0, xx = 0, xy = 0, yy = 0;
	for (uint32_t i = 0; i < n; i++) {
		mx += x[i] / n;
		my += y[i] / n;
	}
	for (uint32_t i = 0; i < n; i++) {
		xx += (x[i] - mx) * (x[i] - mx);
		xy += (x[i] - mx) * (y[i] - my);
		yy += (y[i] - my) * (y[i] - my);
	}
	double slope = xx > 0 ? xy / xx : 0;
	return (struct line){slope, my - slope * mx, xx > 0 && yy > 0 ? xy * xy / (xx * yy) : yy > 0 ? 0 : 1};
}
