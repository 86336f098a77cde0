/* Statistics of small samples whose distribution is unknown: times on a machine that is never quiet. Nothing assumes a normal
 * distribution. Arrays are not changed. */
#ifndef TRIB_BUILDER_PROFILE_STATISTICS_H
#define TRIB_BUILDER_PROFILE_STATISTICS_H
#include <stdint.h>

/* The q-quantile, 0 <= q <= 1, interpolated between order statistics (Hyndman and Fan 1996, type 7). n >= 1. */
double statistics_quantile(const double *x, uint32_t n, double q);
double statistics_median(const double *x, uint32_t n);
double statistics_mean(const double *x, uint32_t n);
/* The median of the distances from the median. */
double statistics_deviation(const double *x, uint32_t n);

/* How `b` differs from `a` by a factor. */
struct ratio {
	double estimate;  /* the median of all b/a (Hodges and Lehmann 1963, on logarithms) */
	double low, high; /* its confidence interval: order statistics of all b/a (Moses 1965). 0 and infinity: too few samples */
	double p;         /* two-sided, of the rank sum (Mann and Whitney 1947): exact without ties and for small n */
};
/* All values > 0. `alpha`: 1 - the confidence of the interval. */
struct ratio statistics_ratio(const double *a, uint32_t n_a, const double *b, uint32_t n_b, double alpha);
/* The same for pairs that were measured beside each other: from the Walsh averages of the logarithms (Wilcoxon 1945). */
struct ratio statistics_paired_ratio(const double *a, const double *b, uint32_t n, double alpha);

/* Two-sided p of a difference between the smallest values: how many of one sample precede the k-th of the other, one tenth of it (Epstein 1954). Noise that
 * only adds time hides a difference less from it than from the rank sum. n > 0. */
double statistics_precedence(const double *a, uint32_t n_a, const double *b, uint32_t n_b);

/* The same from the fastest quarter of each and three more, at most twelve: noise of other processes only adds time, so the fastest ones say most of the work itself. The
 * estimate is the ratio of their means. The interval is of the ratio of the least possible times: the least of a sample, and what its distance
 * from the others leaves possible below it (Robson and Whitlock 1964, with more order statistics). `p` is that of statistics_ratio. */
struct ratio statistics_fastest_ratio(const double *a, uint32_t n_a, const double *b, uint32_t n_b, double alpha);
/* The mean of these. */
double statistics_fastest(const double *x, uint32_t n);

/* A straight line through points, by least squares. */
struct line {
	double slope, intercept, r2;
};
struct line statistics_line(const double *x, const double *y, uint32_t n);
#endif
