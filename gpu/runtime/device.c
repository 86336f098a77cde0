#include "gpu/runtime/device.h"
#include <stdlib.h>
#include <string.h>
#include "backend/runtime/model.h"

enum { MAX_PLATFORMS = 32, MAX_DEVICES = 64, LOG_SIZE = 1 << 16 };

static const char *error_name(cl_int status)
{
	switch (status) {
#define NAME(x) \
	case x: return #x;
		NAME(CL_DEVICE_NOT_FOUND)
		NAME(CL_DEVICE_NOT_AVAILABLE)
		NAME(CL_COMPILER_NOT_AVAILABLE)
		NAME(CL_MEM_OBJECT_ALLOCATION_FAILURE)
		NAME(CL_OUT_OF_RESOURCES)
		NAME(CL_OUT_OF_HOST_MEMORY)
		NAME(CL_BUILD_PROGRAM_FAILURE)
		NAME(CL_MAP_FAILURE)
		NAME(CL_COMPILE_PROGRAM_FAILURE)
		NAME(CL_LINKER_NOT_AVAILABLE)
		NAME(CL_LINK_PROGRAM_FAILURE)
		NAME(CL_INVALID_VALUE)
		NAME(CL_INVALID_PLATFORM)
		NAME(CL_INVALID_DEVICE)
		NAME(CL_INVALID_CONTEXT)
		NAME(CL_INVALID_COMMAND_QUEUE)
		NAME(CL_INVALID_HOST_PTR)
		NAME(CL_INVALID_MEM_OBJECT)
		NAME(CL_INVALID_BINARY)
		NAME(CL_INVALID_BUILD_OPTIONS)
		NAME(CL_INVALID_PROGRAM)
		NAME(CL_INVALID_PROGRAM_EXECUTABLE)
		NAME(CL_INVALID_KERNEL_NAME)
		NAME(CL_INVALID_KERNEL_DEFINITION)
		NAME(CL_INVALID_KERNEL)
		NAME(CL_INVALID_ARG_INDEX)
		NAME(CL_INVALID_ARG_VALUE)
		NAME(CL_INVALID_ARG_SIZE)
		NAME(CL_INVALID_KERNEL_ARGS)
		NAME(CL_INVALID_WORK_DIMENSION)
		NAME(CL_INVALID_WORK_GROUP_SIZE)
		NAME(CL_INVALID_WORK_ITEM_SIZE)
		NAME(CL_INVALID_GLOBAL_OFFSET)
		NAME(CL_INVALID_EVENT)
		NAME(CL_INVALID_OPERATION)
		NAME(CL_INVALID_BUFFER_SIZE)
		NAME(CL_INVALID_GLOBAL_WORK_SIZE)
#undef NAME
	case -1001: return "CL_PLATFORM_NOT_FOUND_KHR";
	default: return "OpenCL error";
	}
}

bool tri_cl_error(tri_error *err, const char *call, cl_int status)
{
	tri_error_set(err, TRI_ERR_DEVICE, "%s: %s (%d)", call, error_name(status), status);
	return false;
}

/* Finds device `want` of all devices; *seen counts them. */
static bool device_find(uint64_t want, cl_device_id *out, uint64_t *seen, tri_error *err)
{
	cl_platform_id platforms[MAX_PLATFORMS];
	cl_uint n_platforms = 0;
	*seen = 0;
	cl_int status = clGetPlatformIDs(MAX_PLATFORMS, platforms, &n_platforms);
	if (status == -1001) { /* CL_PLATFORM_NOT_FOUND_KHR, which only an extension header declares */
		tri_error_set(err, TRI_ERR_DEVICE, "no OpenCL platform is installed (clGetPlatformIDs: %d)", status);
		return false;
	}
	if (status != CL_SUCCESS)
		return tri_cl_error(err, "clGetPlatformIDs", status);
	for (cl_uint p = 0; p < n_platforms && p < MAX_PLATFORMS; p++) {
		cl_device_id ids[MAX_DEVICES];
		cl_uint n = 0;
		if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, MAX_DEVICES, ids, &n) != CL_SUCCESS)
			continue;
		n = n < MAX_DEVICES ? n : MAX_DEVICES;
		if (want < *seen + n) {
			*out = ids[want - *seen];
			return true;
		}
		*seen += n;
	}
	if (*seen == 0)
		tri_error_set(err, TRI_ERR_DEVICE, "there is no OpenCL device");
	else
		tri_error_set(err, TRI_ERR_DEVICE, "there is no OpenCL device %llu: the last one is %llu", (unsigned long long)want,
			      (unsigned long long)*seen - 1);
	return false;
}

