/* What all calls of one kernel cost together. */
#ifndef TRIB_BUILDER_PROFILE_KERNEL_SUMS_H
#define TRIB_BUILDER_PROFILE_KERNEL_SUMS_H
#include "builder/profile/profile.h"

struct kernel_sum {
	const char *name; /* "tri_conv_f32" */
	uint32_t *items;
	uint32_t n_items, items_cap;  /* at least two */
	struct profile_values values; /* times, work and calls; NULL if an item lacks them */
};
/* Returns the kernels that several items of a run call, in the order of their first items. Allocated in `a`. */
struct kernel_sum *kernel_sums(struct arena *a, const struct profile *p, uint32_t *n);
#endif
