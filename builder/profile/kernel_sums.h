/* What all calls of one kernel cost together, and how that differs between two profiles. */
#ifndef TRIB_BUILDER_PROFILE_KERNEL_SUMS_H
#define TRIB_BUILDER_PROFILE_KERNEL_SUMS_H
#include "builder/profile/profile.h"
#include "builder/profile/statistics.h"

struct kernel_sum {
	const char *name; /* "tri_conv_f32" */
	uint32_t *items;
	uint32_t n_items, items_cap;  /* at least two */
	struct profile_values values; /* times, work and calls; NULL if an item lacks them */
};
/* Returns the kernels that several items of a run call, in the order of their first items. Allocated in `a`. */
struct kernel_sum *kernel_sums(struct arena *a, const struct profile *p, uint32_t *n);

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
