#include "gpu/runtime/device.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "backend/runtime/model.h"
#include "backend/runtime/profile/origins.h"
#include "gpu/runtime/binaries.h"
#include "gpu/runtime/fast_forms.h"

enum { MAX_PLATFORMS = 32, MAX_DEVICES = 64, LOG_SIZE = 1 << 16, OPTIONS = 192, FORMS = 13 };

static const char *error_name(cl_int status)
{
	switch (status) {
#define STATUS(x) \
	case x: return #x;
		STATUS(CL_DEVICE_NOT_FOUND)
		STATUS(CL_DEVICE_NOT_AVAILABLE)
		STATUS(CL_COMPILER_NOT_AVAILABLE)
		STATUS(CL_MEM_OBJECT_ALLOCATION_FAILURE)
		STATUS(CL_OUT_OF_RESOURCES)
		STATUS(CL_OUT_OF_HOST_MEMORY)
		STATUS(CL_BUILD_PROGRAM_FAILURE)
		STATUS(CL_MAP_FAILURE)
		STATUS(CL_COMPILE_PROGRAM_FAILURE)
		STATUS(CL_LINKER_NOT_AVAILABLE)
		STATUS(CL_LINK_PROGRAM_FAILURE)
		STATUS(CL_INVALID_VALUE)
		STATUS(CL_INVALID_PLATFORM)
		STATUS(CL_INVALID_DEVICE)
		STATUS(CL_INVALID_CONTEXT)
		STATUS(CL_INVALID_COMMAND_QUEUE)
		STATUS(CL_INVALID_HOST_PTR)
		STATUS(CL_INVALID_MEM_OBJECT)
		STATUS(CL_INVALID_BINARY)
		STATUS(CL_INVALID_BUILD_OPTIONS)
		STATUS(CL_INVALID_PROGRAM)
		STATUS(CL_INVALID_PROGRAM_EXECUTABLE)
		STATUS(CL_INVALID_KERNEL_NAME)
		STATUS(CL_INVALID_KERNEL_DEFINITION)
		STATUS(CL_INVALID_KERNEL)
		STATUS(CL_INVALID_ARG_INDEX)
		STATUS(CL_INVALID_ARG_VALUE)
		STATUS(CL_INVALID_ARG_SIZE)
		STATUS(CL_INVALID_KERNEL_ARGS)
		STATUS(CL_INVALID_WORK_DIMENSION)
		STATUS(CL_INVALID_WORK_GROUP_SIZE)
		STATUS(CL_INVALID_WORK_ITEM_SIZE)
		STATUS(CL_INVALID_GLOBAL_OFFSET)
		STATUS(CL_INVALID_EVENT)
		STATUS(CL_INVALID_OPERATION)
		STATUS(CL_INVALID_BUFFER_SIZE)
		STATUS(CL_INVALID_GLOBAL_WORK_SIZE)
#undef STATUS
	case TRI_CL_TIMED_OUT: return "the device did not finish in time";
	case -1001: return "CL_PLATFORM_NOT_FOUND_KHR";
	default: return "OpenCL error";
	}
}

static bool is_memory_error(cl_int status)
{
	return status == CL_MEM_OBJECT_ALLOCATION_FAILURE || status == CL_OUT_OF_HOST_MEMORY || status == CL_OUT_OF_RESOURCES;
}

bool tri_cl_error(tri_error *err, const char *call, cl_int status)
{
	const char *remedy = is_memory_error(status)      ? "the device, or this process, is out of memory: close what else uses it"
			     : status == TRI_CL_TIMED_OUT ? "it hangs, or has more to do"
			     : status == CL_DEVICE_NOT_AVAILABLE
				     ? "the device was reset, or another program holds it"
				     : "the driver refuses what OpenCL 1.2 has: update it, or choose another device";
	tri_error_set(err, is_memory_error(status) ? TRI_ERR_MEMORY : TRI_ERR_DEVICE, "%s: %s (%d): %s", call, error_name(status), status,
		      remedy);
	return false;
}

/* A driver reports a kernel that faulted or ran too long, and a device that was reset, with the next command that waits. */
bool tri_cl_error_in(struct tri_cl_device *d, tri_error *err, const char *call, cl_int status, uint64_t place)
{
	char line[TRI_LINE];
	d->lost = true;
	if (status == TRI_CL_TIMED_OUT) {
		tri_error_set(err, TRI_ERR_DEVICE,
			      "%sthe device did not finish within %u ms: it hangs, or has more to do; open the model again",
			      tri_place_line(d->desc, place, line), (unsigned)d->timeout_ms);
		return false;
	}
	tri_error_set(
		err, TRI_ERR_DEVICE,
		"%s%s: %s (%d): the device stopped: it ran out of memory, its driver ended a kernel that ran too long, or it was reset; "
		"open the model again",
		tri_place_line(d->desc, place, line), call, error_name(status), status);
	return false;
}

