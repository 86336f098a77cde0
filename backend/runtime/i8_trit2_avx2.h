/* AVX2 tile of matmul_i8_trit2.c: vpmaddubsw of shifted fields into 16-bit sums, at most 512 a step and field, widened every 16 steps. */
#include <immintrin.h>

enum { TILE_COLS = 4, TILE_STEPS = 1 << 20, WIDEN_STEPS = 16 }; /* 16 · 4 fields · 2 · 2 · 128 = 32768: fits, as only -128 reaches it */

TRI_INLINE __m256i x4(const int8_t *p)
{
	int32_t v;
	memcpy(&v, p, 4);
	return _mm256_set1_epi32(v);
}

/* V vectors of 8 columns each, from w + 0, 32, …; `stride` bytes from step to step. */
TRI_INLINE void part(const uint8_t *w, int64_t stride, const int8_t *x, int64_t ldx, int64_t steps, const int V, const int C, int32_t (*acc)[32])
{
	const __m256i low = _mm256_set1_epi8(3), ones = _mm256_set1_epi16(1);
	while (steps > 0) {
		__m256i sum[4][4];
		int64_t n = steps < WIDEN_STEPS ? steps : WIDEN_STEPS;
		steps -= n;
#pragma GCC unroll 4
		for (int c = 0; c < C; c++)
			for (int v = 0; v < V; v++)
				sum[c][v] = _mm256_setzero_si256();
		for (; n > 0; n--, w += stride, x += 16) {
#pragma GCC unroll 4
			for (int f = 0; f < 4; f++) {
				__m256i t[4];
#pragma GCC unroll 4
				for (int v = 0; v < V; v++) {
					__m256i packed = _mm256_loadu_si256((const __m256i *)(w + 32 * v));
					t[v] = _mm256_and_si256(f ? _mm256_srli_epi16(packed, 2 * f) : packed, low);
				}
#pragma GCC unroll 4
				for (int c = 0; c < C; c++) {
					__m256i a = x4(x + c * ldx + 4 * f);
#pragma GCC unroll 4
					for (int v = 0; v < V; v++)
						sum[c][v] = _mm256_add_epi16(sum[c][v], _mm256_maddubs_epi16(t[v], a));
				}
			}
		}
#pragma GCC unroll 4
		for (int c = 0; c < C; c++)
			for (int v = 0; v < V; v++) {
				__m256i *to = (__m256i *)(acc[c] + 8 * v);
				_mm256_store_si256(to, _mm256_add_epi32(_mm256_load_si256(to), _mm256_madd_epi16(sum[c][v], ones)));
			}
	}
}

static void tile_add(const uint8_t *w, const int8_t *x, int64_t ldx, int64_t steps, int halves, int cols, int32_t (*acc)[32])
{
	int64_t stride = halves * 64;
	if (cols == 1 && halves == 2) {
		part(w, stride, x, ldx, steps, 4, 1, acc);
		return;
	}
	for (int h = 0; h < halves; h++) {
		int32_t(*at)[32] = (int32_t(*)[32])(acc[0] + 16 * h);
		switch (cols) {
		case 1: part(w + 64 * h, stride, x, ldx, steps, 2, 1, at); break;
		case 2: part(w + 64 * h, stride, x, ldx, steps, 2, 2, at); break;
		case 3: part(w + 64 * h, stride, x, ldx, steps, 2, 3, at); break;
		case 4: part(w + 64 * h, stride, x, ldx, steps, 2, 4, at); break;
		}
	}
}
