/* What kernels use of CUDA C++: for clang, which compiles them for a device without CUDA's headers, and as plain C++, for the emulator. Functions that are
 * only declared are there for a compiler that links nothing. */
#ifndef EMULATED_CUDA_RUNTIME_H
#define EMULATED_CUDA_RUNTIME_H
#include <math.h>
#include <string.h>
#include "cuda_runtime_api.h"

#define __align__(n) __attribute__((aligned(n)))
#define __forceinline__ __inline__ __attribute__((always_inline))
#ifdef __CUDA__
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __constant__ __attribute__((constant))
#define __shared__ __attribute__((shared))
#define __launch_bounds__(n) __attribute__((launch_bounds(n)))
struct emulated_index {
	int x;
};
#define threadIdx (emulated_index{__nvvm_read_ptx_sreg_tid_x()})
#define blockIdx (emulated_index{__nvvm_read_ptx_sreg_ctaid_x()})
#define blockDim (emulated_index{__nvvm_read_ptx_sreg_ntid_x()})
static __device__ __forceinline__ int atomicCAS(int *at, int old, int value) { return __nvvm_atom_cas_gen_i(at, old, value); }
extern "C" __device__ void *memcpy(void *to, const void *from, size_t n) noexcept;
#define FUNCTION(name)                       \
	extern __device__ float name(float); \
	extern __device__ double name(double);
FUNCTION(fabs)
FUNCTION(sqrt)
FUNCTION(exp)
FUNCTION(log)
FUNCTION(sin)
FUNCTION(cos)
FUNCTION(tanh)
FUNCTION(erf)
FUNCTION(rint)
FUNCTION(floor)
FUNCTION(ceil)
#undef FUNCTION
#define FUNCTION_OF_2(name)                         \
	extern __device__ float name(float, float); \
	extern __device__ double name(double, double);
FUNCTION_OF_2(pow)
FUNCTION_OF_2(fmod)
FUNCTION_OF_2(copysign)
#undef FUNCTION_OF_2
static __device__ __forceinline__ float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
static __device__ __forceinline__ double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
static __device__ __forceinline__ int __popc(unsigned a) { return __builtin_popcount(a); }
static __device__ __forceinline__ unsigned __shfl_xor_sync(unsigned mask, unsigned x, int gap)
{
	unsigned y;
	__asm__ volatile("shfl.sync.bfly.b32 %0, %1, %2, 31, %3;" : "=r"(y) : "r"(x), "r"(gap), "r"(mask));
	return y;
}
template <typename F> static __device__ __forceinline__ bool isfinite(F a) { return a - a == 0; }
template <typename F> static __device__ __forceinline__ bool isinf(F a) { return a == a && a - a != 0; }
extern __device__ float __double2float_rz(double a);
#else
#define __global__ __global__ /* an attribute that compilers for C++ ignore */
#define __device__
#define __constant__
#define __shared__ static
#define __launch_bounds__(n)
extern "C" {
extern dim3 threadIdx, blockIdx, blockDim;
void __syncthreads(void);
float __double2float_rz(double a);
}
static inline int __popc(unsigned a) { return __builtin_popcount(a); }
static inline int atomicCAS(int *at, int old, int value)
{
	int found = *at;
	if (found == old)
		*at = value;
	return found;
}
#endif

#define LEAST_AND_MOST(T)                                                  \
	static inline __device__ T min(T a, T b) { return a < b ? a : b; } \
	static inline __device__ T max(T a, T b) { return a > b ? a : b; }
LEAST_AND_MOST(int)
LEAST_AND_MOST(unsigned)
LEAST_AND_MOST(long)
LEAST_AND_MOST(unsigned long)
LEAST_AND_MOST(float)
LEAST_AND_MOST(double)
#undef LEAST_AND_MOST
#endif
