/* AVX2 code of f32_trit2.c. The two bits of a trit select one of {-a, 0, a} in a register: vpermilps reads two bits for each lane. */
#include <immintrin.h>

enum { MOST_HALVES = 2, MOST_PRODUCTS = MOST_HALVES };
#define multiply_halves sum_halves

/* Returns {-a, 0, a, 0} in each half of the register. */
TRI_INLINE __m256 choices(__m256 a)
{
	const __m256 keep = _mm256_castsi256_ps(_mm256_setr_epi32(-1, 0, -1, 0, -1, 0, -1, 0));
	const __m256 flip = _mm256_castsi256_ps(_mm256_setr_epi32(INT32_MIN, 0, 0, 0, INT32_MIN, 0, 0, 0));
	return _mm256_xor_ps(_mm256_and_ps(a, keep), flip);
}

TRI_INLINE void expand_half(const uint8_t *w, int64_t width, float *out)
{
	const __m256 table = choices(_mm256_set1_ps(1));
	for (int v = 0; v < 2; v++) {
		const __m256i packed = _mm256_loadu_si256((const __m256i *)(w + 32 * v));
#pragma GCC unroll 16
		for (int k = 0; k < 16; k++)
			_mm256_storeu_ps(out + k * width + 8 * v,
					 _mm256_permutevar_ps(table, _mm256_srli_epi32(packed, 8 * (k % 4) + 2 * (k / 4))));
	}
}

TRI_INLINE void sum_halves(const uint8_t *const *w, const int64_t *strides, const float *x, int64_t steps, const int H, float (*out)[16])
{
	__m256 sum[MOST_HALVES][2];
#pragma GCC unroll 2
	for (int h = 0; h < H; h++)
		sum[h][0] = sum[h][1] = _mm256_setzero_ps();
	for (int64_t s = 0; s < steps; s++, x += 16)
#pragma GCC unroll 16
		for (int k = 0; k < 16; k++) {
			__m256 table = choices(_mm256_broadcast_ss(x + k));
#pragma GCC unroll 2
			for (int h = 0; h < H; h++)
#pragma GCC unroll 2
				for (int v = 0; v < 2; v++) {
					__m256i packed = _mm256_loadu_si256((const __m256i *)(w[h] + s * strides[h] + 32 * v));
					__m256i trit = _mm256_srli_epi32(packed, 8 * (k % 4) + 2 * (k / 4));
					sum[h][v] = _mm256_add_ps(sum[h][v], _mm256_permutevar_ps(table, trit));
				}
		}
#pragma GCC unroll 2
	for (int h = 0; h < H; h++)
#pragma GCC unroll 2
		for (int v = 0; v < 2; v++)
			_mm256_storeu_ps(out[h] + 8 * v, sum[h][v]);
}
