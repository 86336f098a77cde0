/* Each figure is the best of several kernels and of many launches, timed by the device itself. Launches are short: on a processor, neighbours take turns with them. */
#include "gpu/measure.h"
#include <stddef.h>
#include <stdio.h>
#include "base/buf.h"
#include "base/os.h"
#include "gpu/embedded.h"

#define ROUNDS 12
#define LEAST_NS 100000000             /* of all launches of a kernel */
#define MOST_BYTES ((size_t)256 << 20) /* of a buffer: beyond caches */
#define CPU_WINDOW ((size_t)16 << 20)  /* what a launch moves: a millisecond; the next one moves the next window */
#define LEAST_ITEMS ((size_t)1 << 13)
#define ITEMS_PER_UNIT ((size_t)2048) /* fill a compute unit several times over */
#define TARGET_NS 1e6                 /* of a launch in registers */
#define MOST_STEPS ((cl_uint)1 << 16)

extern const struct embedded GPU_MEASURE[];

struct meter {
	cl_device_id device;
	cl_context context;
	cl_command_queue queue;
	cl_program program;
	cl_mem from, to;
	size_t bytes, window; /* of each buffer, and of a launch */
	struct buf *why;
};

static bool measure_fail(struct meter *m, const char *call, cl_int status)
{
	buf_printf(m->why, "%s failed: %d", call, status);
	return false;
}

static bool open_meter(struct meter *m)
{
	cl_int status;
	cl_ulong most = 0;
	cl_device_type type = 0;
	const cl_float one = 1;
	const char *text = (const char *)GPU_MEASURE[0].bytes;
	if (!(m->context = clCreateContext(NULL, 1, &m->device, NULL, NULL, &status)))
		return measure_fail(m, "clCreateContext", status);
	if (!(m->queue = clCreateCommandQueue(m->context, m->device, CL_QUEUE_PROFILING_ENABLE, &status)))
		return measure_fail(m, "clCreateCommandQueue", status);
	if (!(m->program = clCreateProgramWithSource(m->context, 1, &text, &GPU_MEASURE[0].size, &status)))
		return measure_fail(m, "clCreateProgramWithSource", status);
	if ((status = clBuildProgram(m->program, 1, &m->device, "-w -cl-mad-enable", NULL, NULL)) != CL_SUCCESS)
		return measure_fail(m, "clBuildProgram", status);
	clGetDeviceInfo(m->device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof most, &most, NULL);
	clGetDeviceInfo(m->device, CL_DEVICE_TYPE, sizeof type, &type, NULL);
	m->bytes = most / 4 < MOST_BYTES ? (size_t)(most / 4) / 65536 * 65536 : MOST_BYTES;
	m->window = type & CL_DEVICE_TYPE_CPU && CPU_WINDOW < m->bytes ? CPU_WINDOW : m->bytes;
	m->from = clCreateBuffer(m->context, CL_MEM_READ_WRITE, m->bytes, NULL, &status);
	m->to = m->from ? clCreateBuffer(m->context, CL_MEM_READ_WRITE, m->bytes, NULL, &status) : NULL;
	if (!m->to)
		return measure_fail(m, "clCreateBuffer", status);
	cl_mem both[2] = {m->from, m->to};
	for (int i = 0; i < 2 && status == CL_SUCCESS; i++) /* unwritten memory is one page */
		status = clEnqueueFillBuffer(m->queue, both[i], &one, sizeof one, 0, m->bytes, 0, NULL, NULL);
	status = status == CL_SUCCESS ? clFinish(m->queue) : status;
	return status == CL_SUCCESS || measure_fail(m, "clEnqueueFillBuffer", status);
}

