/* Runs with the hook differ from those without for two reasons. After a report a statement finds the pipeline and the caches of the processor less ready: that is
 * about one time for each report, and is taken from each. What is left are neighbours on the machine, which delay some runs more than others: that
 * concerns all statements alike, so they are scaled. */
#include "builder/run/hook_cost.h"
#include <math.h>
#include "base/arena.h"
#include "builder/profile/profile.h"

#define MOST_READS 4 /* of the clock, for a report: more would be something else */

static double wall_of(const struct profile *p, uint32_t item) { return profile_median(p, &p->items.at[item].values, METRIC_WALL); }
static double calls_of(const struct profile *p, uint32_t item) { return profile_median(p, &p->items.at[item].values, METRIC_CALLS); }

static void set_times(struct profile *p, uint32_t item, double wall)
{
	struct profile_values *v = &p->items.at[item].values;
	double before = wall_of(p, item);
	profile_set(p, v, METRIC_WALL, 0, wall);
	profile_set(p, v, METRIC_LEAST, 0, fmin(profile_median(p, v, METRIC_LEAST), wall));
	if (v->of[METRIC_CPU] && before > 0)
		v->of[METRIC_CPU][0] *= wall / before;
}

/* Takes `each` from every call, but leaves a nanosecond. Returns the sum of those without a parent. */
static double subtract(struct profile *p, double each)
{
	uint32_t n = p->items.len;
	double *own = ARENA_ARRAY(p->arena, double, n + 1), *left = ARENA_ARRAY(p->arena, double, n + 1), sum = 0;
	for (uint32_t i = n; i-- > 0;) {
		uint32_t parent = p->items.at[i].parent;
		own[i] += wall_of(p, i);
		left[i] += fmax(own[i] - each * calls_of(p, i), fmin(own[i], 1));
		*(parent == PROFILE_NONE ? &sum : &left[parent]) += left[i];
		if (parent != PROFILE_NONE)
			own[parent] -= wall_of(p, i);
	}
	for (uint32_t i = 0; i < n; i++)
		set_times(p, i, left[i]);
	return sum;
}

void hook_cost_remove(struct profile *p, double measured_ns, int64_t clock_ns)
{
	double whole = profile_median(p, &p->total, METRIC_WALL), reports = 1; /* a run ends with one, too */
	for (uint32_t i = 0; i < p->items.len; i++)
		reports += calls_of(p, i);
	double each = fmin(fmax((measured_ns - whole) / reports, 0), MOST_READS * (double)clock_ns),
	       outside = fmax(profile_fact(p, "outside_ns", 0) - each, 0), sum = subtract(p, each) + outside,
	       scale = sum > 0 ? whole / sum : 1;
	for (uint32_t i = 0; i < p->items.len; i++)
		set_times(p, i, scale * wall_of(p, i));
	profile_add_fact(p, "measured_ns", measured_ns);
	profile_add_fact(p, "hook_ns", each);
	profile_add_fact(p, "scale", scale);
	profile_add_fact(p, "outside_ns", scale * outside);
}
