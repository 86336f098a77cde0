/* Elements of keys and values as float32. Included by attention_f32.c. */
#ifndef TRI_ATTENTION_WIDEN_H
#define TRI_ATTENTION_WIDEN_H
#include "backend/runtime/kernels/attention.h"
#include "backend/runtime/kernels/f32_exp.h"
#if defined(__F16C__)
#include <immintrin.h>
#endif

typedef uint16_t halves __attribute__((vector_size(LANES * 2)));
typedef int8_t codes __attribute__((vector_size(LANES)));

TRI_INLINE int64_t elem_bytes(enum tri_elem t) { return t == TRI_ELEM_F32 ? 4 : t == TRI_ELEM_I8 ? 1 : 2; }

/* float16 without an instruction for it: the exponent is adjusted; a denormal is what a subtraction makes of it (Giesen). */
TRI_INLINE vec widen_half_bits(ivec h)
{
	ivec magnitude = (h & 0x7fff) << 13, exponent = magnitude & (0x7c00 << 13), normal = magnitude + ((127 - 15) << 23);
	ivec denormal = (ivec)((vec)(normal + (1 << 23)) - (vec)((ivec){0} + (113 << 23)));
	ivec is_special = exponent == (0x7c00 << 13), is_denormal = exponent == 0;
	ivec x = (normal + (is_special & ((128 - 16) << 23))) & ~is_denormal;
	return (vec)(x | (denormal & is_denormal) | (h & 0x8000) << 16);
}

TRI_INLINE vec widen_halves(const void *from)
{
#if defined(__AVX512F__)
	return (vec)_mm512_cvtph_ps(_mm256_loadu_si256(from));
#elif defined(__F16C__)
	return (vec)_mm256_cvtph_ps(_mm_loadu_si128(from));
#else
	halves h;
	memcpy(&h, from, sizeof h);
	return widen_half_bits(__builtin_convertvector(h, ivec));
#endif
}

/* Compilers convert a vector of codes at once in some steps too many. */
TRI_INLINE ivec widen_codes(const void *from)
{
#if defined(__AVX512F__)
	return (ivec)_mm512_cvtepi8_epi32(_mm_loadu_si128(from));
#elif defined(__AVX2__)
	return (ivec)_mm256_cvtepi8_epi32(_mm_loadl_epi64(from));
#else
	codes c;
	memcpy(&c, from, sizeof c);
	return __builtin_convertvector(c, ivec);
#endif
}

TRI_INLINE vec widen_bfloats(const void *from)
{
#if defined(__AVX512F__)
	return (vec)(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256(from)), 16));
#else
	halves h;
	memcpy(&h, from, sizeof h);
	return (vec)(__builtin_convertvector(h, ivec) << 16);
#endif
}

/* The next LANES elements. */
TRI_INLINE vec widen(const void *from, const enum tri_elem t)
{
	switch (t) {
	case TRI_ELEM_F16: return widen_halves(from);
	case TRI_ELEM_BF16: return widen_bfloats(from);
	case TRI_ELEM_I8: return __builtin_convertvector(widen_codes(from), vec);
	default: return vec_load(from);
	}
}

/* Element e alone, after the last whole vector. */
TRI_INLINE float widen_one(const void *from, int64_t e, const enum tri_elem t)
{
	uint16_t h;
	uint32_t bits;
	float x;
	if (t == TRI_ELEM_F32)
		return ((const float *)from)[e];
	if (t == TRI_ELEM_I8)
		return ((const int8_t *)from)[e];
	memcpy(&h, (const uint16_t *)from + e, sizeof h);
	if (t == TRI_ELEM_F16)
		return widen_half_bits((ivec){h})[0];
	bits = (uint32_t)h << 16;
	memcpy(&x, &bits, sizeof x);
	return x;
}

/* n elements times a scale. */
TRI_INLINE void widen_row(const void *from, int64_t n, const enum tri_elem t, float scale, float *to)
{
	int64_t e = 0;
	for (; e + LANES <= n; e += LANES)
		vec_store(to + e, widen((const char *)from + e * elem_bytes(t), t) * scale);
	for (; e < n; e++)
		to[e] = widen_one(from, e, t) * scale;
}

/* The same for a type that is known only here. */
static void widen_any_row(const void *from, int64_t n, enum tri_elem t, float scale, float *to)
{
	switch (t) {
	case TRI_ELEM_F16: widen_row(from, n, TRI_ELEM_F16, scale, to); return;
	case TRI_ELEM_BF16: widen_row(from, n, TRI_ELEM_BF16, scale, to); return;
	case TRI_ELEM_I8: widen_row(from, n, TRI_ELEM_I8, scale, to); return;
	default: widen_row(from, n, TRI_ELEM_F32, scale, to); return;
	}
}
#endif
