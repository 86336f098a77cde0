#include "tests/opencl_driver/driver.h"
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#define EXPORT __attribute__((visibility("default")))

static struct opencl_driver driver;
/* For programs that do not know the structure. */
__attribute__((constructor)) static void configure(void) { driver.hangs_in_build = getenv("OPENCL_DRIVER_HANGS_IN_BUILD") != NULL; }

EXPORT opencl_driver_fn opencl_driver;
struct opencl_driver *opencl_driver(void) { return &driver; }

typedef void any_call(void);
static any_call *real_call(const char *name)
{
	static void *so;
	if (!so)
		so = dlopen(TRIB_REAL_OPENCL, RTLD_NOW | RTLD_LOCAL);
	void *at = so ? dlsym(so, name) : NULL;
	if (!at) {
		fprintf(stderr, "%s has no %s\n", TRIB_REAL_OPENCL, name);
		abort();
	}
	any_call *call;
	memcpy(&call, &at, sizeof call);
	return call;
}

#define REAL(name) ((__typeof__(name) *)real_call(#name))

/* True if this call fails, with *status. */
static bool driver_fails(const char *name, cl_int *status)
{
	driver.calls++;
	driver.launches += !strcmp(name, "clEnqueueNDRangeKernel");
	driver.args += !strcmp(name, "clSetKernelArg");
	driver.buffers += !strcmp(name, "clCreateBuffer");
	driver.finishes += !strcmp(name, "clFinish");
	*status = driver.fail_with;
	if (driver.fail_at && (driver.calls == driver.fail_at || (driver.loses && driver.calls > driver.fail_at))) {
		if (driver.queue) /* a device that is lost touches no memory any more */
			REAL(clFinish)(driver.queue);
		driver.failed = driver.failed ? driver.failed : name;
		return true;
	}
	return false;
}

static cl_event gate; /* what commands that hang wait for */
static cl_command_queue behind_gate;