/* The kernel tri_measure_NAME. NULL: reported. */
static cl_kernel find_kernel(struct meter *m, const char *name)
{
	char symbol[64];
	cl_int status;
	snprintf(symbol, sizeof symbol, "tri_measure_%s", name);
	cl_kernel k = clCreateKernel(m->program, symbol, &status);
	if (!k)
		measure_fail(m, "clCreateKernel", status);
	return k;
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
static double measure_launch(struct meter *m, cl_kernel k, size_t items)
{
	cl_event done;
	cl_ulong began = 0, ended = 0;
	cl_int status = clEnqueueNDRangeKernel(m->queue, k, 1, NULL, &items, NULL, 0, NULL, &done);
	if (status != CL_SUCCESS)
		return measure_fail(m, "clEnqueueNDRangeKernel", status), -1;
	status = clWaitForEvents(1, &done);
	if (status == CL_SUCCESS)
		status = clGetEventProfilingInfo(done, CL_PROFILING_COMMAND_START, sizeof began, &began, NULL);
	if (status == CL_SUCCESS)
		status = clGetEventProfilingInfo(done, CL_PROFILING_COMMAND_END, sizeof ended, &ended, NULL);
	clReleaseEvent(done);
	if (status != CL_SUCCESS)
		return measure_fail(m, "clWaitForEvents", status), -1;
	return ended > began ? (double)(ended - began) : 1;
}

/* Of launches that move memory: the argument with the first element of their window, which goes around. */
struct windows {
	cl_uint argument, elements, n;
};

/* Returns the least time of several launches, or -1. The first one is slower. */
static double best_launch(struct meter *m, cl_kernel k, size_t items, const struct windows *w)
{
	double least = -1;
	int64_t began = os_now_ns();
	for (cl_uint i = 0; i < ROUNDS || os_now_ns() - began < LEAST_NS; i++) {
		cl_uint first = w ? i % w->n * w->elements : 0;
		if (w)
			clSetKernelArg(k, w->argument, sizeof first, &first);
		double ns = measure_launch(m, k, items);
		if (ns < 0)
			return -1;
		least = i == 1 || (i > 1 && ns < least) ? ns : least;
	}
	return least;
}

static bool measure_memory(struct meter *m, const char *name, cl_uint bytes, cl_uint steps, double *rate)
{
	cl_kernel k = find_kernel(m, name);
	struct windows w = {2, (cl_uint)(m->window / bytes), (cl_uint)(m->bytes / m->window)};
	size_t items = w.elements / steps;
	if (!k)
		return false;
	clSetKernelArg(k, 0, sizeof m->from, &m->from);
	clSetKernelArg(k, 1, sizeof m->to, &m->to);
	clSetKernelArg(k, 3, sizeof steps, &steps);
	double ns = best_launch(m, k, items, &w), all = (double)items * bytes * (steps + 1) / ns * 1e9; /* read, and written once */
	clReleaseKernel(k);
	*rate = all > *rate ? all : *rate;
	return ns >= 0;
}

static bool measure_arithmetic(struct meter *m, const char *name, cl_uint lanes, cl_uint sums, double *rate)
{
	cl_kernel k = find_kernel(m, name);
	cl_uint units = 1, steps = 4;
	const cl_float one = 1;
	double ns = 0;
	if (!k)
		return false;
	clGetDeviceInfo(m->device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL);
	size_t items = units * ITEMS_PER_UNIT > LEAST_ITEMS ? units * ITEMS_PER_UNIT : LEAST_ITEMS, most = m->bytes / (lanes * sizeof one);
	items = items > most ? most : items;
	clSetKernelArg(k, 0, sizeof m->to, &m->to);
	clSetKernelArg(k, 2, sizeof one, &one);
	do {
		steps *= 4;
		clSetKernelArg(k, 1, sizeof steps, &steps);
		ns = measure_launch(m, k, items); /* the first one compiles */
		ns = ns < 0 ? ns : measure_launch(m, k, items);
	} while (ns >= 0 && ns < TARGET_NS / 4 && steps < MOST_STEPS);
	ns = ns < 0 ? ns : best_launch(m, k, items, NULL);
	clReleaseKernel(k);
	double all = 2.0 * (double)items * steps * lanes * sums / ns * 1e9;
	*rate = all > *rate ? all : *rate;
	return ns >= 0;
}

static const struct {
	size_t ceiling; /* in struct gpu_ceilings */
	const char *name;
	cl_uint width, count; /* as the rows of measure.def have them */
	bool is_memory;
} kernels[] = {
#define MEMORY(ceiling, name, bytes, steps) {offsetof(struct gpu_ceilings, ceiling), name, bytes, steps, true},
#define ARITHMETIC(ceiling, name, lanes, sums) {offsetof(struct gpu_ceilings, ceiling), name, lanes, sums, false},
#include "gpu/measure.def"
};

bool measure_device(cl_device_id device, struct gpu_ceilings *out, struct buf *why)
{
	struct meter m = {.device = device, .why = why};
	bool ok = open_meter(&m);
	*out = (struct gpu_ceilings){0};
	for (size_t i = 0; ok && i < sizeof kernels / sizeof *kernels; i++) {
		double *rate = (double *)(void *)((char *)out + kernels[i].ceiling);
		ok = (kernels[i].is_memory ? measure_memory : measure_arithmetic)(&m, kernels[i].name, kernels[i].width, kernels[i].count,
										  rate);
	}
	close_meter(&m);
	return ok;
}