cl_mem tri_cl_buffer(const struct tri_cl_device *d, uint64_t size, const void *from, const char *what, tri_error *err)
{
	cl_int status = CL_INVALID_BUFFER_SIZE;
	cl_mem m = NULL;
	size = from && size ? size : size / 4 * 4 + 4; /* kernels read bytes as words */
	if (from && d->unified)                        /* the device reads the memory of the library, if it can */
		m = d->cl.clCreateBuffer(d->context, CL_MEM_READ_ONLY | CL_MEM_USE_HOST_PTR, size, (void *)from, &status);
	if (!m && size <= d->most_bytes)
		m = d->cl.clCreateBuffer(d->context, from ? CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR : CL_MEM_READ_WRITE, size, (void *)from,
					 &status);
	if (m)
		return m;
	if (size > d->most_bytes)
		tri_error_set(err, TRI_ERR_MEMORY, "a buffer of %llu bytes is needed for %s, but this device has none above %llu",
			      (unsigned long long)size, what, (unsigned long long)d->most_bytes);
	else if (is_memory_error(status))
		tri_error_set(err, TRI_ERR_MEMORY, "the device has no room for %s of %llu bytes (clCreateBuffer: %s, %d)", what,
			      (unsigned long long)size, error_name(status), status);
	else
		tri_cl_error(err, "clCreateBuffer", status);
	return NULL;
}

/* Stores all devices in `ids`, in the order of the loader. Returns their number; 0: none, with the error. */
static cl_uint all_devices(const struct tri_cl_device *d, cl_device_id ids[MAX_DEVICES], tri_error *err)
{
	cl_platform_id platforms[MAX_PLATFORMS];
	cl_uint n_platforms = 0, seen = 0;
	cl_int none = CL_DEVICE_NOT_FOUND; /* why a platform has no device */
	cl_int status = d->cl.clGetPlatformIDs(MAX_PLATFORMS, platforms, &n_platforms);
	if (status == -1001) { /* CL_PLATFORM_NOT_FOUND_KHR, which only an extension header declares */
		tri_error_set(err, TRI_ERR_DEVICE, "no OpenCL platform is installed (clGetPlatformIDs: %d): " TRI_CL_DRIVERS, status);
		return 0;
	}
	if (status != CL_SUCCESS)
		return tri_cl_error(err, "clGetPlatformIDs", status);
	for (cl_uint p = 0; p < n_platforms && p < MAX_PLATFORMS && seen < MAX_DEVICES; p++) {
		cl_uint n = 0, room = MAX_DEVICES - seen;
		status = d->cl.clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, room, ids + seen, &n);
		if (status == CL_SUCCESS)
			seen += n < room ? n : room;
		else
			none = status;
	}
	if (seen == 0 && none != CL_DEVICE_NOT_FOUND)
		return tri_cl_error(err, "clGetDeviceIDs", none);
	if (seen == 0)
		tri_error_set(err, TRI_ERR_DEVICE, "%u OpenCL platform%s without a device: " TRI_CL_NO_DEVICE ", or " TRI_CL_DRIVERS,
			      (unsigned)n_platforms, n_platforms == 1 ? "" : "s");
	return seen;
}

static void device_name(const struct tri_cl_device *d, cl_device_id id, char name[TRI_CL_NAME])
{
	if (d->cl.clGetDeviceInfo(id, CL_DEVICE_NAME, TRI_CL_NAME, name, NULL) != CL_SUCCESS)
		snprintf(name, TRI_CL_NAME, "?");
	name[TRI_CL_NAME - 1] = 0;
}

static bool is_number(const char *which) { return !which[strspn(which, "0123456789")]; }

/* Lists those that have the name, or else all, as many as the message has room for. */
static cl_uint refuse_device(const struct tri_cl_device *d, const char *which, bool several, const cl_device_id *ids, cl_uint n,
			     tri_error *err)
{
	char list[sizeof err->message] = "", name[TRI_CL_NAME];
	size_t used = 0;
	for (cl_uint i = 0; i < n && used < sizeof list; i++) {
		device_name(d, ids[i], name);
		if (!several || strcasestr(name, which))
			used += (size_t)snprintf(list + used, sizeof list - used, "%s%u is `%.40s`", used ? ", " : "", (unsigned)i, name);
	}
	if (several)
		tri_error_set(err, TRI_ERR_DEVICE, "several OpenCL devices have %.60s in their names: %s", which, list);
	else
		tri_error_set(err, TRI_ERR_DEVICE, "there is no OpenCL device %.60s: %s", which, list);
	return n;
}