/* Returns what a command must wait for. Callers give no list of their own. */
static const cl_event *gate_of(cl_command_queue q, cl_uint *n)
{
	cl_context context;
	cl_int status;
	if (!driver.hang_at || driver.calls < driver.hang_at)
		return NULL;
	if (!gate) {
		REAL(clGetCommandQueueInfo)(q, CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
		gate = REAL(clCreateUserEvent)(context, &status);
		behind_gate = q;
		REAL(clRetainCommandQueue)(q);
	}
	driver.hung = true;
	*n = 1;
	return &gate;
}

EXPORT opencl_driver_resume_fn opencl_driver_resume;
void opencl_driver_resume(void)
{
	if (gate) {
		REAL(clSetUserEventStatus)(gate, CL_COMPLETE);
		REAL(clFinish)(behind_gate);
		REAL(clReleaseCommandQueue)(behind_gate);
		REAL(clReleaseEvent)(gate);
	}
	gate = NULL;
}

/* Functions that return a status, that create an object, that release one. */
#define STATUS(name, params, args)                                              \
	EXPORT cl_int name params                                               \
	{                                                                       \
		cl_int status;                                                  \
		return driver_fails(#name, &status) ? status : REAL(name) args; \
	}
#define COMMAND(name, params, args) /* e: where its event goes */ \
	EXPORT cl_int name params                                 \
	{                                                         \
		cl_int status;                                    \
		if (!driver_fails(#name, &status)) {              \
			w = gate_of(q, &n);                       \
			status = REAL(name) args;                 \
			driver.live += e && status == CL_SUCCESS; \
		}                                                 \
		return status;                                    \
	}
#define CREATE(type, name, params, args)                                           \
	EXPORT type name params                                                    \
	{                                                                          \
		cl_int status = CL_SUCCESS;                                        \
		type made = driver_fails(#name, &status) ? NULL : REAL(name) args; \
		if (made)                                                          \
			driver.live++;                                             \
		else if (errcode_ret && status != CL_SUCCESS)                      \
			*errcode_ret = status;                                     \
		return made;                                                       \
	}
#define RELEASE(name, type)                          \
	EXPORT cl_int name(type object)              \
	{                                            \
		cl_int status = REAL(name)(object);  \
		driver.live -= status == CL_SUCCESS; \
		return status;                       \
	}

/* If TRIB_DRIVER_DOT is set, the device has cl_khr_integer_dot_product: programs with dot products of a device are built with this option, too. If
 * TRIB_DRIVER_NVIDIA is set, it says that it is of NVIDIA, of compute capability 8.0; if TRIB_DRIVER_INTEL is, that it has sub-groups of Intel; the same. If
 * TRIB_DRIVER_WRONG is set, the kernel of this name computes something else. */
EXPORT cl_int clBuildProgram(cl_program p, cl_uint n, const cl_device_id *d, const char *o, void(CL_CALLBACK *f)(cl_program, void *),
			     void *u)
{
	const char *dot = getenv("TRIB_DRIVER_DOT"), *nvidia = getenv("TRIB_DRIVER_NVIDIA"), *intel = getenv("TRIB_DRIVER_INTEL");
	char options[512];
	cl_int status;
	sigset_t blocked;
	if (driver_fails("clBuildProgram", &status))
		return status;
	pthread_sigmask(SIG_BLOCK, NULL, &blocked);
	driver.takes_signals |= !sigismember(&blocked, SIGINT);
	if (driver.hangs_in_build)
		fprintf(stderr, "the driver hangs\n");
	while (driver.hangs_in_build)
		usleep(1000);
	snprintf(options, sizeof options, "%s %s", o,
		 dot && strstr(o, "TRI_DOT_")            ? dot
		 : nvidia && strstr(o, "TRI_DOT_NVIDIA") ? nvidia
		 : intel && strstr(o, "_INTEL")          ? intel
							 : "");
	return REAL(clBuildProgram)(p, n, d, options, f, u);
}
COMMAND(clEnqueueCopyBuffer,
	(cl_command_queue q, cl_mem from, cl_mem to, size_t a, size_t b, size_t size, cl_uint n, const cl_event *w, cl_event *e),
	(q, from, to, a, b, size, n, w, e))
COMMAND(clEnqueueFillBuffer,
	(cl_command_queue q, cl_mem m, const void *p, size_t ps, size_t at, size_t size, cl_uint n, const cl_event *w, cl_event *e),
	(q, m, p, ps, at, size, n, w, e))
COMMAND(clEnqueueReadBuffer,
	(cl_command_queue q, cl_mem m, cl_bool b, size_t at, size_t size, void *to, cl_uint n, const cl_event *w, cl_event *e),
	(q, m, b, at, size, to, n, w, e))
COMMAND(clEnqueueWriteBuffer,
	(cl_command_queue q, cl_mem m, cl_bool b, size_t at, size_t size, const void *from, cl_uint n, const cl_event *w, cl_event *e),
	(q, m, b, at, size, from, n, w, e))
STATUS(clFinish, (cl_command_queue q), (q))
STATUS(clFlush, (cl_command_queue q), (q))
/* The first poll finds that the command has ended, so that runs have the same number of calls. */
EXPORT cl_int clGetEventInfo(cl_event e, cl_event_info i, size_t n, void *to, size_t *has)
{
	cl_int status;
	if (driver_fails("clGetEventInfo", &status))
		return status;
	REAL(clWaitForEvents)(1, &e);
	return REAL(clGetEventInfo)(e, i, n, to, has);
}
STATUS(clGetEventProfilingInfo, (cl_event e, cl_profiling_info i, size_t n, void *to, size_t *has), (e, i, n, to, has))
STATUS(clGetPlatformInfo, (cl_platform_id p, cl_platform_info i, size_t n, void *to, size_t *has), (p, i, n, to, has))
STATUS(clGetProgramBuildInfo, (cl_program p, cl_device_id d, cl_program_build_info i, size_t n, void *to, size_t *has),
       (p, d, i, n, to, has))
STATUS(clGetProgramInfo, (cl_program p, cl_program_info i, size_t n, void *to, size_t *has), (p, i, n, to, has))
STATUS(clSetEventCallback, (cl_event e, cl_int type, void(CL_CALLBACK *f)(cl_event, cl_int, void *), void *u), (e, type, f, u))
STATUS(clSetKernelArg, (cl_kernel k, cl_uint i, size_t n, const void *v), (k, i, n, v))
STATUS(clWaitForEvents, (cl_uint n, const cl_event *e), (n, e))

CREATE(cl_context, clCreateContext,
       (const cl_context_properties *p, cl_uint n, const cl_device_id *d, void(CL_CALLBACK *f)(const char *, const void *, size_t, void *),
	void *u, cl_int *errcode_ret),
       (p, n, d, f, u, errcode_ret))
static cl_kernel driver_kernel(cl_program p, const char *name, cl_int *status)
{
	cl_kernel own = REAL(clCreateKernel)(p, name, status);
	const char *wrong = getenv("TRIB_DRIVER_WRONG");
	if (!own || !wrong || strcmp(name, wrong) != 0)
		return own;
	REAL(clReleaseKernel)(own);
	return REAL(clCreateKernel)(p, "tri_check_dot", status);
}
EXPORT cl_kernel clCreateKernel(cl_program p, const char *name, cl_int *errcode_ret)
{
	cl_kernel made = driver_fails("clCreateKernel", errcode_ret) ? NULL : driver_kernel(p, name, errcode_ret);
	driver.live += made != NULL;
	return made;
}
CREATE(cl_program, clCreateProgramWithBinary,
       (cl_context c, cl_uint n, const cl_device_id *d, const size_t *sizes, const unsigned char **bytes, cl_int *s, cl_int *errcode_ret),
       (c, n, d, sizes, bytes, s, errcode_ret))

EXPORT cl_program clCreateProgramWithSource(cl_context c, cl_uint n, const char **texts, const size_t *sizes, cl_int *errcode_ret)
{
	cl_int status;
	if (driver_fails("clCreateProgramWithSource", &status)) {
		*errcode_ret = status;
		return NULL;
	}
	cl_program p = REAL(clCreateProgramWithSource)(c, n, texts, sizes, errcode_ret);
	driver.live += p != NULL;
	driver.builds += p != NULL;
	return p;
}

EXPORT cl_command_queue clCreateCommandQueue(cl_context c, cl_device_id d, cl_command_queue_properties p, cl_int *errcode_ret)
{
	if (driver_fails("clCreateCommandQueue", errcode_ret))
		return NULL;
	driver.queue = REAL(clCreateCommandQueue)(c, d, p, errcode_ret);
	driver.live += driver.queue != NULL;
	return driver.queue;
}

EXPORT cl_int clReleaseCommandQueue(cl_command_queue q)
{
	driver.queue = NULL;
	driver.live--;
	return REAL(clReleaseCommandQueue)(q);
}

RELEASE(clReleaseContext, cl_context)
RELEASE(clReleaseEvent, cl_event)
RELEASE(clReleaseKernel, cl_kernel)
RELEASE(clReleaseMemObject, cl_mem)
RELEASE(clReleaseProgram, cl_program)

/* ---- what it reports ---- */

EXPORT cl_int clGetPlatformIDs(cl_uint n, cl_platform_id *out, cl_uint *has)
{
	cl_int status;
	if (driver_fails("clGetPlatformIDs", &status))
		return status;
	while (driver.hangs_in_find)
		usleep(1000);
	return driver.has_no_platform ? -1001 : REAL(clGetPlatformIDs)(n, out, has);
}

EXPORT cl_int clGetDeviceIDs(cl_platform_id p, cl_device_type t, cl_uint n, cl_device_id *out, cl_uint *has)
{
	cl_int status;
	if (driver_fails("clGetDeviceIDs", &status))
		return status;
	return driver.has_no_device ? CL_DEVICE_NOT_FOUND : REAL(clGetDeviceIDs)(p, t, n, out, has);
}

EXPORT cl_int clGetDeviceInfo(cl_device_id d, cl_device_info what, size_t n, void *to, size_t *has)
{
	cl_int status;
	if (driver_fails("clGetDeviceInfo", &status))
		return status;
	if (getenv("TRIB_DRIVER_NVIDIA") && n == sizeof(cl_uint) && (what == CL_DEVICE_VENDOR_ID || what == 0x4000 || what == 0x4001)) {
		*(cl_uint *)to = what == CL_DEVICE_VENDOR_ID ? 0x10de
				 : what == 0x4000            ? 8
							     : 0; /* 0x4000, 0x4001: of the compute capability */
		return CL_SUCCESS;
	}
	if (getenv("TRIB_DRIVER_INTEL") && what == 0x4108 && n >= 3 * sizeof(size_t)) { /* sizes of sub-groups */
		memcpy(to, (size_t[]){8, 16, 32}, 3 * sizeof(size_t));
		return CL_SUCCESS;
	}
	status = REAL(clGetDeviceInfo)(d, what, n, to, has);
	if (!to || status != CL_SUCCESS)
		return status;
	if (what == CL_DEVICE_EXTENSIONS && getenv("TRIB_DRIVER_DOT"))
		snprintf(to, n, "cl_khr_integer_dot_product");
	if (what == CL_DEVICE_EXTENSIONS && getenv("TRIB_DRIVER_INTEL"))
		snprintf(to, n, "cl_intel_required_subgroup_size cl_intel_subgroups cl_intel_subgroups_short");
	if (what == CL_DEVICE_DOUBLE_FP_CONFIG && driver.has_no_float64)
		*(cl_device_fp_config *)to = 0;
	if (what == CL_DEVICE_TYPE && driver.is_gpu)
		*(cl_device_type *)to = CL_DEVICE_TYPE_GPU;
	if (what == CL_DEVICE_HOST_UNIFIED_MEMORY && driver.is_discrete)
		*(cl_bool *)to = CL_FALSE;
	if (what == CL_DEVICE_MAX_WORK_GROUP_SIZE && driver.most_group)
		*(size_t *)to = driver.most_group;
	if (what == CL_DEVICE_MAX_MEM_ALLOC_SIZE && driver.most_bytes)
		*(cl_ulong *)to = driver.most_bytes;
	if (what == CL_DEVICE_LOCAL_MEM_SIZE && driver.no_local_memory)
		*(cl_ulong *)to = 0;
	if (what == CL_DEVICE_ADDRESS_BITS && driver.address_bits)
		*(cl_uint *)to = driver.address_bits;
	if (what == CL_DEVICE_MEM_BASE_ADDR_ALIGN && driver.align_bits)
		*(cl_uint *)to = driver.align_bits;
	return status;
}

EXPORT cl_int clGetKernelWorkGroupInfo(cl_kernel k, cl_device_id d, cl_kernel_work_group_info what, size_t n, void *to, size_t *has)
{
	cl_int status;
	if (driver_fails("clGetKernelWorkGroupInfo", &status))
		return status;
	status = REAL(clGetKernelWorkGroupInfo)(k, d, what, n, to, has);
	if (status == CL_SUCCESS && what == CL_KERNEL_WORK_GROUP_SIZE && driver.most_group && *(size_t *)to > driver.most_group)
		*(size_t *)to = driver.most_group;
	return status;
}

EXPORT cl_mem clCreateBuffer(cl_context c, cl_mem_flags f, size_t size, void *host, cl_int *errcode_ret)
{
	cl_int status = CL_INVALID_BUFFER_SIZE;
	if (driver_fails("clCreateBuffer", &status) || (driver.most_bytes && size > driver.most_bytes)) {
		*errcode_ret = status == CL_SUCCESS ? CL_INVALID_BUFFER_SIZE : status;
		return NULL;
	}
	cl_mem m = REAL(clCreateBuffer)(c, f, size, host, errcode_ret);
	driver.live += m != NULL;
	return m;
}

EXPORT cl_int clEnqueueNDRangeKernel(cl_command_queue q, cl_kernel k, cl_uint dims, const size_t *offset, const size_t *global,
				     const size_t *local, cl_uint n, const cl_event *w, cl_event *e)
{
	cl_int status;
	if (driver_fails("clEnqueueNDRangeKernel", &status))
		return status;
	if (driver.most_group && local && *local > driver.most_group)
		return CL_INVALID_WORK_GROUP_SIZE;
	if (driver.address_bits == 32 && *global > UINT32_MAX)
		return CL_INVALID_GLOBAL_WORK_SIZE;
	w = gate_of(q, &n);
	status = REAL(clEnqueueNDRangeKernel)(q, k, dims, offset, global, local, n, w, e);
	driver.live += e && status == CL_SUCCESS;
	return status;
}
