/* AVX-512 code of f32_trit2.c. Finite numbers are multiplied by expanded trits, which is as exact as a choice and takes fewer instructions. The four bits of two trits, k and k + 4, are the index of a permutation: vpermilps reads the lower two, and a
 * table that repeats each entry four times serves the upper two. So one shift serves two trits. */
#include <immintrin.h>

enum { MOST_HALVES = 2, MOST_PRODUCTS = 4 };

/* {-a, 0, a, 0}, by the lower or by the upper bits of an index. */
TRI_INLINE __m512 choices(__m512 a, const _Bool upper)
{
	const __m512i keep_low = _mm512_set4_epi32(0, -1, 0, -1), flip_low = _mm512_set4_epi32(0, 0, 0, INT32_MIN);
	const __m512i keep_high = _mm512_set_epi32(0, 0, 0, 0, -1, -1, -1, -1, 0, 0, 0, 0, -1, -1, -1, -1);
	const __m512i flip_high = _mm512_set_epi32(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, INT32_MIN, INT32_MIN, INT32_MIN, INT32_MIN);
	__m512i bits = _mm512_castps_si512(a);
	return _mm512_castsi512_ps(
		_mm512_ternarylogic_epi32(bits, upper ? keep_high : keep_low, upper ? flip_high : flip_low, 0x6a)); /* (a & keep) ^ flip */
}
TRI_INLINE __m512 choose(__m512 table, __m512i index, const _Bool upper)
{
	return upper ? _mm512_permutexvar_ps(index, table) : _mm512_permutevar_ps(table, index);
}

TRI_INLINE void expand_half(const uint8_t *w, int64_t width, float *out)
{
	const __m512i packed = _mm512_loadu_si512(w);
	const __m512 low = choices(_mm512_set1_ps(1), 0), high = choices(_mm512_set1_ps(1), 1);
#pragma GCC unroll 8
	for (int p = 0; p < 8; p++) { /* byte p % 4, fields 2 · (p / 4) and the next */
		__m512i index = _mm512_srli_epi32(packed, (unsigned)(8 * (p % 4) + 4 * (p / 4)));
		float *to = out + (8 * (p / 4) + p % 4) * width;
		_mm512_storeu_ps(to, choose(low, index, 0));
		_mm512_storeu_ps(to + 4 * width, choose(high, index, 1));
	}
}

/* Adds term k of eight, of which the trits are at bits 0 … 3 of a[k % 4] and b[k % 4]. */
#define TERM(k)                                                            \
	table = choices(_mm512_set1_ps(x[8 * p + (k)]), (k) >= 4);         \
	sum_a = _mm512_add_ps(sum_a, choose(table, a[(k) % 4], (k) >= 4)); \
	if (H > 1)                                                         \
		sum_b = _mm512_add_ps(sum_b, choose(table, b[(k) % 4], (k) >= 4));
#define INDEX(from, j) _mm512_srli_epi32(from, (unsigned)(8 * (j) + 4 * p))

TRI_INLINE void sum_halves(const uint8_t *const *w, const int64_t *strides, const float *x, int64_t steps, const int H, float (*out)[16])
{
	const uint8_t *at = w[0], *next = w[H - 1];
	__m512 sum_a = _mm512_setzero_ps(), sum_b = sum_a, table;
	for (int64_t s = 0; s < steps; s++, x += 16, at += strides[0], next += strides[H - 1]) {
		const __m512i packed_a = _mm512_loadu_si512(at), packed_b = _mm512_loadu_si512(next);
#pragma GCC unroll 2
		for (int p = 0; p < 2; p++) {
			const __m512i a[4] = {INDEX(packed_a, 0), INDEX(packed_a, 1), INDEX(packed_a, 2), INDEX(packed_a, 3)};
			const __m512i b[4] = {INDEX(packed_b, 0), INDEX(packed_b, 1), INDEX(packed_b, 2), INDEX(packed_b, 3)};
			TERM(0) TERM(1) TERM(2) TERM(3) TERM(4) TERM(5) TERM(6) TERM(7)
		}
	}
	_mm512_storeu_ps(out[0], sum_a);
	if (H > 1)
		_mm512_storeu_ps(out[1], sum_b);
}

/* Adds terms k … k+3 of each half: the products of numbers with trits at bits `shift` + 8 · j, or two bits further if `upper`. */
#define TERMS(k, shift, upper)                                                                                           \
	_Pragma("GCC unroll 4") for (int j = 0; j < 4; j++)                                                              \
	{                                                                                                                \
		const __m512 a = _mm512_set1_ps(x[(k) + j]);                                                             \
		_Pragma("GCC unroll 4") for (int h = 0; h < H; h++)                                                      \
		{                                                                                                        \
			const __m512i index = _mm512_srli_epi32(_mm512_loadu_si512(at[h]), (unsigned)(8 * j + (shift))); \
			sum[h] = _mm512_fmadd_ps(a, choose(upper ? high : low, index, upper), sum[h]);                   \
		}                                                                                                        \
	}

/* As sum_halves, for finite x. Four chains of additions hide their latency. */
TRI_INLINE void multiply_halves(const uint8_t *const *w, const int64_t *strides, const float *x, int64_t steps, const int H,
				float (*out)[16])
{
	const __m512 low = choices(_mm512_set1_ps(1), 0), high = choices(_mm512_set1_ps(1), 1);
	const uint8_t *at[MOST_PRODUCTS];
	__m512 sum[MOST_PRODUCTS];
#pragma GCC unroll 4
	for (int h = 0; h < H; h++) {
		at[h] = w[h];
		sum[h] = _mm512_setzero_ps();
	}
	for (int64_t s = 0; s < steps; s++, x += 16) {
		TERMS(0, 0, 0)
		TERMS(4, 0, 1)
		TERMS(8, 4, 0)
		TERMS(12, 4, 1)
#pragma GCC unroll 4
		for (int h = 0; h < H; h++)
			at[h] += strides[h];
	}
#pragma GCC unroll 4
	for (int h = 0; h < H; h++)
		_mm512_storeu_ps(out[h], sum[h]);
}
#undef TERMS
