/* Vectors of float32, and the exponential function of them. */
#ifndef TRI_F32_EXP_H
#define TRI_F32_EXP_H
#include <string.h>
#include "backend/runtime/kernels/kernel.h"

#if defined(__AVX512F__)
enum { LANES = 16 };
#elif defined(__AVX2__)
enum { LANES = 8 };
#else
enum { LANES = 4 };
#endif
typedef float vec __attribute__((vector_size(LANES * 4)));
typedef int32_t ivec __attribute__((vector_size(LANES * 4)));

#if defined(__AVX512F__)
#define LANE_NUMBERS ((ivec){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})
#elif defined(__AVX2__)
#define LANE_NUMBERS ((ivec){0, 1, 2, 3, 4, 5, 6, 7})
#else
#define LANE_NUMBERS ((ivec){0, 1, 2, 3})
#endif

TRI_INLINE vec vec_load(const float *from)
{
	vec v;
	memcpy(&v, from, sizeof v);
	return v;
}
TRI_INLINE void vec_store(float *to, vec v) { memcpy(to, &v, sizeof v); }
TRI_INLINE vec vec_of(float x) { return x - (vec){0}; } /* not + 0, which would be computed for -0 */
TRI_INLINE vec vec_select(ivec where, vec a, vec b) { return (vec)(((ivec)a & where) | ((ivec)b & ~where)); }
/* A NaN of b is the result. */
TRI_INLINE vec vec_max(vec a, vec b) { return vec_select(a >= b, a, b); }

/* Lane i is lane of[i] of a and b in sequence. Clang has no such operation for lanes that are no literals. */
TRI_INLINE vec vec_shuffle(vec a, vec b, ivec of)
{
#if defined(__clang__)
	vec v;
#pragma clang loop unroll(full)
	for (int i = 0; i < LANES; i++)
		v[i] = of[i] < LANES ? a[of[i]] : b[of[i] - LANES];
	return v;
#else
	return __builtin_shuffle(a, b, of);
#endif
}

/* The greatest lane; the sum of the lanes, halves first. */
TRI_INLINE float vec_greatest(vec v)
{
#pragma GCC unroll 4
	for (int w = LANES / 2; w; w /= 2)
		v = vec_max(v, vec_shuffle(v, v, LANE_NUMBERS ^ w));
	return v[0];
}
TRI_INLINE float vec_sum(vec v)
{
#pragma GCC unroll 4
	for (int w = LANES / 2; w; w /= 2)
		v += vec_shuffle(v, v, LANE_NUMBERS ^ w);
	return v[0];
}

/* exp(x) for x <= 0 with a relative error below 2e-7; 0 below -87. By Cody and Waite: 2^n · e^r with |r| <= ln 2 / 2, and the Taylor
 * polynomial of e^r. */
TRI_INLINE vec vec_exp(vec x)
{
	const float magic = 12582912; /* adding it rounds to an integer, which is then in the low bits */
	vec shifted = x * 1.44269504f + magic, n = shifted - magic;
	vec r = x - n * 0.693359375f + n * 2.12194440e-4f;
	vec p = r * 1.98412698e-4f + 1.38888889e-3f;
	p = p * r + 8.33333333e-3f;
	p = p * r + 4.16666667e-2f;
	p = p * r + 1.66666667e-1f;
	p = p * r + 0.5f;
	p = p * r + 1;
	p = p * r + 1;
	vec power = (vec)(((ivec)shifted + 127) << 23);
	return vec_select(x < -87, (vec){0}, p * power);
}
#endif