/* Returns the index of the device that is meant; `n`: none, with the error. */
static cl_uint device_find(const struct tri_cl_device *d, const char *which, const cl_device_id *ids, cl_uint n, tri_error *err)
{
	char name[TRI_CL_NAME];
	if (!which || !*which)
		return 0;
	if (is_number(which)) {
		cl_uint i = 0;
		for (const char *digit = which; *digit && i < n; digit++)
			i = 10 * i + (cl_uint)(*digit - '0');
		return i < n ? i : refuse_device(d, which, false, ids, n, err);
	}
	cl_uint found = 0, at = n;
	for (cl_uint i = 0; i < n; i++) {
		device_name(d, ids[i], name);
		if (strcasestr(name, which)) {
			found++;
			at = i;
		}
	}
	return found == 1 ? at : refuse_device(d, which, found > 1, ids, n, err);
}

static uint64_t runtime_device_info(const struct tri_cl_device *d, cl_device_info what, uint64_t otherwise)
{
	cl_ulong v = 0; /* a shorter value is in the low bytes */
	return d->cl.clGetDeviceInfo(d->id, what, sizeof v, &v, NULL) == CL_SUCCESS ? v : otherwise;
}

/* By the type of the device, unless TRIB_OPENCL_VARIANT names one. False: it names none that there is. */
static bool choose_variant(struct tri_cl_device *d, tri_error *err)
{
	static const char *const names[TRI_CL_VARIANTS] = {[TRI_CL_GROUPS] = "groups", [TRI_CL_WIDE] = "wide"};
	const char *wanted = secure_getenv("TRIB_OPENCL_VARIANT");
	int v = 0;
	while (wanted && *wanted && v < TRI_CL_VARIANTS && strcmp(wanted, names[v]) != 0)
		v++;
	if (v == TRI_CL_VARIANTS) {
		tri_error_set(err, TRI_ERR_ARGUMENT, "TRIB_OPENCL_VARIANT is \"%.60s\": it may be groups or wide", wanted);
		return false;
	}
	if (wanted && *wanted)
		d->variant = (enum tri_cl_variant)v;
	else
		d->variant = runtime_device_info(d, CL_DEVICE_TYPE, CL_DEVICE_TYPE_GPU) & CL_DEVICE_TYPE_CPU ? TRI_CL_WIDE : TRI_CL_GROUPS;
	return true;
}

bool tri_cl_device(struct tri_cl_device *d, const char *which, tri_error *err)
{
	cl_device_id ids[MAX_DEVICES];
	cl_uint n = all_devices(d, ids, err), i = n ? device_find(d, which, ids, n, err) : 0;
	if (i >= n)
		return false;
	d->id = ids[i];
	device_name(d, d->id, d->name);
	atomic_store(&d->has_name, true);
	if (!choose_variant(d, err))
		return false;
	d->unified = runtime_device_info(d, CL_DEVICE_HOST_UNIFIED_MEMORY, CL_FALSE) != CL_FALSE;
	d->most_bytes = runtime_device_info(d, CL_DEVICE_MAX_MEM_ALLOC_SIZE, UINT64_MAX);
	d->local_bytes = runtime_device_info(d, CL_DEVICE_LOCAL_MEM_SIZE, UINT64_MAX);
	return true;
}

/* No option that makes arithmetic less exact. Division and square root are correctly rounded if the device supports it. */
static const char *device_build_options(const struct tri_cl_device *d)
{
	if (runtime_device_info(d, CL_DEVICE_SINGLE_FP_CONFIG, 0) & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT)
		return "-w -cl-fp32-correctly-rounded-divide-sqrt";
	return "-w";
}

/* ---- build failures ---- */

/* Returns the number of the line that the log blames first: behind the name of the text and a colon, in the style of clang, or in parentheses. 0: none. */
static uint64_t blamed_line(const char *log)
{
	for (const char *at = log; *at; at++) {
		uint64_t line = 0;
		if ((*at != ':' && *at != '(') || at[1] < '0' || at[1] > '9')
			continue;
		for (at++; *at >= '0' && *at <= '9' && line < 1000000000; at++)
			line = line * 10 + (uint64_t)(*at - '0');
		if (*at == ':' || *at == ')' || *at == ',')
			return line;
	}
	return 0;
}

