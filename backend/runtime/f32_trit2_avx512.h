/* AVX-512 tile of matmul_f32_trit2.c. Each trit has two masks, for a masked add (high bit set: 1) and a masked subtract (both bits
 * clear: -1). */
#include <immintrin.h>

enum { TILE_COLS = 4 };

TRI_INLINE void part(const uint8_t *w, int64_t stride, const float *x, int64_t ldx, int64_t steps, const int H, const int C,
		     float (*acc)[32])
{
	__m512 sum[4][2][4];
#pragma GCC unroll 4
	for (int c = 0; c < C; c++)
#pragma GCC unroll 2
		for (int h = 0; h < H; h++)
#pragma GCC unroll 4
			for (int j = 0; j < 4; j++)
				sum[c][h][j] = _mm512_setzero_ps();
	for (int64_t s = 0; s < steps; s++, w += stride, x += 16) {
		__m512i packed[2];
		for (int h = 0; h < H; h++)
			packed[h] = _mm512_loadu_si512(w + 64 * h);
#pragma GCC unroll 4
		for (int f = 0; f < 4; f++)
#pragma GCC unroll 4
			for (int j = 0; j < 4; j++)
#pragma GCC unroll 2
				for (int h = 0; h < H; h++) {
					__mmask16 plus = _mm512_test_epi32_mask(packed[h], _mm512_set1_epi32((int)(2u << (8 * j + 2 * f))));
					__mmask16 minus =
						_mm512_testn_epi32_mask(packed[h], _mm512_set1_epi32((int)(3u << (8 * j + 2 * f))));
#pragma GCC unroll 4
					for (int c = 0; c < C; c++) {
						__m512 a = _mm512_set1_ps(x[c * ldx + 4 * f + j]);
						sum[c][h][j] = _mm512_mask_add_ps(sum[c][h][j], plus, sum[c][h][j], a);
						sum[c][h][j] = _mm512_mask_sub_ps(sum[c][h][j], minus, sum[c][h][j], a);
					}
				}
	}
#pragma GCC unroll 4
	for (int c = 0; c < C; c++)
#pragma GCC unroll 2
		for (int h = 0; h < H; h++) {
			float *to = acc[c] + 16 * h;
			__m512 all = _mm512_add_ps(_mm512_add_ps(sum[c][h][0], sum[c][h][1]), _mm512_add_ps(sum[c][h][2], sum[c][h][3]));
			_mm512_store_ps(to, _mm512_add_ps(_mm512_load_ps(to), all));
		}
}

static void tile_add(const uint8_t *w, const float *x, int64_t ldx, int64_t steps, int halves, int cols, float (*acc)[32])
{
	int64_t stride = halves * 64;
	if (cols == 1 && halves == 2) {
		part(w, stride, x, ldx, steps, 2, 1, acc);
		return;
	}
	for (int h = 0; h < halves; h++) {
		float(*at)[32] = (float(*)[32])(acc[0] + 16 * h);
		switch (cols) {
		case 1: part(w + 64 * h, stride, x, ldx, steps, 1, 1, at); break;
		case 2: part(w + 64 * h, stride, x, ldx, steps, 1, 2, at); break;
		case 3: part(w + 64 * h, stride, x, ldx, steps, 1, 3, at); break;
		case 4: part(w + 64 * h, stride, x, ldx, steps, 1, 4, at); break;
		}
	}
}