static bool runtime_device_number(const char *s, uint64_t *out)
{
	*out = 0;
	for (size_t i = 0; s[i]; i++) {
		if (s[i] < '0' || s[i] > '9' || i == 9)
			return false;
		*out = *out * 10 + (uint64_t)(s[i] - '0');
	}
	return true;
}

bool tri_cl_device(const char *which, cl_device_id *out, tri_error *err)
{
	uint64_t want = 0, seen;
	if (which && *which) {
		if (!runtime_device_number(which, &want)) {
			tri_error_set(err, TRI_ERR_ARGUMENT, "device \"%.60s\" is not a number as `trib devices` lists them", which);
			return false;
		}
	}
	return device_find(want, out, &seen, err);
}

enum tri_cl_variant tri_cl_variant_of(cl_device_id device)
{
	static const char *const names[TRI_CL_VARIANTS] = {[TRI_CL_GROUPS] = "groups", [TRI_CL_WIDE] = "wide"};
	const char *wanted = secure_getenv("TRIB_OPENCL_VARIANT");
	for (int v = 0; wanted && v < TRI_CL_VARIANTS; v++)
		if (strcmp(wanted, names[v]) == 0)
			return (enum tri_cl_variant)v;
	cl_device_type type = CL_DEVICE_TYPE_GPU;
	clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof type, &type, NULL);
	return type & CL_DEVICE_TYPE_CPU ? TRI_CL_WIDE : TRI_CL_GROUPS;
}

static bool has_fp64(cl_device_id device)
{
	cl_device_fp_config fp = 0;
	return clGetDeviceInfo(device, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof fp, &fp, NULL) == CL_SUCCESS && fp != 0;
}

/* No option that makes arithmetic less exact. Division and square root are correctly rounded if the device supports it. */
static const char *device_build_options(cl_device_id device)
{
	cl_device_fp_config fp = 0;
	if (clGetDeviceInfo(device, CL_DEVICE_SINGLE_FP_CONFIG, sizeof fp, &fp, NULL) == CL_SUCCESS &&
	    (fp & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT))
		return "-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt";
	return "-cl-std=CL1.2";
}

static void build_failed(cl_program program, cl_device_id device, cl_int status, tri_error *err)
{
	char *log = calloc(1, LOG_SIZE + 1), *text = log;
	if (log && clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, LOG_SIZE, log, NULL) == CL_SUCCESS && *log) {
		while (*text == '\n' || *text == ' ')
			text++;
		tri_error_set(err, TRI_ERR_DEVICE, "clBuildProgram: %s (%d): %s", error_name(status), status, text);
	} else {
		tri_cl_error(err, "clBuildProgram", status);
	}
	free(log);
}

cl_program tri_cl_build(cl_context context, cl_device_id device, const struct tri_cl_program *data, tri_error *err)
{
	cl_int status;
	size_t size = data->text_size;
	if (data->fp64 && !has_fp64(device)) {
		tri_error_set(err, TRI_ERR_DEVICE, "the model computes in float64, which this device does not support");
		return NULL;
	}
	cl_program program = clCreateProgramWithSource(context, 1, (const char *[]){data->text}, &size, &status);
	if (!program) {
		tri_cl_error(err, "clCreateProgramWithSource", status);
		return NULL;
	}
	status = clBuildProgram(program, 1, &device, device_build_options(device), NULL, NULL);
	if (status == CL_SUCCESS)
		return program;
	build_failed(program, device, status, err);
	clReleaseProgram(program);
	return NULL;
}
