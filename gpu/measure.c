/* Each figure is the best of several launches, timed by the device itself. */
#include "gpu/measure.h"
#include <stdio.h>
#include "base/buf.h"
#include "gpu/embedded.h"

#define ROUNDS 6
#define MOST_BYTES ((size_t)256 << 20) /* of a buffer: beyond caches */
#define LEAST_ITEMS ((size_t)1 << 14)
#define ITEMS_PER_UNIT ((size_t)2048) /* fill a compute unit several times over */
#define STEPS_OF_READS 16
#define TARGET_NS 20e6 /* of a launch in registers */
#define MOST_STEPS ((cl_uint)1 << 16)

extern const struct gpu_embedded GPU_MEASURE[];

struct meter {
	cl_device_id device;
	cl_context context;
	cl_command_queue queue;
	cl_program program;
	cl_mem from, to;
	size_t bytes; /* of each buffer */
	struct buf *why;
};

static bool fail(struct meter *m, const char *call, cl_int status)
{
	buf_printf(m->why, "%s failed: %d", call, status);
	return false;
}

static bool open_meter(struct meter *m)
{
	cl_int status;
	cl_ulong most = 0;
	const char *text = (const char *)GPU_MEASURE[0].bytes;
	if (!(m->context = clCreateContext(NULL, 1, &m->device, NULL, NULL, &status)))
		return fail(m, "clCreateContext", status);
	if (!(m->queue = clCreateCommandQueue(m->context, m->device, CL_QUEUE_PROFILING_ENABLE, &status)))
		return fail(m, "clCreateCommandQueue", status);
	if (!(m->program = clCreateProgramWithSource(m->context, 1, &text, &GPU_MEASURE[0].size, &status)))
		return fail(m, "clCreateProgramWithSource", status);
	if ((status = clBuildProgram(m->program, 1, &m->device, "-cl-mad-enable", NULL, NULL)) != CL_SUCCESS)
		return fail(m, "clBuildProgram", status);
	clGetDeviceInfo(m->device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof most, &most, NULL);
	m->bytes = most / 4 < MOST_BYTES ? (size_t)(most / 4) / 65536 * 65536 : MOST_BYTES;
	m->from = clCreateBuffer(m->context, CL_MEM_READ_WRITE, m->bytes, NULL, &status);
	m->to = m->from ? clCreateBuffer(m->context, CL_MEM_READ_WRITE, m->bytes, NULL, &status) : NULL;
	return m->to ? true : fail(m, "clCreateBuffer", status);
}

static void close_meter(struct meter *m)
{
	if (m->from)
		clReleaseMemObject(m->from);
	if (m->to)
		clReleaseMemObject(m->to);
	if (m->program)
		clReleaseProgram(m->program);
	if (m->queue)
		clReleaseCommandQueue(m->queue);
	if (m->context)
		clReleaseContext(m->context);
}

/* Returns the time of a launch on the device in ns, or -1. */
static double launch(struct meter *m, cl_kernel k, size_t items)
{
	cl_event done;
	cl_ulong began = 0, ended = 0;
	cl_int status = clEnqueueNDRangeKernel(m->queue, k, 1, NULL, &items, NULL, 0, NULL, &done);
	if (status != CL_SUCCESS)
		return fail(m, "clEnqueueNDRangeKernel", status), -1;
	status = clWaitForEvents(1, &done);
	if (status == CL_SUCCESS)
		status = clGetEventProfilingInfo(done, CL_PROFILING_COMMAND_START, sizeof began, &began, NULL);
	if (status == CL_SUCCESS)
		status = clGetEventProfilingInfo(done, CL_PROFILING_COMMAND_END, sizeof ended, &ended, NULL);
	clReleaseEvent(done);
	if (status != CL_SUCCESS)
		return fail(m, "clWaitForEvents", status), -1;
	return ended > began ? (double)(ended - began) : 1;
}

/* Returns the least time of several launches, or -1. The first one is slower. */
static double best_launch(struct meter *m, cl_kernel k, size_t items)
{
	double least = -1;
	for (int i = 0; i < ROUNDS; i++) {
		double ns = launch(m, k, items);
		if (ns < 0)
			return -1;
		least = i == 1 || (i > 1 && ns < least) ? ns : least;
	}
	return least;
}

static bool measure_memory(struct meter *m, const char *name, cl_uint steps, double *rate)
{
	cl_int status;
	cl_kernel k = clCreateKernel(m->program, name, &status);
	size_t items = m->bytes / sizeof(cl_float4) / steps;
	if (!k)
		return fail(m, "clCreateKernel", status);
	clSetKernelArg(k, 0, sizeof m->from, &m->from);
	clSetKernelArg(k, 1, sizeof m->to, &m->to);
	if (steps > 1)
		clSetKernelArg(k, 2, sizeof steps, &steps);
	double ns = best_launch(m, k, items);
	clReleaseKernel(k);
	if (ns < 0)
		return false;
	*rate = (double)items * sizeof(cl_float4) * (steps + 1) / ns * 1e9; /* read, and written once */
	return true;
}

/* Both kernels take four lanes of 32 bits; the bits of 1.0f are a good int, too. */
static bool measure_arithmetic(struct meter *m, const char *name, double *rate)
{
	enum { OPERATIONS = 2 * 4 * 8 }; /* of an item in a step */
	cl_int status;
	cl_kernel k = clCreateKernel(m->program, name, &status);
	cl_uint units = 1, steps = 64;
	const cl_float ones[4] = {1.0f, 1.0f, 1.0f, 1.0f};
	double ns = 0;
	if (!k)
		return fail(m, "clCreateKernel", status);
	clGetDeviceInfo(m->device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL);
	size_t items = units * ITEMS_PER_UNIT > LEAST_ITEMS ? units * ITEMS_PER_UNIT : LEAST_ITEMS;
	items = items * sizeof(cl_float4) > m->bytes ? m->bytes / sizeof(cl_float4) : items;
	clSetKernelArg(k, 0, sizeof m->to, &m->to);
	clSetKernelArg(k, 2, sizeof ones, ones);
	clSetKernelArg(k, 3, sizeof ones, ones);
	for (bool long_enough = false; !long_enough && ns >= 0;) {
		clSetKernelArg(k, 1, sizeof steps, &steps);
		ns = best_launch(m, k, items);
		long_enough = ns >= TARGET_NS / 4 || steps >= MOST_STEPS;
		steps = long_enough ? steps : steps * 4;
	}
	clReleaseKernel(k);
	if (ns < 0)
		return false;
	*rate = (double)items * steps * OPERATIONS / ns * 1e9;
	return true;
}

bool measure_device(cl_device_id device, struct gpu_ceilings *out, struct buf *why)
{
	struct meter m = {.device = device, .why = why};
	bool ok = open_meter(&m) && measure_memory(&m, "tri_measure_copy", 1, &out->copy_bytes) &&
		  measure_memory(&m, "tri_measure_read", STEPS_OF_READS, &out->read_bytes) &&
		  measure_arithmetic(&m, "tri_measure_float", &out->float_ops) &&
		  measure_arithmetic(&m, "tri_measure_int8", &out->int8_ops);
	close_meter(&m);
	return ok;
}
