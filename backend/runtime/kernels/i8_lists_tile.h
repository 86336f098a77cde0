/* The register tile of products of int8 with lists of trits (trit_blocks.h): list_sum computes 64 columns and `rows` rows of x, at most LIST_ROWS,
 * of which each has whole chunks of TRI_LIST_CHUNK numbers. With VBMI a chunk of x and its complement are the table of a permutation: a trit of
 * -1 adds ~x = -x - 1, and the sum starts with the number of these. */
#ifndef TRI_I8_LISTS_TILE_H
#define TRI_I8_LISTS_TILE_H
#include "backend/runtime/kernels/kernel.h"
#include "backend/runtime/pack/trit_blocks.h"

enum { LIST_ROWS = 4 };

/* The steps of a panel. */
struct tile_lists {
	const uint8_t *data;
	const int32_t *at;
	int64_t steps;
	const int32_t *starts;
};

#if defined(__AVX512VNNI__)
#include <immintrin.h>
#define VBMI __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx512vbmi")))

VBMI static inline __attribute__((always_inline)) void sum_lists(const struct tile_lists *l, const int8_t *x, int64_t ldx, const int R,
								 int32_t *y, int64_t ld)
{
	const __m512i ones = _mm512_set1_epi8(1), all = _mm512_set1_epi8(-1);
	const uint8_t *data = l->data;
	__m512i sum[LIST_ROWS][4];
#pragma GCC unroll 16
	for (int i = 0; i < 4 * R; i++)
		sum[i / 4][i % 4] = _mm512_loadu_si512(l->starts + 16 * (i % 4));
	for (int64_t s = 0; s < l->steps; s++, data += TRI_LIST_BYTES) {
		__m512i index[4];
		__mmask64 used[4];
#pragma GCC unroll 4
		for (int q = 0; q < 4; q++) {
			index[q] = _mm512_loadu_si512(data + 64 * q);
			used[q] = _knot_mask64(_mm512_movepi8_mask(index[q]));
		}
#pragma GCC unroll 4
		for (int r = 0; r < R; r++) {
			const __m512i plus = _mm512_loadu_si512(x + r * ldx + l->at[s]), minus = _mm512_xor_si512(plus, all);
#pragma GCC unroll 4
			for (int q = 0; q < 4; q++)
				sum[r][q] = _mm512_dpbusd_epi32(sum[r][q], ones,
								_mm512_maskz_permutex2var_epi8(used[q], plus, index[q], minus));
		}
	}
#pragma GCC unroll 16
	for (int i = 0; i < 4 * R; i++)
		_mm512_storeu_si512(y + i / 4 * ld + 16 * (i % 4), sum[i / 4][i % 4]);
}

VBMI static void list_sum_vbmi(const struct tile_lists *l, const int8_t *x, int64_t ldx, int rows, int32_t *y, int64_t ld)
{
	switch (rows) {
	case 1: sum_lists(l, x, ldx, 1, y, ld); break;
	case 2: sum_lists(l, x, ldx, 2, y, ld); break;
	case 3: sum_lists(l, x, ldx, 3, y, ld); break;
	case 4: sum_lists(l, x, ldx, 4, y, ld); break;
	}
}
#endif

static void list_sum(const struct tile_lists *l, _Bool has_vbmi, const int8_t *x, int64_t ldx, int rows, int32_t *y, int64_t ld)
{
#if defined(__AVX512VNNI__)
	if (has_vbmi) {
		list_sum_vbmi(l, x, ldx, rows, y, ld);
		return;
	}
#endif
	(void)has_vbmi;
	for (int r = 0; r < rows; r++, x += ldx, y += ld) {
		for (int64_t c = 0; c < TRI_LIST_COLUMNS; c++)
			y[c] = l->starts[c];
		for (int64_t s = 0; s < l->steps; s++)
			for (int i = 0; i < TRI_LIST_BYTES; i++) {
				uint8_t index = l->data[s * TRI_LIST_BYTES + i];
				int8_t number = x[l->at[s] + index % TRI_LIST_CHUNK];
				if (index != TRI_LIST_NONE)
					y[i / TRI_LIST_SLOTS] += index < TRI_LIST_CHUNK ? number : ~number;
			}
	}
}
#endif
