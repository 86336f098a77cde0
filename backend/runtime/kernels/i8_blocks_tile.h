/* The register tile of products of int8 with TRIT_BLOCKS. block_sum computes 32 columns and `rows` rows of x (at most TILE_ROWS), bytes x + 128:
 * sum((x + 128) · t) + start = sum(x · t). Only it depends on the processor. */
#ifndef TRI_I8_BLOCKS_TILE_H
#define TRI_I8_BLOCKS_TILE_H
#include <string.h>
#include "backend/runtime/kernels/kernel.h"
#include "backend/runtime/pack/trit2.h"
#include "backend/runtime/pack/trit_blocks.h"

/* The blocks of a panel: steps of four. */
struct tile_blocks {
	const uint8_t *data;
	const int32_t *at;
	int64_t steps;
	const int32_t *starts;
};

#if defined(__AVX512VNNI__)
#include <immintrin.h>
enum { TILE_ROWS = 8 };

/* Few rows have accumulators for each field of a step, which hide the latency of vpdpbusd. */
TRI_INLINE void sum_rows(const struct tile_blocks *b, const uint8_t *x, int64_t ldx, const int R, int32_t *y, int64_t ld)
{
	const __m512i low = _mm512_set1_epi8(3), one = _mm512_set1_epi8(1);
	const int sets = R < 3 ? 4 : 1;
	__m512i sum[8][2];
	const uint8_t *w = b->data;
	const int32_t *at = b->at;
	for (int i = 0; i < R * sets; i++)
		for (int h = 0; h < 2; h++)
			sum[i][h] = i < R ? _mm512_loadu_si512(b->starts + 16 * h) : _mm512_setzero_si512();
	for (int64_t s = 0; s < b->steps; s++, w += 128, at += 4) {
		const __m512i packed[2] = {_mm512_loadu_si512(w), _mm512_loadu_si512(w + 64)};
#pragma GCC unroll 4
		for (int f = 0; f < 4; f++) {
			__m512i t[2];
#pragma GCC unroll 2
			for (int h = 0; h < 2; h++)
				t[h] = _mm512_sub_epi8(_mm512_and_si512(f ? _mm512_srli_epi16(packed[h], 2 * (unsigned)f) : packed[h], low),
						       one);
#pragma GCC unroll 8
			for (int r = 0; r < R; r++) {
				int32_t four;
				memcpy(&four, x + r * ldx + at[f], 4);
				__m512i a = _mm512_set1_epi32(four), *to = sum[f % sets * R + r];
				to[0] = _mm512_dpbusd_epi32(to[0], a, t[0]);
				to[1] = _mm512_dpbusd_epi32(to[1], a, t[1]);
			}
		}
	}
	for (int r = 0; r < R; r++)
		for (int h = 0; h < 2; h++) {
			__m512i all = sum[r][h];
			for (int i = 1; i < sets; i++)
				all = _mm512_add_epi32(all, sum[i * R + r][h]);
			_mm512_storeu_si512(y + r * ld + 16 * h, all);
		}
}

#define ROWS(R) \
	case R: sum_rows(b, x, ldx, R, y, ld); break;
static void block_sum(const struct tile_blocks *b, const uint8_t *x, int64_t ldx, int rows, int32_t *y, int64_t ld)
{
	switch (rows) {
		ROWS(1) ROWS(2) ROWS(3) ROWS(4) ROWS(5) ROWS(6) ROWS(7) ROWS(8)
	}
}
#undef ROWS

#elif defined(__SSSE3__)
#include <immintrin.h>
#if defined(__AVX2__)
typedef __m256i vec;
#define V(op) _mm256_##op
#define V_AND _mm256_and_si256
#define V_LOAD(p) _mm256_loadu_si256((const __m256i *)(p))
#define V_STORE(p, v) _mm256_storeu_si256((__m256i *)(p), (v))
#else
typedef __m128i vec;
#define V(op) _mm_##op
#define V_AND _mm_and_si128
#define V_LOAD(p) _mm_loadu_si128((const __m128i *)(p))
#define V_STORE(p, v) _mm_storeu_si128((__m128i *)(p), (v))
#endif
enum { TILE_ROWS = 4, WIDEN_STEPS = 16, BYTES = sizeof(vec) }; /* 16 steps · 4 fields · 2 · 255 fit into 16 bits */

