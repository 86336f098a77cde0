/* AVX2 tile of matmul_f32_trit2.c. The two bits of a trit select one of {-a, 0, a} in a register: vpermilps reads two bits for each lane. */
#include <immintrin.h>

enum { TILE_COLS = 2 };

/* Returns {-a, 0, a, 0} in each half, from the bit pattern of a. */
TRI_INLINE __m256 choices(const float *a)
{
	const __m256 keep = _mm256_castsi256_ps(_mm256_setr_epi32(-1, 0, -1, 0, -1, 0, -1, 0));
	const __m256 flip = _mm256_castsi256_ps(_mm256_setr_epi32(INT32_MIN, 0, 0, 0, INT32_MIN, 0, 0, 0));
	return _mm256_xor_ps(_mm256_and_ps(_mm256_broadcast_ss(a), keep), flip);
}

/* One half: two vectors of 8 columns. */
TRI_INLINE void half(const uint8_t *w, int64_t stride, const float *x, int64_t ldx, int64_t steps, const int C, float (*acc)[32])
{
	__m256 sum[2][2][4];
#pragma GCC unroll 2
	for (int c = 0; c < C; c++)
#pragma GCC unroll 2
		for (int v = 0; v < 2; v++)
#pragma GCC unroll 4
			for (int j = 0; j < 4; j++)
				sum[c][v][j] = _mm256_setzero_ps();
	for (int64_t s = 0; s < steps; s++, w += stride, x += 16) {
#pragma GCC unroll 4
		for (int f = 0; f < 4; f++)
#pragma GCC unroll 4
			for (int j = 0; j < 4; j++)
#pragma GCC unroll 2
				for (int v = 0; v < 2; v++) {
					__m256i packed = _mm256_loadu_si256((const __m256i *)(w + 32 * v));
					__m256i trit = _mm256_srli_epi32(packed, 8 * j + 2 * f);
#pragma GCC unroll 2
					for (int c = 0; c < C; c++)
						sum[c][v][j] = _mm256_add_ps(sum[c][v][j],
									     _mm256_permutevar_ps(choices(x + c * ldx + 4 * f + j), trit));
				}
	}
#pragma GCC unroll 2
	for (int c = 0; c < C; c++)
#pragma GCC unroll 2
		for (int v = 0; v < 2; v++) {
			float *to = acc[c] + 8 * v;
			__m256 all = _mm256_add_ps(_mm256_add_ps(sum[c][v][0], sum[c][v][1]), _mm256_add_ps(sum[c][v][2], sum[c][v][3]));
			_mm256_store_ps(to, _mm256_add_ps(_mm256_load_ps(to), all));
		}
}

static void tile_add(const uint8_t *w, const float *x, int64_t ldx, int64_t steps, int halves, int cols, float (*acc)[32])
{
	for (int h = 0; h < halves; h++) {
		float(*at)[32] = (float(*)[32])(acc[0] + 16 * h);
		if (cols == 1)
			half(w + 64 * h, halves * 64, x, ldx, steps, 1, at);
		else
			half(w + 64 * h, halves * 64, x, ldx, steps, 2, at);
	}
}
