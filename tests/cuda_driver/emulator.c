/* CUDA's runtime on the CPU, one work item after the other. Kernels are functions of plain C++. The items of a group run as fibers: one that waits at a
 * barrier gives way, and a fiber that does not wait goes on with the next item. Memory of the device can be touched by kernels and copies alone, and ends
 * before a page that nothing can touch. EMULATED_CUDA_FAIL=n lets the n-th call fail. */
#include "cuda_runtime_api.h"
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { PAGE = 4096, ALIGN = 256, MOST_ITEMS = 1024, MOST_ARGUMENTS = 64, STACK = 64 << 10, MOST_MEMORY = 4096 };

dim3 threadIdx, blockIdx, blockDim;

struct memory {
	char *at, *pages; /* NULL: free */
	size_t bytes, size;
};
struct fiber {
	ucontext_t context;
	char *stack;
	unsigned item;
	bool is_waiting;
};
static struct memory memory[MOST_MEMORY];
static struct fiber fibers[MOST_ITEMS];
static unsigned n_fibers, current, next_item;
static ucontext_t scheduler;
static const void *running;
static uint64_t values[MOST_ARGUMENTS];
static unsigned long calls;

const char *cudaGetErrorString(cudaError_t status)
{
	switch (status) {
	case cudaSuccess: return "no error";
	case cudaErrorMemoryAllocation: return "out of memory";
	case cudaErrorInvalidConfiguration: return "invalid configuration argument";
	default: return "invalid argument";
	}
}

/* True if this call is the one that fails. */
static bool fails(void)
{
	const char *n = getenv("EMULATED_CUDA_FAIL");
	return n && ++calls == strtoul(n, NULL, 10);
}

/* ---- memory ---- */

static void protect(int access)
{
	for (unsigned i = 0; i < MOST_MEMORY; i++)
		if (memory[i].at && mprotect(memory[i].pages, memory[i].size, access) != 0)
			abort();
}

static bool is_device(const void *at, size_t bytes)
{
	for (unsigned i = 0; i < MOST_MEMORY; i++)
		if (memory[i].at && (const char *)at >= memory[i].at && (const char *)at + bytes <= memory[i].at + memory[i].bytes)
			return true;
	return !bytes;
}

