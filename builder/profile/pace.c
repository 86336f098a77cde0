#include "builder/profile/pace.h"
#include <math.h>
#include "base/arena.h"
#include "base/map.h"

#define FEWEST_STAGES 8
#define SHORTEST_NS 300000 /* shorter ones are noise */
#define MOST_QUIET 0.05    /* of the machine: with less used by others they disturb no other process */
#define MOST_ALONE 1.15    /* all stages slower by more is not the machine's doing, if no other process uses it */
#define MOST_BESIDE 1.6    /* beside others: two threads of a core are as fast as 1.2 cores */

/* A stage in both profiles. */
struct pair {
	const struct profile_item *before, *after;
	double ns; /* its median in `before` */
};

static bool is_stage(const struct profile_item *i) { return (i->kind == ITEM_STAGE || i->kind == ITEM_PASS) && i->values.of[METRIC_CPU]; }

/* Returns the stages of both that have no parts and are long enough. */
static const struct pair *pairs_of(struct arena *a, const struct profile *p, const struct profile *profile, uint32_t *n)
{
	struct pair *pairs = ARENA_ARRAY(a, struct pair, p->items.len + 1);
	bool *is_parent = ARENA_ARRAY(a, bool, p->items.len + 1);
	struct map known = {0};
	*n = 0;
	for (uint32_t i = 0; i < p->items.len; i++)
		if (p->items.at[i].parent != PROFILE_NONE)
			is_parent[p->items.at[i].parent] = true;
	for (uint32_t i = 0; i < profile->items.len; i++)
		if (is_stage(&profile->items.at[i]))
			map_put(&known, profile->items.at[i].key, i);
	for (uint32_t i = 0; i < p->items.len; i++) {
		const struct profile_item *item = &p->items.at[i];
		uint64_t at;
		if (is_parent[i] || !is_stage(item) || !map_get(&known, item->key, &at))
			continue;
		double ns = profile_median(p, &item->values, METRIC_CPU);
		if (ns > SHORTEST_NS && !profile_is_of_files(p, &item->values))
			pairs[(*n)++] = (struct pair){item, &profile->items.at[at], ns};
	}
	map_free(&known);
	return pairs;
}

static double pace_at_least_one(double x) { return x > 1 ? x : 1; }

bool pace_is_disturbed(const struct profile *before, const struct profile *after)
{
	return fmax(profile_others_share(before), profile_others_share(after)) >= MOST_QUIET;
}

double pace_most(const struct profile *before, const struct profile *after)
{
	return log(pace_is_disturbed(before, after) ? MOST_BESIDE : MOST_ALONE);
}

/* Returns the logarithms of the factors of one side. */
static double *side_of(struct arena *a, const struct pair *pairs, uint32_t n, bool after, uint32_t n_samples)
{
	double *logs = ARENA_ARRAY(a, double, n_samples), *ratios = ARENA_ARRAY(a, double, n);
	for (uint32_t k = 0; k < n_samples; k++) {
		for (uint32_t i = 0; i < n; i++) {
			const struct profile_item *item = after ? pairs[i].after : pairs[i].before;
			ratios[i] = log(pace_at_least_one(item->values.of[METRIC_CPU][k]) / pairs[i].ns);
		}
		logs[k] = statistics_median(ratios, n);
	}
	return logs;
}

bool pace_of(struct arena *a, const struct profile *before, const struct profile *after, struct pace *out)
{
	uint32_t n;
	const struct pair *pairs = pairs_of(a, before, after, &n);
	if (n < FEWEST_STAGES)
		return false;
	double *x = side_of(a, pairs, n, false, before->n_samples), *y = side_of(a, pairs, n, true, after->n_samples);
	double difference = statistics_quantile(y, after->n_samples, PACE_QUIET) - statistics_quantile(x, before->n_samples, PACE_QUIET);
	double own = fabs(difference) < pace_most(before, after) ? 0 : difference;
	for (uint32_t k = 0; k < before->n_samples; k++)
		x[k] = exp(x[k]);
	for (uint32_t k = 0; k < after->n_samples; k++)
		y[k] = exp(y[k] - own);
	*out = (struct pace){x, y, difference - own};
	return true;
}

/* Times at the pace of each process, or all at that of the least disturbed ones. */
static double *at_pace(struct arena *a, const double *x, const double *pace, uint32_t n, bool of_each)
{
	double *out = ARENA_ARRAY(a, double, n), quiet = statistics_quantile(pace, n, PACE_QUIET);
	for (uint32_t k = 0; k < n; k++)
		out[k] = x[k] / (of_each ? pace[k] : quiet);
	return out;
}

static double deviation_of_logs(struct arena *a, const double *x, uint32_t n)
{
	double *logs = ARENA_ARRAY(a, double, n);
	for (uint32_t k = 0; k < n; k++)
		logs[k] = log(x[k]);
	return statistics_deviation(logs, n);
}

/* The smaller difference; none if they contradict each other. */
static double nearer_to_one(double x, double y)
{
	double a = log(x), b = log(y);
	return a * b <= 0 ? 1 : fabs(a) < fabs(b) ? x : y;
}

struct ratio pace_ratio(struct arena *a, const struct pace *p, const double *before, uint32_t n_before, const double *after,
			uint32_t n_after, double alpha, double *median)
{
	const double *x = NULL, *y = NULL;
	double scatter = INFINITY;
	for (int of_each = 1; of_each >= 0; of_each--) {
		const double *b = at_pace(a, before, p->before, n_before, of_each), *c = at_pace(a, after, p->after, n_after, of_each);
		double deviation = deviation_of_logs(a, b, n_before) + deviation_of_logs(a, c, n_after);
		if (deviation < scatter) {
			scatter = deviation;
			x = b, y = c;
		}
	}
	struct ratio r = statistics_ratio(x, n_before, y, n_after, alpha);
	double least = statistics_precedence(x, n_before, y, n_after),
	       fastest = statistics_fastest(y, n_after) / statistics_fastest(x, n_before);
	r.estimate = least < r.p ? fastest : nearer_to_one(r.estimate, fastest);
	r.low = fmin(r.low, r.estimate);
	r.high = fmax(r.high, r.estimate);
	r.p = fmin(1, 2 * fmin(r.p, least)); /* two tests */
	*median = statistics_median(x, n_before);
	return r;
}
