/* How the calls of one kernel differ between two profiles. */
#ifndef TRIB_BUILDER_PROFILE_KERNEL_DIFFERENCE_H
#define TRIB_BUILDER_PROFILE_KERNEL_DIFFERENCE_H
#include "builder/profile/kernel_sums.h"
#include "builder/profile/statistics.h"

/* A kernel of a profile; times are multiplied by `speed`. */
struct kernel_side {
	const struct profile *profile;
	const struct kernel_sum *sum;
	double speed;
};
struct kernel_difference {
	double before, after; /* sums over the items of statistics_fastest */
	struct ratio ratio;
};
/* Compares each item with itself: one item may lie worse in memory in all processes of a recording, but not all of them. The interval is of the ratios of
 * the items. `p` is that of the items if the processes differ, too, with `alpha`. False: other items, or too few of them. */
bool kernel_difference(struct arena *a, struct kernel_side before, struct kernel_side after, enum profile_metric m, double alpha,
		       struct kernel_difference *out);
#endif
