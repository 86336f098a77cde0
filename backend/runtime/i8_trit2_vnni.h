/* AVX-512 VNNI tile of i8_trit2_tile.h. For one row of x, vpdpbusd takes the fields masked and not shifted; each has an accumulator
 * that is shifted at the end. For several rows, the fields are shifted once for all rows. Activations are 32-bit broadcasts. */
#include <immintrin.h>

enum { TILE_COLS = 8, TILE_STEPS = 16384 }; /* field 3 counts 64-fold: 16384 steps of 4·128·128 stay below 2^31 */

TRI_INLINE __m512i x4(const int8_t *p)
{
	int32_t v;
	memcpy(&v, p, 4);
	return _mm512_set1_epi32(v);
}

TRI_INLINE void one_row(const uint8_t *w, const int8_t *x, int64_t steps, const int H, int32_t *acc)
{
	const __m512i mask[4] = {_mm512_set1_epi8(0x03), _mm512_set1_epi8(0x0c), _mm512_set1_epi8(0x30), _mm512_set1_epi8((char)0xc0)};
	__m512i sum[2][4];
	for (int h = 0; h < H; h++)
		for (int f = 0; f < 4; f++)
			sum[h][f] = _mm512_setzero_si512();
	for (int64_t s = 0; s < steps; s++, w += H * 64, x += 16) {
#pragma GCC unroll 4
		for (int f = 0; f < 4; f++) {
			__m512i a = x4(x + 4 * f);
#pragma GCC unroll 2
			for (int h = 0; h < H; h++)
				sum[h][f] = _mm512_dpbusd_epi32(sum[h][f], _mm512_and_si512(_mm512_loadu_si512(w + 64 * h), mask[f]), a);
		}
	}
	for (int h = 0; h < H; h++) {
		__m512i all = _mm512_add_epi32(_mm512_add_epi32(sum[h][0], _mm512_srai_epi32(sum[h][1], 2)),
					       _mm512_add_epi32(_mm512_srai_epi32(sum[h][2], 4), _mm512_srai_epi32(sum[h][3], 6)));
		_mm512_store_si512(acc + 16 * h, _mm512_add_epi32(_mm512_load_si512(acc + 16 * h), all));
	}
}

TRI_INLINE void rows(const uint8_t *w, const int8_t *x, int64_t ldx, int64_t steps, const int H, const int C, int32_t (*acc)[32])
{
	const __m512i low = _mm512_set1_epi8(3);
	__m512i sum[8][2];
#pragma GCC unroll 8
	for (int c = 0; c < C; c++)
		for (int h = 0; h < H; h++)
			sum[c][h] = _mm512_load_si512(acc[c] + 16 * h);
	for (int64_t s = 0; s < steps; s++, w += H * 64, x += 16) {
		__m512i packed[2];
		for (int h = 0; h < H; h++)
			packed[h] = _mm512_loadu_si512(w + 64 * h);
#pragma GCC unroll 4
		for (int f = 0; f < 4; f++) {
			__m512i t[2];
			for (int h = 0; h < H; h++)
				t[h] = _mm512_and_si512(f ? _mm512_srli_epi16(packed[h], 2 * (unsigned)f) : packed[h], low);
#pragma GCC unroll 8
			for (int c = 0; c < C; c++) {
				__m512i a = x4(x + c * ldx + 4 * f);
#pragma GCC unroll 2
				for (int h = 0; h < H; h++)
					sum[c][h] = _mm512_dpbusd_epi32(sum[c][h], t[h], a);
			}
		}
	}
#pragma GCC unroll 8
	for (int c = 0; c < C; c++)
		for (int h = 0; h < H; h++)
			_mm512_store_si512(acc[c] + 16 * h, sum[c][h]);
}

#define ROWS(C)                                            \
	case C:                                            \
		if (halves == 2)                           \
			rows(w, x, ldx, steps, 2, C, acc); \
		else                                       \
			rows(w, x, ldx, steps, 1, C, acc); \
		break;

static void tile_add(const uint8_t *w, const int8_t *x, int64_t ldx, int64_t steps, int halves, int cols, int32_t (*acc)[32])
{
	switch (cols) {
	case 1:
		if (halves == 2)
			one_row(w, x, steps, 2, acc[0]);
		else
			one_row(w, x, steps, 1, acc[0]);
		break;
		ROWS(2) ROWS(3) ROWS(4) ROWS(5) ROWS(6) ROWS(7) ROWS(8)
	}
}
