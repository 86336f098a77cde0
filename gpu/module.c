/* libtrib-gpu.so: lists and measures OpenCL devices for `trib devices` and `trib bench`. Linked with the OpenCL loader and with no code of other rooms. */
#include "gpu/module.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "gpu/measure.h"
#include "gpu/runtime/loader.h"

enum { MAX_PLATFORMS = 32 };

static void text(cl_device_id d, cl_device_info what, char *out, size_t cap)
{
	char full[1024] = "";
	size_t len = 0;
	if (clGetDeviceInfo(d, what, sizeof full - 1, full, &len) != CL_SUCCESS)
		full[0] = 0;
	snprintf(out, cap, "%.*s", (int)cap - 1, full + strspn(full, " "));
}

static uint64_t module_number(cl_device_id d, cl_device_info what)
{
	cl_ulong v = 0; /* a shorter value is in the low bytes */
	return clGetDeviceInfo(d, what, sizeof v, &v, NULL) == CL_SUCCESS ? v : 0;
}

static const char *type_name(uint64_t type)
{
	return type & CL_DEVICE_TYPE_GPU ? "gpu" : type & CL_DEVICE_TYPE_ACCELERATOR ? "accelerator" : "cpu";
}

static void gpu_module_describe(cl_device_id d, struct gpu_device *out)
{
	text(d, CL_DEVICE_NAME, out->name, sizeof out->name);
	text(d, CL_DEVICE_VENDOR, out->vendor, sizeof out->vendor);
	text(d, CL_DEVICE_VERSION, out->version, sizeof out->version);
	text(d, CL_DRIVER_VERSION, out->driver, sizeof out->driver);
	snprintf(out->type, sizeof out->type, "%s", type_name(module_number(d, CL_DEVICE_TYPE)));
	out->compute_units = (uint32_t)module_number(d, CL_DEVICE_MAX_COMPUTE_UNITS);
	out->memory_bytes = module_number(d, CL_DEVICE_GLOBAL_MEM_SIZE);
	out->max_alloc_bytes = module_number(d, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
	out->local_bytes = module_number(d, CL_DEVICE_LOCAL_MEM_SIZE);
	out->max_work_group = (uint32_t)module_number(d, CL_DEVICE_MAX_WORK_GROUP_SIZE);
}

/* Stores the handles of the platform's devices behind those of others. */
static void ask_platform(cl_platform_id p, struct gpu_answer *out, cl_device_id *handles)
{
	cl_device_id ids[GPU_MOST_DEVICES];
	cl_uint n = 0;
	if (clGetPlatformInfo(p, CL_PLATFORM_NAME, sizeof out->asked - 1, out->asked, NULL) != CL_SUCCESS)
		out->asked[0] = 0;
	if (clGetDeviceIDs(p, CL_DEVICE_TYPE_ALL, GPU_MOST_DEVICES, ids, &n) != CL_SUCCESS)
		return;
	for (cl_uint i = 0; i < n && i < GPU_MOST_DEVICES; i++, out->n++)
		if (out->n < GPU_MOST_DEVICES) {
			struct gpu_device *d = &out->list[out->n];
			memcpy(d->platform, out->asked, sizeof d->platform);
			gpu_module_describe(ids[i], d);
			handles[out->n] = ids[i];
		}
}

static void module_ask(struct gpu_answer *out, cl_device_id *handles)
{
	cl_platform_id platforms[MAX_PLATFORMS];
	cl_uint n = 0;
	cl_int status = clGetPlatformIDs(MAX_PLATFORMS, platforms, &n);
	for (cl_uint p = 0; status == CL_SUCCESS && p < n && p < MAX_PLATFORMS; p++)
		ask_platform(platforms[p], out, handles);
	if (status != CL_SUCCESS || n == 0)
		snprintf(out->why, sizeof out->why, "no OpenCL platform is installed (clGetPlatformIDs: %d): " TRI_CL_DRIVERS, status);
	else if (out->n == 0)
		snprintf(out->why, sizeof out->why, "%u OpenCL platform%s without a device: " TRI_CL_NO_DEVICE, n, n == 1 ? "" : "s");
}

static void devices(struct gpu_answer *out)
{
	cl_device_id handles[GPU_MOST_DEVICES];
	module_ask(out, handles);
}

static bool module_measure(uint32_t number, struct gpu_ceilings *out, struct buf *why)
{
	cl_device_id handles[GPU_MOST_DEVICES];
	struct gpu_answer *answer = calloc(1, sizeof *answer);
	bool found = false;
	if (answer) {
		module_ask(answer, handles);
		found = number < answer->n && number < GPU_MOST_DEVICES;
		if (!found && answer->n)
			buf_printf(why, "there is no device opencl:%u", number);
		else if (!found)
			buf_puts(why, answer->why);
	}
	free(answer);
	return found && measure_device(handles[number], out, why);
}

static const struct gpu_api API = {GPU_ABI, devices, module_measure};

gpu_entry_fn trib_gpu;
__attribute__((visibility("default"))) const struct gpu_api *trib_gpu(void) { return &API; }
