#include "gpu/runtime/fast_forms.h"

enum { CAPABILITY_MAJOR = 0x4000, CAPABILITY_MINOR = 0x4001 }; /* cl_nv_device_attribute_query */
enum { CHECKS = 64, NAME = 128, EXTENSIONS = 8192 };

static uint32_t fast_forms_number(const struct tri_cl_device *d, cl_device_info what)
{
	cl_uint v = 0;
	return d->cl.clGetDeviceInfo(d->id, what, sizeof v, &v, NULL) == CL_SUCCESS ? v : 0;
}

const char *tri_cl_fast_forms(const struct tri_cl_device *d)
{
	char name[NAME] = "", extensions[EXTENSIONS] = "";
	if (d->variant != TRI_CL_GROUPS)
		return "";
	d->cl.clGetDeviceInfo(d->id, CL_DEVICE_NAME, sizeof name - 1, name, NULL);
	d->cl.clGetDeviceInfo(d->id, CL_DEVICE_EXTENSIONS, sizeof extensions - 1, extensions, NULL);
	struct tri_cl_dots of = {.vendor = fast_forms_number(d, CL_DEVICE_VENDOR_ID), .name = name, .extensions = extensions};
	if (of.vendor == TRI_CL_NVIDIA) {
		of.major = fast_forms_number(d, CAPABILITY_MAJOR);
		of.minor = fast_forms_number(d, CAPABILITY_MINOR);
	}
	return tri_cl_dot_option(&of);
}

/* What item i of tri_check_dot computes. */
static int32_t checked_dot(uint32_t i)
{
	uint32_t a = (i + 1) * 0x9e3779b9u, b = (i + 7) * 0x85ebca6bu;
	int32_t sum = (int32_t)i * 1000003;
	for (int k = 0; k < 32; k += 8)
		sum += (int8_t)(a >> k) * (int8_t)(b >> k);
	return sum;
}

static bool check_runs(const struct tri_cl_device *d, cl_kernel kernel, cl_mem results, cl_int got[CHECKS])
{
	const size_t items = CHECKS;
	return d->cl.clSetKernelArg(kernel, 0, sizeof results, &results) == CL_SUCCESS &&
	       d->cl.clEnqueueNDRangeKernel(d->queue, kernel, 1, NULL, &items, &items, 0, NULL, NULL) == CL_SUCCESS &&
	       d->cl.clEnqueueReadBuffer(d->queue, results, CL_TRUE, 0, CHECKS * sizeof *got, got, 0, NULL, NULL) == CL_SUCCESS;
}

bool tri_cl_fast_forms_hold(const struct tri_cl_device *d, cl_program program)
{
	cl_int status, got[CHECKS];
	cl_kernel kernel = d->cl.clCreateKernel(program, "tri_check_dot", &status);
	if (!kernel)
		return status == CL_INVALID_KERNEL_NAME;
	cl_mem results = tri_cl_buffer(d, sizeof got, NULL, "the self-check", NULL);
	bool hold = results && check_runs(d, kernel, results, got);
	for (uint32_t i = 0; hold && i < CHECKS; i++)
		hold = got[i] == checked_dot(i);
	if (results)
		d->cl.clReleaseMemObject(results);
	d->cl.clReleaseKernel(kernel);
	return hold;
}
