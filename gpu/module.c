/* libtrib-gpu.so: lists and measures OpenCL devices for `trib devices` and `trib bench`. Linked with the OpenCL loader and with no code of other rooms. */
#include "gpu/module.h"
#include <stdio.h>
#include <string.h>
#include "base/buf.h"
#include "gpu/measure.h"

enum { MAX_PLATFORMS = 32, MAX_DEVICES = 64 };

static void text(cl_device_id d, cl_device_info what, char *out, size_t cap)
{
	char full[1024] = "";
	size_t len = 0;
	if (clGetDeviceInfo(d, what, sizeof full - 1, full, &len) != CL_SUCCESS)
		full[0] = 0;
	snprintf(out, cap, "%.*s", (int)cap - 1, full + strspn(full, " "));
}

static uint64_t number(cl_device_id d, cl_device_info what)
{
	cl_ulong v = 0; /* a shorter value is in the low bytes */
	return clGetDeviceInfo(d, what, sizeof v, &v, NULL) == CL_SUCCESS ? v : 0;
}

static const char *type_name(uint64_t type)
{
	return type & CL_DEVICE_TYPE_GPU ? "gpu" : type & CL_DEVICE_TYPE_ACCELERATOR ? "accelerator" : "cpu";
}

static void describe(cl_platform_id p, cl_device_id d, struct gpu_device *out)
{
	memset(out, 0, sizeof *out);
	if (clGetPlatformInfo(p, CL_PLATFORM_NAME, sizeof out->platform - 1, out->platform, NULL) != CL_SUCCESS)
		out->platform[0] = 0;
	text(d, CL_DEVICE_NAME, out->name, sizeof out->name);
	text(d, CL_DEVICE_VENDOR, out->vendor, sizeof out->vendor);
	text(d, CL_DEVICE_VERSION, out->version, sizeof out->version);
	text(d, CL_DRIVER_VERSION, out->driver, sizeof out->driver);
	snprintf(out->type, sizeof out->type, "%s", type_name(number(d, CL_DEVICE_TYPE)));
	out->compute_units = (uint32_t)number(d, CL_DEVICE_MAX_COMPUTE_UNITS);
	out->memory_bytes = number(d, CL_DEVICE_GLOBAL_MEM_SIZE);
	out->max_alloc_bytes = number(d, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
	out->local_bytes = number(d, CL_DEVICE_LOCAL_MEM_SIZE);
	out->max_work_group = (uint32_t)number(d, CL_DEVICE_MAX_WORK_GROUP_SIZE);
}

/* Calls fn for each device, in the order of the loader. Returns the number of devices; 0: *why says why. */
typedef void device_fn(void *ctx, uint32_t number, cl_platform_id p, cl_device_id d);
static uint32_t each_device(device_fn *fn, void *ctx, struct buf *why)
{
	cl_platform_id platforms[MAX_PLATFORMS];
	cl_uint n_platforms = 0;
	uint32_t found = 0;
	cl_int status = clGetPlatformIDs(MAX_PLATFORMS, platforms, &n_platforms);
	if (status != CL_SUCCESS || n_platforms == 0) {
		buf_printf(why, "no OpenCL platform is installed (clGetPlatformIDs: %d)", status);
		return 0;
	}
	for (cl_uint p = 0; p < n_platforms && p < MAX_PLATFORMS; p++) {
		cl_device_id ids[MAX_DEVICES];
		cl_uint n = 0;
		if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, MAX_DEVICES, ids, &n) != CL_SUCCESS)
			continue;
		for (cl_uint i = 0; i < n && i < MAX_DEVICES; i++, found++)
			fn(ctx, found, platforms[p], ids[i]);
	}
	if (found == 0)
		buf_printf(why, "%u OpenCL platform%s, but no device", n_platforms, n_platforms == 1 ? "" : "s");
	return found;
}

struct list {
	struct gpu_device *out;
	uint32_t cap;
};

static void add_device(void *ctx, uint32_t number, cl_platform_id p, cl_device_id d)
{
	const struct list *l = ctx;
	if (number < l->cap)
		describe(p, d, &l->out[number]);
}

static uint32_t devices(struct gpu_device *out, uint32_t cap, struct buf *why)
{
	struct list l = {out, cap};
	return each_device(add_device, &l, why);
}

struct wanted {
	uint32_t number;
	cl_device_id device;
};

static void find_device(void *ctx, uint32_t number, cl_platform_id p, cl_device_id d)
{
	struct wanted *w = ctx;
	(void)p;
	if (number == w->number)
		w->device = d;
}

static bool measure(uint32_t number, struct gpu_ceilings *out, struct buf *why)
{
	struct wanted w = {number, NULL};
	uint32_t n = each_device(find_device, &w, why);
	if (w.device)
		return measure_device(w.device, out, why);
	if (n)
		buf_printf(why, "there is no device opencl:%u", number);
	return false;
}

static const struct gpu_api API = {GPU_ABI, devices, measure};

gpu_entry_fn trib_gpu;
__attribute__((visibility("default"))) const struct gpu_api *trib_gpu(void) { return &API; }
