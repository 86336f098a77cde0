/* The register tile of float32 products: `rows` rows of x, `width` columns of w. The order of a sum is the same for any number of rows,
 * columns and threads: blocks of BLOCK k, each summed in ascending k (with FMA if the processor has it), then the blocks in ascending
 * order. */
#ifndef TRI_F32_TILE_H
#define TRI_F32_TILE_H
#include <string.h>
#include "kernel.h"

#if defined(__AVX512F__)
enum { LANES = 16, VECS = 2, ROWS = 8 };
#elif defined(__AVX2__)
enum { LANES = 8, VECS = 2, ROWS = 6 };
#else
enum { LANES = 4, VECS = 2, ROWS = 4 };
#endif
enum { WIDE_VECS = 8, BLOCK = 256, COLS = LANES * VECS, WIDE = LANES * WIDE_VECS };

typedef float vec __attribute__((vector_size(LANES * 4)));

/* Where a tile goes: rows of y are ldy apart. */
struct f32_out {
	float *y;
	int64_t ldy;
};

/* Computes R rows and V vectors over k values of one block. Rows of w are ldw apart. Adds to y, or stores if it is the first block. */
TRI_INLINE void f32_micro(const float *x, int64_t ldx, const float *w, int64_t ldw, int64_t k, const int R, const int V, struct f32_out out,
			  int64_t width, _Bool first)
{
	vec acc[ROWS][WIDE_VECS];
#pragma GCC unroll 8
	for (int r = 0; r < R; r++)
#pragma GCC unroll 8
		for (int v = 0; v < V; v++)
			acc[r][v] = (vec){0};
	for (int64_t i = 0; i < k; i++) {
		vec b[WIDE_VECS];
#pragma GCC unroll 8
		for (int v = 0; v < V; v++)
			memcpy(&b[v], w + i * ldw + v * LANES, sizeof(vec));
#pragma GCC unroll 8
		for (int r = 0; r < R; r++) {
			vec a = (vec){0} + x[r * ldx + i];
#pragma GCC unroll 8
			for (int v = 0; v < V; v++)
				acc[r][v] += a * b[v];
		}
	}
#pragma GCC unroll 8
	for (int r = 0; r < R; r++) {
		float sums[WIDE], *y = out.y + r * out.ldy;
#pragma GCC unroll 8
		for (int v = 0; v < V; v++)
			memcpy(sums + v * LANES, &acc[r][v], sizeof(vec));
		for (int64_t l = 0; l < width; l++)
			y[l] = first ? sums[l] : y[l] + sums[l];
	}
}

#define F32_MICRO(R) \
	case R: f32_micro(x, ldx, w, ldw, k, R, VECS, out, width, first); break;

/* Computes `rows` rows, at most ROWS, by up to COLS columns. */
static void f32_tile(const float *x, int64_t ldx, const float *w, int64_t ldw, int64_t k, int64_t rows, struct f32_out out, int64_t width,
		     _Bool first)
{
	switch (rows) {
		F32_MICRO(1)
		F32_MICRO(2)
		F32_MICRO(3)
		F32_MICRO(4)
#if defined(__AVX2__)
		F32_MICRO(5)
		F32_MICRO(6)
#endif
#if defined(__AVX512F__)
		F32_MICRO(7) F32_MICRO(8)
#endif
	}
}
#endif
