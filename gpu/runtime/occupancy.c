#include "gpu/runtime/occupancy.h"

enum { NVIDIA = 0x10de, COMPUTE_CAPABILITY_MAJOR = 0x4000, COMPUTE_CAPABILITY_MINOR = 0x4001 }; /* cl_nv_device_attribute_query */

static uint64_t device_number(const struct tri_cl_device *d, cl_device_info what)
{
	cl_ulong v = 0; /* a shorter value is in the low bytes */
	return d->cl.clGetDeviceInfo(d->id, what, sizeof v, &v, NULL) == CL_SUCCESS ? v : 0;
}

struct tri_cl_capacity tri_cl_capacity_of(const struct tri_cl_device *d)
{
	uint64_t most_group = device_number(d, CL_DEVICE_MAX_WORK_GROUP_SIZE);
	struct tri_cl_capacity c = {.is_cpu = (device_number(d, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) != 0,
				    .compute_units = (uint32_t)device_number(d, CL_DEVICE_MAX_COMPUTE_UNITS),
				    .most_group = most_group,
				    .unit_items = most_group,
				    .local_bytes = device_number(d, CL_DEVICE_LOCAL_MEM_SIZE)};
	if (device_number(d, CL_DEVICE_VENDOR_ID) == NVIDIA)
		tri_cl_nvidia_capacity(&c, (uint32_t)device_number(d, COMPUTE_CAPABILITY_MAJOR),
				       (uint32_t)device_number(d, COMPUTE_CAPABILITY_MINOR));
	return c;
}

cl_int tri_cl_launch_of(const struct tri_cl_device *d, cl_kernel kernel, size_t group, size_t items, tri_launch *out)
{
	const struct tri_cl_capacity c = tri_cl_capacity_of(d);
	size_t most = 0, multiple = 0, fixed[3] = {0};
	cl_ulong local = 0, private = 0;
	cl_int status = d->cl.clGetKernelWorkGroupInfo(kernel, d->id, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, NULL);
	if (status == CL_SUCCESS)
		status = d->cl.clGetKernelWorkGroupInfo(kernel, d->id, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, sizeof multiple,
							&multiple, NULL);
	if (status == CL_SUCCESS)
		status = d->cl.clGetKernelWorkGroupInfo(kernel, d->id, CL_KERNEL_LOCAL_MEM_SIZE, sizeof local, &local, NULL);
	if (status == CL_SUCCESS)
		status = d->cl.clGetKernelWorkGroupInfo(kernel, d->id, CL_KERNEL_PRIVATE_MEM_SIZE, sizeof private, &private, NULL);
	if (status == CL_SUCCESS)
		status = d->cl.clGetKernelWorkGroupInfo(kernel, d->id, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof fixed, fixed, NULL);
	*out = (tri_launch){.work_items = items,
			    .work_group = (uint32_t)group,
			    .most_work_group = (uint32_t)most,
			    .multiple = (uint32_t)multiple,
			    .compute_units = c.compute_units,
			    .local_bytes = local,
			    .private_bytes = private};
	out->occupancy = tri_cl_occupancy(&c, out, fixed[0] != 0);
	return status;
}
