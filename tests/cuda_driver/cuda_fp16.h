/* Halves of CUDA, as their bits. */
#ifndef EMULATED_CUDA_FP16_H
#define EMULATED_CUDA_FP16_H
#include "cuda_runtime.h"

struct __half {
	unsigned short bits;
};
static inline __device__ __half __ushort_as_half(unsigned short bits) { return __half{bits}; }
static inline __device__ unsigned short __half_as_ushort(__half a) { return a.bits; }
#ifdef __CUDA__
extern __device__ float __half2float(__half a);
extern __device__ __half __float2half_rn(float a);
#else
extern "C" {
float emulated_half_value(unsigned short bits);
unsigned short emulated_half_bits(float a);
}
static inline float __half2float(__half a) { return emulated_half_value(a.bits); }
static inline __half __float2half_rn(float a) { return __half{emulated_half_bits(a)}; }
#endif
#endif