/* Two vectors of columns, BYTES / 4 each. */
TRI_INLINE void sum_rows(const struct tile_blocks *b, int64_t column, const uint8_t *x, int64_t ldx, const int R, int32_t *y, int64_t ld)
{
	const vec low = V(set1_epi8)(3), one = V(set1_epi8)(1), ones = V(set1_epi16)(1);
	for (int r = 0; r < R; r++)
		memcpy(y + r * ld + column, b->starts + column, 2 * BYTES);
	const uint8_t *w = b->data + column / 16 * 64 + column % 16 * 4;
	for (int64_t s = 0; s < b->steps;) {
		int64_t end = b->steps - s < WIDEN_STEPS ? b->steps : s + WIDEN_STEPS;
		vec sum[TILE_ROWS][2];
#pragma GCC unroll 4
		for (int r = 0; r < R; r++)
			sum[r][0] = sum[r][1] = V(set1_epi32)(0);
		for (; s < end; s++)
#pragma GCC unroll 4
			for (int f = 0; f < 4; f++) {
				vec t[2];
#pragma GCC unroll 2
				for (int v = 0; v < 2; v++) {
					vec packed = V_LOAD(w + s * 128 + v * BYTES);
					t[v] = V(sub_epi8)(V_AND(f ? V(srli_epi16)(packed, 2 * f) : packed, low), one);
				}
#pragma GCC unroll 4
				for (int r = 0; r < R; r++) {
					int32_t four;
					memcpy(&four, x + r * ldx + b->at[4 * s + f], 4);
					vec a = V(set1_epi32)(four);
#pragma GCC unroll 2
					for (int v = 0; v < 2; v++)
						sum[r][v] = V(add_epi16)(sum[r][v], V(maddubs_epi16)(a, t[v]));
				}
			}
#pragma GCC unroll 4
		for (int r = 0; r < R; r++)
#pragma GCC unroll 2
			for (int v = 0; v < 2; v++) {
				int32_t *to = y + r * ld + column + v * (int)(BYTES / 4);
				V_STORE(to, V(add_epi32)(V_LOAD(to), V(madd_epi16)(sum[r][v], ones)));
			}
	}
}

static void block_sum(const struct tile_blocks *b, const uint8_t *x, int64_t ldx, int rows, int32_t *y, int64_t ld)
{
	for (int64_t c = 0; c < TRI_BLOCK_COLUMNS; c += BYTES / 2)
		switch (rows) {
		case 1: sum_rows(b, c, x, ldx, 1, y, ld); break;
		case 2: sum_rows(b, c, x, ldx, 2, y, ld); break;
		case 3: sum_rows(b, c, x, ldx, 3, y, ld); break;
		case 4: sum_rows(b, c, x, ldx, 4, y, ld); break;
		}
}

#else
enum { TILE_ROWS = 4 };

static void block_sum(const struct tile_blocks *b, const uint8_t *x, int64_t ldx, int rows, int32_t *y, int64_t ld)
{
	for (int r = 0; r < rows; r++, x += ldx, y += ld) {
		memcpy(y, b->starts, TRI_BLOCK_COLUMNS * sizeof *y);
		for (int64_t i = 0; i < 4 * b->steps; i++) {
			const uint8_t *w = b->data + i / 4 * 128, *a = x + b->at[i];
			for (int c = 0; c < TRI_BLOCK_COLUMNS; c++)
				for (int j = 0; j < 4; j++)
					y[c] += a[j] * ((w[c / 16 * 64 + c % 16 * 4 + j] >> 2 * (i % 4) & 3) - 1);
		}
	}
}
#endif
#endif