static bool is_name_end(char c) { return !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'); }

/* The step whose kernel begins at `at`, or NULL. */
static const struct tri_cl_step *step_of_kernel(const struct tri_cl_device *d, const char *at)
{
	for (uint32_t e = 0; e < d->desc->n_entries; e++) {
		const struct tri_cl_code *code = ((const struct tri_cl_entry *)d->desc->entries[e].code)->of[d->variant];
		for (int64_t i = 0; i < code->n_steps; i++) {
			const char *name = code->steps[i].kernel;
			size_t n = name ? strlen(name) : 0;
			if (n && strncmp(at, name, n) == 0 && is_name_end(at[n]))
				return &code->steps[i];
		}
	}
	return NULL;
}

/* Returns the place of the kernel that has this line of the program, or 0. */
static uint64_t place_of_line(const struct tri_cl_device *d, const char *text, uint64_t line)
{
	uint64_t place = 0;
	for (uint64_t n = 1; *text && n <= line; n++) {
		const char *end = strchr(text, '\n');
		size_t len = end ? (size_t)(end - text) : strlen(text);
		for (size_t i = 5; i < len && strncmp(text, "kernel", 6) == 0; i++)
			if (strncmp(text + i - 5, "void ", 5) == 0) {
				const struct tri_cl_step *step = step_of_kernel(d, text + i);
				place = step ? step->place : 0;
				break;
			}
		text += len + (end != NULL);
	}
	return place;
}

static void build_failed(const struct tri_cl_device *d, cl_program program, const struct tri_cl_program *data, cl_int status,
			 tri_error *err)
{
	char *log = calloc(1, LOG_SIZE + 1), *text = log, line[TRI_LINE];
	if (log && d->cl.clGetProgramBuildInfo(program, d->id, CL_PROGRAM_BUILD_LOG, LOG_SIZE, log, NULL) == CL_SUCCESS && *log) {
		while (*text == '\n' || *text == ' ')
			text++;
		tri_error_set(err, TRI_ERR_DEVICE, "%sclBuildProgram: %s (%d): %s",
			      tri_place_line(d->desc, place_of_line(d, data->text, blamed_line(log)), line), error_name(status), status,
			      text);
	} else {
		tri_cl_error(err, "clBuildProgram", status);
	}
	free(log);
}

static cl_program build_source(const struct tri_cl_device *d, const struct tri_cl_program *data, const char *options, tri_error *err)
{
	cl_int status;
	size_t size = data->text_size;
	cl_program program = d->cl.clCreateProgramWithSource(d->context, 1, (const char *[]){data->text}, &size, &status);
	if (!program) {
		tri_cl_error(err, "clCreateProgramWithSource", status);
		return NULL;
	}
	status = d->cl.clBuildProgram(program, 1, &d->id, options, NULL, NULL);
	if (status == CL_SUCCESS)
		return program;
	build_failed(d, program, data, status, err);
	d->cl.clReleaseProgram(program);
	return NULL;
}

/* Builds with fast forms. Returns NULL if the driver refuses them, or if they are wrong on this device. */
static cl_program build_fast(struct tri_cl_device *d, const struct tri_cl_program *data, const char *options)
{
	cl_program program = build_source(d, data, options, NULL);
	if (program && !tri_cl_fast_forms_hold(d, program)) {
		d->cl.clReleaseProgram(program);
		return NULL;
	}
	if (program)
		tri_cl_binary_save(d, data, options, program);
	return program;
}

bool tri_cl_supports(const struct tri_cl_device *d, const struct tri_cl_program *data, tri_error *err)
{
	return !data->fp64 || runtime_device_info(d, CL_DEVICE_DOUBLE_FP_CONFIG, 0) ||
	       tri_error_set(err, TRI_ERR_DEVICE, "the model computes in float64, which this device does not support") == TRI_OK;
}

cl_program tri_cl_build(struct tri_cl_device *d, const struct tri_cl_program *data, tri_error *err)
{
	char options[FORMS][OPTIONS]; /* the last without a fast form */
	uint32_t n = 0;
	cl_program program = NULL;
	for (char form[TRI_CL_FORM] = " "; *form && n < FORMS; n++) {
		*form = '\0';
		if (n + 1 < FORMS)
			tri_cl_fast_form(d, n, form);
		const char *language = strstr(form, "-cl-std=") ? "" : " -cl-std=CL1.2";
		snprintf(options[n], sizeof options[n], "%s%s%s", device_build_options(d), language, form);
	}
	for (uint32_t i = 0; i < n && !program; i++) /* where one is, faster forms have failed */
		program = tri_cl_binary_load(d, data, options[i]);
	for (uint32_t i = 0; i + 1 < n && !program; i++)
		program = build_fast(d, data, options[i]);
	if (program)
		return program;
	program = build_source(d, data, options[n - 1], err);
	if (program)
		tri_cl_binary_save(d, data, options[n - 1], program);
	return program;
}
