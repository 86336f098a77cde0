#include "builder/profile/kernel_sums.h"
#include <math.h>
#include <string.h>
#include "base/arena.h"
#include "base/map.h"

#define FEWEST_ITEMS 8 /* with fewer, no test of items is sharper than 0.01 */

static void kernel_sums_add(struct arena *a, struct kernel_sum *s, const struct profile *p, uint32_t item)
{
	for (uint32_t m = 0; m < METRIC_COUNT; m++) {
		const double *from = p->items.at[item].values.of[m];
		if (profile_metrics[m].unit != UNIT_NS && m != METRIC_BYTES && m != METRIC_OPERATIONS && m != METRIC_CALLS)
			continue;
		if (s->n_items == 0 && from)
			s->values.of[m] = ARENA_ARRAY(a, double, p->n_samples);
		if (!from)
			s->values.of[m] = NULL;
		for (uint32_t k = 0; s->values.of[m] && k < p->n_samples; k++)
			s->values.of[m][k] += from[k];
	}
	s->items = arena_grow(a, s->items, s->n_items, &s->items_cap, s->n_items + 1, sizeof *s->items);
	s->items[s->n_items++] = item;
}

struct kernel_sum *kernel_sums(struct arena *a, const struct profile *p, uint32_t *n)
{
	struct kernel_sum *list = ARENA_ARRAY(a, struct kernel_sum, p->items.len + 1);
	struct map known = {0};
	uint32_t len = 0;
	for (uint32_t i = 0; i < p->items.len; i++) {
		const char *name = p->items.at[i].kernel;
		uint64_t at = len;
		if (!name)
			continue;
		if (!map_get(&known, map_key_str(name), &at)) {
			map_put(&known, map_key_str(name), len);
			list[len++] = (struct kernel_sum){.name = name};
		}
		kernel_sums_add(a, &list[at], p, i);
	}
	map_free(&known);
	*n = 0;
	for (uint32_t i = 0; i < len; i++)
		if (list[i].n_items > 1)
			list[(*n)++] = list[i];
	return list;
}

static bool are_alike(const struct kernel_side *x, const struct kernel_side *y)
{
	bool alike = x->sum->n_items == y->sum->n_items;
	for (uint32_t i = 0; alike && i < x->sum->n_items; i++)
		alike = strcmp(x->profile->items.at[x->sum->items[i]].name, y->profile->items.at[y->sum->items[i]].name) == 0;
	return alike;
}

static double kernel_sums_at_least_one(double x) { return x > 1 ? x : 1; }

/* Returns the time of each item, and in *sum that of all. */
static double *of_items(struct arena *a, const struct kernel_side *s, enum profile_metric m, double *sum)
{
	double *times = ARENA_ARRAY(a, double, s->sum->n_items);
	*sum = 0;
	for (uint32_t i = 0; i < s->sum->n_items; i++) {
		const double *samples = s->profile->items.at[s->sum->items[i]].values.of[m];
		times[i] = kernel_sums_at_least_one(statistics_fastest(samples, s->profile->n_samples) * s->speed);
		*sum += times[i];
	}
	return times;
}

/* Returns the geometric mean of the items in each process: a sum would show the noise of the longest item. */
static double *of_processes(struct arena *a, const struct kernel_side *s, enum profile_metric m)
{
	double *means = ARENA_ARRAY(a, double, s->profile->n_samples);
	for (uint32_t k = 0; k < s->profile->n_samples; k++) {
		double logs = 0;
		for (uint32_t i = 0; i < s->sum->n_items; i++)
			logs += log(kernel_sums_at_least_one(s->profile->items.at[s->sum->items[i]].values.of[m][k] * s->speed));
		means[k] = exp(logs / s->sum->n_items);
	}
	return means;
}

bool kernel_difference(struct arena *a, struct kernel_side before, struct kernel_side after, enum profile_metric m, double alpha,
		       struct kernel_difference *out)
{
	if (before.sum->n_items < FEWEST_ITEMS || !are_alike(&before, &after) || !before.sum->values.of[m] || !after.sum->values.of[m])
		return false;
	const double *x = of_items(a, &before, m, &out->before), *y = of_items(a, &after, m, &out->after);
	out->ratio = statistics_paired_ratio(x, y, before.sum->n_items, alpha);
	struct ratio r = statistics_ratio(of_processes(a, &before, m), before.profile->n_samples, of_processes(a, &after, m),
					  after.profile->n_samples, alpha);
	if (r.p > alpha)
		out->ratio.p = fmax(out->ratio.p, r.p);
	return true;
}
