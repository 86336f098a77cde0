/* The part of CUDA's runtime API in C that models call. emulator.c implements it on the CPU. */
#ifndef EMULATED_CUDA_RUNTIME_API_H
#define EMULATED_CUDA_RUNTIME_API_H
#include <stddef.h>

typedef enum { cudaSuccess, cudaErrorInvalidValue, cudaErrorMemoryAllocation, cudaErrorInvalidConfiguration = 9 } cudaError_t;
enum cudaMemcpyKind { cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
typedef struct {
	unsigned x, y, z;
} dim3;
typedef struct CUstream_st *cudaStream_t;

#ifdef __cplusplus
extern "C" {
#endif
const char *cudaGetErrorString(cudaError_t status);
cudaError_t cudaMalloc(void **at, size_t bytes);
cudaError_t cudaFree(void *at);
cudaError_t cudaMemset(void *at, int value, size_t bytes);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream);
/* The array of arguments must end with NULL: nothing else says how many a kernel has. All have 8 bytes. */
cudaError_t cudaLaunchKernel(const void *kernel, dim3 groups, dim3 items, void **arguments, size_t shared, cudaStream_t stream);
#ifdef __cplusplus
}
#endif
#endif
