/* Widening of 16-bit floats to float32, exact. */
#ifndef TRI_F32_HALF_H
#define TRI_F32_HALF_H
#include <string.h>
#include "backend/runtime/kernels/kernel.h"
#if defined(__AVX2__)
#include <immintrin.h>
#endif

tri_kernel_fn tri_matmul_f32_bf16, tri_matmul_f32_f16;

enum tri_half { TRI_BF16, TRI_F16 };

#if defined(__AVX512F__)
enum { TRI_HALF_LANES = 16 };
#elif defined(__AVX2__)
enum { TRI_HALF_LANES = 8 };
#else
enum { TRI_HALF_LANES = 4 };
#endif
typedef float tri_half_vec __attribute__((vector_size(TRI_HALF_LANES * 4)));
typedef uint32_t tri_half_bits __attribute__((vector_size(TRI_HALF_LANES * 4)));
typedef uint16_t tri_halves __attribute__((vector_size(TRI_HALF_LANES * 2)));

TRI_INLINE tri_half_vec tri_widen_f16(const uint16_t *from)
{
#if defined(__AVX512F__)
	return (tri_half_vec)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)from));
#elif defined(__AVX2__) && defined(__F16C__)
	return (tri_half_vec)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)from));
#else
	tri_halves h;
	memcpy(&h, from, sizeof h);
	tri_half_bits wide = __builtin_convertvector(h, tri_half_bits), size = wide & 0x7fff;
	/* With the exponent of a float32 the number is 2^-112 times as large. Infinity and NaN have the greatest exponent of both. */
	tri_half_bits scaled = (tri_half_bits)((tri_half_vec)(size << 13) * 0x1p112f),
		      special = (tri_half_bits)(size >= 0x7c00) & 0x7f800000u;
	return (tri_half_vec)(scaled | special | (wide & 0x8000) << 16);
#endif
}

TRI_INLINE tri_half_vec tri_widen_bf16(const uint16_t *from)
{
#if defined(__AVX512F__)
	return (tri_half_vec)_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)from)), 16);
#elif defined(__AVX2__)
	return (tri_half_vec)_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)from)), 16);
#else
	tri_halves h;
	memcpy(&h, from, sizeof h);
	return (tri_half_vec)(__builtin_convertvector(h, tri_half_bits) << 16);
#endif
}

/* Returns TRI_HALF_LANES numbers. */
TRI_INLINE tri_half_vec tri_widen(const enum tri_half type, const uint16_t *from)
{
	return type == TRI_F16 ? tri_widen_f16(from) : tri_widen_bf16(from);
}

/* A matrix product with panels of 16-bit floats in bufs[1], in matmul_f32.c: each panel is widened to the stack, a block at a time. */
void tri_multiply_f32_half(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_epilogue *epilogue,
			   enum tri_half type);
#endif
