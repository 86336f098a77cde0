/* The occupancy of a launch, as far as OpenCL reports it. */
#ifndef TRI_OCCUPANCY_H
#define TRI_OCCUPANCY_H
#include "gpu/runtime/device.h"

/* What bounds the work items that a device can hold. */
struct tri_cl_capacity {
	bool is_cpu; /* a compute unit executes one group at a time */
	uint32_t compute_units;
	uint64_t most_group;  /* work items of the largest group of any kernel */
	uint64_t unit_items;  /* of a compute unit; at least most_group, if that is all that is known */
	uint64_t local_bytes; /* of a compute unit; 0: unknown */
};

/* Sets what a compute unit of this compute capability holds: nvidia_units.def. */
static inline void tri_cl_nvidia_capacity(struct tri_cl_capacity *c, uint32_t major, uint32_t minor)
{
	static const struct {
		uint32_t major, minor, items, local_kib;
	} units[] = {
#define UNIT(major, minor, items, local_kib) {major, minor, items, local_kib},
#include "gpu/runtime/nvidia_units.def"
	};
	c->local_bytes = 0; /* the driver's number is that of one group */
	for (uint32_t i = 0; i < sizeof units / sizeof *units; i++)
		if (units[i].major == major && units[i].minor == minor) {
			c->unit_items = units[i].items;
			c->local_bytes = (uint64_t)units[i].local_kib << 10;
		}
}

struct tri_cl_capacity tri_cl_capacity_of(const struct tri_cl_device *d);
/* Fills *out for a launch of `items` work items in groups of `group`. */
cl_int tri_cl_launch_of(const struct tri_cl_device *d, cl_kernel kernel, size_t group, size_t items, tri_launch *out);
/* Returns an upper bound of the occupancy: the work items in flight by those that the device can hold (NVIDIA, CUDA C++ Best Practices
 * Guide, "Occupancy"). OpenCL 1.2 does not tell how many a compute unit can hold, but at least the largest group of any kernel. Of one kernel
 * it holds no more than its registers and its local memory allow. `fixed`: the kernel says how large its groups are, so most_work_group does not
 * tell what its registers allow; nor does it if it is as large as any. */
static inline double tri_cl_occupancy(const struct tri_cl_capacity *c, const tri_launch *l, bool fixed)
{
	double units = c->compute_units ? c->compute_units : 1, groups = (double)l->work_items / l->work_group / units,
	       holds = (double)c->unit_items;
	double items = groups * l->work_group;
	if (c->is_cpu || holds < l->work_group)
		return groups < 1 ? groups : 1;
	if (!fixed && l->most_work_group && l->most_work_group < c->most_group && items > l->most_work_group)
		items = l->most_work_group;
	if (l->local_bytes && c->local_bytes) {
		double fit = (double)(c->local_bytes / l->local_bytes * l->work_group);
		items = items > fit ? fit : items;
	}
	return items < holds ? items / holds : 1;
}
#endif