cudaError_t cudaMalloc(void **at, size_t bytes)
{
	unsigned i = 0;
	*at = NULL;
	if (fails())
		return cudaErrorMemoryAllocation;
	while (i < MOST_MEMORY && memory[i].at)
		i++;
	size_t own = (bytes + ALIGN - 1) / ALIGN * ALIGN, size = (own + PAGE) / PAGE * PAGE;
	char *pages = mmap(NULL, size + PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (i == MOST_MEMORY || pages == MAP_FAILED)
		return cudaErrorMemoryAllocation;
	memory[i] = (struct memory){pages + size - own, pages, bytes, size};
	protect(PROT_READ | PROT_WRITE);
	memset(memory[i].at, 0xa5, bytes);
	protect(PROT_NONE);
	*at = memory[i].at;
	return cudaSuccess;
}

cudaError_t cudaFree(void *at)
{
	for (unsigned i = 0; i < MOST_MEMORY && at; i++)
		if (memory[i].at == at) {
			munmap(memory[i].pages, memory[i].size + PAGE);
			memory[i].at = NULL;
			return cudaSuccess;
		}
	return at ? cudaErrorInvalidValue : cudaSuccess;
}

cudaError_t cudaMemset(void *at, int value, size_t bytes)
{
	if (fails() || !is_device(at, bytes))
		return cudaErrorInvalidValue;
	protect(PROT_READ | PROT_WRITE);
	memset(at, value, bytes);
	protect(PROT_NONE);
	return cudaSuccess;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
	bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
	bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
	if (fails() || (to_device && !is_device(to, bytes)) || (from_device && !is_device(from, bytes)))
		return cudaErrorInvalidValue;
	protect(PROT_READ | PROT_WRITE);
	memmove(to, from, bytes);
	protect(PROT_NONE);
	return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
	(void)stream;
	return cudaMemcpy(to, from, bytes, kind);
}

/* ---- launches ---- */

#define EIGHT(n) values[n], values[n + 1], values[n + 2], values[n + 3], values[n + 4], values[n + 5], values[n + 6], values[n + 7]
#define EIGHT_TYPES uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t
typedef void kernel(EIGHT_TYPES, EIGHT_TYPES, EIGHT_TYPES, EIGHT_TYPES, EIGHT_TYPES, EIGHT_TYPES, EIGHT_TYPES, EIGHT_TYPES);

/* Pointers and integers of 64 bits are passed alike, and a function does not see further arguments. */
static void call_kernel(void)
{
	kernel *k;
	memcpy(&k, &running, sizeof k);
	k(EIGHT(0), EIGHT(8), EIGHT(16), EIGHT(24), EIGHT(32), EIGHT(40), EIGHT(48), EIGHT(56));
}

static void fiber_run(void)
{
	struct fiber *f = &fibers[current];
	while (next_item < blockDim.x) {
		threadIdx.x = f->item = next_item++;
		call_kernel();
	}
	f->is_waiting = false;
}

static void resume(unsigned i)
{
	current = i;
	threadIdx.x = fibers[i].item;
	if (swapcontext(&scheduler, &fibers[i].context) != 0)
		abort();
}

void __syncthreads(void)
{
	struct fiber *f = &fibers[current];
	f->is_waiting = true;
	if (swapcontext(&f->context, &scheduler) != 0)
		abort();
}

static void start_fiber(void)
{
	struct fiber *f = &fibers[n_fibers];
	f->stack = f->stack ? f->stack : malloc(STACK);
	if (!f->stack || getcontext(&f->context) != 0)
		abort();
	f->context.uc_stack.ss_sp = f->stack;
	f->context.uc_stack.ss_size = STACK;
	f->context.uc_link = &scheduler;
	makecontext(&f->context, fiber_run, 0);
	resume(n_fibers++);
}

/* All items reach the first barrier, then all of them the next one. */
static void run_group(void)
{
	bool waits = true;
	n_fibers = next_item = 0;
	while (next_item < blockDim.x)
		start_fiber();
	while (waits) {
		waits = false;
		for (unsigned i = 0; i < n_fibers; i++)
			if (fibers[i].is_waiting) {
				resume(i);
				waits |= fibers[i].is_waiting;
			}
	}
}

cudaError_t cudaLaunchKernel(const void *function, dim3 groups, dim3 items, void **arguments, size_t shared, cudaStream_t stream)
{
	unsigned n = 0;
	(void)stream;
	if (fails() || shared || !groups.x || !items.x || items.x > MOST_ITEMS)
		return cudaErrorInvalidConfiguration;
	memset(values, 0, sizeof values);
	for (; arguments[n]; n++) {
		if (n == MOST_ARGUMENTS)
			abort();
		memcpy(&values[n], arguments[n], sizeof values[n]);
	}
	running = function;
	blockDim = items;
	protect(PROT_READ | PROT_WRITE);
	for (blockIdx.x = 0; blockIdx.x < groups.x; blockIdx.x++)
		run_group();
	protect(PROT_NONE);
	return cudaSuccess;
}

/* ---- numbers ---- */

float __double2float_rz(double a)
{
	float f = (float)a;
	return fabs((double)f) > fabs(a) ? nextafterf(f, 0) : f;
}

float emulated_half_value(unsigned short bits)
{
	int exponent = bits >> 10 & 31, fraction = bits & 1023;
	float size = exponent == 31 ? (fraction ? NAN : INFINITY)
		     : exponent     ? ldexpf((float)(fraction + 1024), exponent - 25)
				    : ldexpf((float)fraction, -24);
	return bits & 0x8000 ? -size : size;
}

/* Rounds to nearest, ties to even, as rint does. */
unsigned short emulated_half_bits(float a)
{
	unsigned sign = signbit(a) ? 0x8000u : 0;
	int exponent;
	if (a != a)
		return (unsigned short)(sign | 0x7e00u);
	a = fabsf(a);
	if (a >= 65520)
		return (unsigned short)(sign | 0x7c00u);
	frexpf(a, &exponent);
	if (a == 0 || exponent < -13) /* zero or subnormal */
		return (unsigned short)(sign | (unsigned)rintf(ldexpf(a, 24)));
	return (unsigned short)(sign | ((unsigned)(exponent + 13) * 1024u + (unsigned)rintf(ldexpf(a, 11 - exponent))));
}
