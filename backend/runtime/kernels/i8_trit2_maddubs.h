/* SSSE3 and AVX2 tile of i8_trit2_tile.h: vpmaddubsw of shifted fields into 16-bit sums. A step adds at most 512 for each field, so
 * sums are widened every 16 steps. */
#include <immintrin.h>

enum { TILE_COLS = 4, TILE_STEPS = 1 << 20, WIDEN_STEPS = 16 }; /* 16 · 4 fields · 2 · 2 · 128 = 32768: fits, as only -128 reaches it */

#if defined(__AVX2__)
typedef __m256i vec;
#define V(op) _mm256_##op
#define V_LOAD(p) _mm256_loadu_si256((const __m256i *)(p))
#define V_STORE(p, v) _mm256_storeu_si256((__m256i *)(p), (v))
#define V_AND _mm256_and_si256
#define V_ZERO _mm256_setzero_si256()
#else
typedef __m128i vec;
#define V(op) _mm_##op
#define V_LOAD(p) _mm_loadu_si128((const __m128i *)(p))
#define V_STORE(p, v) _mm_storeu_si128((__m128i *)(p), (v))
#define V_AND _mm_and_si128
#define V_ZERO _mm_setzero_si128()
#endif
enum { BYTES = sizeof(vec), COLUMNS = sizeof(vec) / 4 };

TRI_INLINE vec x4(const int8_t *p)
{
	int32_t v;
	memcpy(&v, p, 4);
	return V(set1_epi32)(v);
}

/* Multiplies C rows by N vectors of COLUMNS columns, of which each step has `stride` bytes. */
TRI_INLINE void part(const uint8_t *w, int64_t stride, const struct tile_x *x, int64_t steps, const int N, const int C, const _Bool table,
		     int32_t *y, int64_t ld)
{
	const vec low = V(set1_epi8)(3), ones = V(set1_epi16)(1);
	for (int64_t s = 0; s < steps;) {
		vec sum[4][4];
		int64_t end = steps - s < WIDEN_STEPS ? steps : s + WIDEN_STEPS;
#pragma GCC unroll 4
		for (int c = 0; c < C; c++)
#pragma GCC unroll 4
			for (int v = 0; v < N; v++)
				sum[c][v] = V_ZERO;
		for (; s < end; s++, w += stride) {
#pragma GCC unroll 4
			for (int f = 0; f < 4; f++) {
				int64_t at = quad_at(x, s, f, table);
				vec t[4];
#pragma GCC unroll 4
				for (int v = 0; v < N; v++) {
					vec packed = V_LOAD(w + BYTES * v);
					t[v] = V_AND(f ? V(srli_epi16)(packed, 2 * f) : packed, low);
				}
#pragma GCC unroll 4
				for (int c = 0; c < C; c++) {
					vec a = x4(x->row[c] + at);
#pragma GCC unroll 4
					for (int v = 0; v < N; v++)
						sum[c][v] = V(add_epi16)(sum[c][v], V(maddubs_epi16)(t[v], a));
				}
			}
		}
#pragma GCC unroll 4
		for (int c = 0; c < C; c++)
#pragma GCC unroll 4
			for (int v = 0; v < N; v++) {
				int32_t *to = y + c * ld + COLUMNS * v;
				V_STORE(to, V(add_epi32)(V_LOAD(to), V(madd_epi16)(sum[c][v], ones)));
			}
	}
}

/* Starts at vector `v` of a step. */
#define PART(N, C) part(w + BYTES * v, stride, &own, steps, N, C, table, to.y + COLUMNS * v, to.ld)

TRI_INLINE void tile_sum(const uint8_t *w, const struct tile_x *x, int64_t steps, int halves, int cols, const _Bool table, struct tile_y to)
{
	const struct tile_x own = *x;
	int64_t stride = halves * 64;
	steps = padded_steps(x, steps, table);
	int n = halves * 64 / BYTES, v = 0;
	for (int c = 0; c < cols; c++)
		for (int l = 0; l < halves * TRI_TRIT2_LANES; l++)
			to.y[c * to.ld + l] = to.start[c];
	if (cols == 1)
		for (; v + 4 <= n; v += 4)
			PART(4, 1);
	for (; v < n; v += 2)
		switch (cols) {
		case 1: PART(2, 1); break;
		case 2: PART(2, 2); break;
		case 3: PART(2, 3); break;
		case 4: PART(2, 4); break;
		}
}

static int32_t i8_sum(const int8_t *x, int64_t n, int64_t lines, int64_t distance)
{
	const vec one8 = V(set1_epi8)(1), one16 = V(set1_epi16)(1);
	vec sum = V_ZERO;
	int32_t lanes[COLUMNS], all = 0;
	for (int64_t l = 0; l < lines; l++, x += distance) {
		int64_t k = 0;
		for (; k + BYTES <= n; k += BYTES)
			sum = V(add_epi32)(sum, V(madd_epi16)(V(maddubs_epi16)(one8, V_LOAD(x + k)), one16));
		for (; k < n; k++)
			all += x[k];
	}
	V_STORE(lanes, sum);
	for (int l = 0; l < COLUMNS; l++)
		all += lanes[l];
	return all;
}

TRI_INLINE void i8_sums(const int8_t *const *x, int64_t n, int64_t lines, int64_t distance, int32_t *sums)
{
	for (int i = 0; i < SUMS; i++)
		sums[i] = i8_sum(x[i], n, lines, distance);
}
