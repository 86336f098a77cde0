/* AVX-512 VNNI tile of i8_trit2_tile.h. For one row of x, vpdpbusd takes the fields masked and not shifted; each has an accumulator
 * that is shifted at the end. For several rows, the fields are shifted once for all rows. Activations are 32-bit broadcasts. */
#include <immintrin.h>

enum { TILE_COLS = 8, TILE_STEPS = 16384, PREFETCH = 2048 }; /* field 3 counts 64-fold: 16384 steps of 4·128·128 stay below 2^31 */

TRI_INLINE __m512i x4(const int8_t *p)
{
	int32_t v;
	memcpy(&v, p, 4);
	return _mm512_set1_epi32(v);
}

TRI_INLINE void one_row(const uint8_t *w, const struct tile_x *x, int64_t steps, const int H, const _Bool table, struct tile_y to)
{
	const __m512i mask[4] = {_mm512_set1_epi8(0x03), _mm512_set1_epi8(0x0c), _mm512_set1_epi8(0x30), _mm512_set1_epi8((char)0xc0)};
	__m512i sum[2][4];
	for (int h = 0; h < H; h++)
		for (int f = 0; f < 4; f++)
			sum[h][f] = _mm512_setzero_si512();
	for (int64_t s = 0; s < steps; s++, w += H * 64) {
#pragma GCC unroll 4
		for (int f = 0; f < 4; f++) {
			__m512i a = x4(x->row[0] + quad_at(x, s, f, table));
#pragma GCC unroll 2
			for (int h = 0; h < H; h++)
				sum[h][f] = _mm512_dpbusd_epi32(sum[h][f], _mm512_and_si512(_mm512_loadu_si512(w + 64 * h), mask[f]), a);
		}
	}
	for (int h = 0; h < H; h++) {
		__m512i all = _mm512_add_epi32(_mm512_add_epi32(sum[h][0], _mm512_srai_epi32(sum[h][1], 2)),
					       _mm512_add_epi32(_mm512_srai_epi32(sum[h][2], 4), _mm512_srai_epi32(sum[h][3], 6)));
		_mm512_storeu_si512(to.y + 16 * h, _mm512_add_epi32(_mm512_set1_epi32(to.start[0]), all));
	}
}

/* Odd quads have accumulators of their own if there are few: eight hide the latency of vpdpbusd. */
TRI_INLINE void rows(const uint8_t *w, const struct tile_x *x, int64_t steps, const int H, const int C, const _Bool table, struct tile_y to)
{
	const __m512i low = _mm512_set1_epi8(3);
	const int odd = C * H < 8 ? C : 0;
	__m512i sum[16][2];
#pragma GCC unroll 8
	for (int c = 0; c < C; c++)
#pragma GCC unroll 2
		for (int h = 0; h < H; h++) {
			sum[odd + c][h] = _mm512_setzero_si512();
			sum[c][h] = _mm512_set1_epi32(to.start[c]);
			_mm_prefetch((const char *)(to.y + c * to.ld + 16 * h), _MM_HINT_ET0);
		}
	for (int64_t s = 0; s < steps; s++, w += H * 64) {
		__m512i packed[2];
#pragma GCC unroll 2
		for (int h = 0; h < H; h++) {
			packed[h] = _mm512_loadu_si512(w + 64 * h);
			if (C > 3) /* fewer rows are read as fast as the memory is, which a prefetch slows down */
				_mm_prefetch((const char *)w + 64 * h + PREFETCH, _MM_HINT_T0);
		}
#pragma GCC unroll 4
		for (int f = 0; f < 4; f++) {
			int64_t at = quad_at(x, s, f, table);
			__m512i t[2];
#pragma GCC unroll 2
			for (int h = 0; h < H; h++)
				t[h] = _mm512_and_si512(f ? _mm512_srli_epi16(packed[h], 2 * (unsigned)f) : packed[h], low);
#pragma GCC unroll 8
			for (int c = 0; c < C; c++) {
				__m512i a = x4(x->row[c] + at), *s4 = sum[(f & 1) * odd + c];
#pragma GCC unroll 2
				for (int h = 0; h < H; h++)
					s4[h] = _mm512_dpbusd_epi32(s4[h], t[h], a);
			}
		}
	}
	for (int f = 0; table && f < x->rest; f++) {
		int64_t at = quad_at(x, steps, f, table);
		const __m128i shift = _mm_cvtsi32_si128(2 * f);
#pragma GCC unroll 8
		for (int c = 0; c < C; c++) {
			__m512i a = x4(x->row[c] + at);
#pragma GCC unroll 2
			for (int h = 0; h < H; h++) {
				__m512i t = _mm512_and_si512(_mm512_srl_epi16(_mm512_loadu_si512(w + 64 * h), shift), low);
				sum[c][h] = _mm512_dpbusd_epi32(sum[c][h], t, a);
			}
		}
	}
#pragma GCC unroll 8
	for (int c = 0; c < C; c++)
#pragma GCC unroll 2
		for (int h = 0; h < H; h++)
			_mm512_storeu_si512(to.y + c * to.ld + 16 * h, odd ? _mm512_add_epi32(sum[c][h], sum[odd + c][h]) : sum[c][h]);
}

#define ROWS(C)                                                \
	case C:                                                \
		if (halves == 2)                               \
			rows(w, &own, steps, 2, C, table, to); \
		else                                           \
			rows(w, &own, steps, 1, C, table, to); \
		break;

TRI_INLINE void tile_sum(const uint8_t *w, const struct tile_x *x, int64_t steps, int halves, int cols, const _Bool table, struct tile_y to)
{
	const struct tile_x own = *x;
	switch (cols) {
	case 1:
		steps = padded_steps(x, steps, table);
		if (halves == 2)
			one_row(w, &own, steps, 2, table, to);
		else
			one_row(w, &own, steps, 1, table, to);
		break;
		ROWS(2) ROWS(3) ROWS(4) ROWS(5) ROWS(6) ROWS(7) ROWS(8)
	}
}

TRI_INLINE __m512i sum_lanes(const int8_t *x, int64_t n, int64_t lines, int64_t distance)
{
	const __m512i ones = _mm512_set1_epi8(1);
	const __mmask64 last = ((__mmask64)1 << n % 64) - 1;
	__m512i sum = _mm512_setzero_si512();
	for (int64_t l = 0; l < lines; l++, x += distance) {
		for (int64_t k = 0; k + 64 <= n; k += 64)
			sum = _mm512_dpbusd_epi32(sum, ones, _mm512_loadu_si512(x + k));
		if (last)
			sum = _mm512_dpbusd_epi32(sum, ones, _mm512_maskz_loadu_epi8(last, x + n / 64 * 64));
	}
	return sum;
}

static int32_t i8_sum(const int8_t *x, int64_t n, int64_t lines, int64_t distance)
{
	return _mm512_reduce_add_epi32(sum_lanes(x, n, lines, distance));
}

/* Sums of two vectors, in turn. */
TRI_INLINE __m512i fold32(__m512i a, __m512i b) { return _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b)); }

TRI_INLINE void i8_sums(const int8_t *const *x, int64_t n, int64_t lines, int64_t distance, int32_t *sums)
{
	__m512i s[SUMS];
#pragma GCC unroll 4
	for (int i = 0; i < SUMS; i++)
		s[i] = sum_lanes(x[i], n, lines, distance);
	__m512i low = fold32(s[0], s[1]), high = fold32(s[2], s[3]);
	__m512i all = _mm512_add_epi32(_mm512_unpacklo_epi64(low, high), _mm512_unpackhi_epi64(low, high));
	__m256i half = _mm256_add_epi32(_mm512_castsi512_si256(all), _mm512_extracti64x4_epi64(all, 1));
	_mm_storeu_si128((__m128i *)sums, _mm_add_epi32(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1)));
}
