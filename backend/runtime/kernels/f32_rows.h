/* The products of float32 kernels: rows that pointers lead to, times one panel of columns. */
#ifndef TRI_F32_ROWS_H
#define TRI_F32_ROWS_H
#include <stdbool.h>
#include "backend/runtime/kernels/kernel.h"

enum { TRI_F32_BLOCK = 256 }; /* most terms of a block */

/* Terms of the sums: `segments` times `length` of them, which are in sequence in memory. Segment s of row r begins at
 * rows[s * stride + r] + offset. `next`: the block of w that is wanted next, or NULL. It is brought near while the last rows are computed. */
struct tri_f32_rows {
	const float *const *rows;
	int64_t stride, segments, length, offset;
	const float *next;
};

/* Computes n rows by `width` (16 or 32) columns over one block of terms. Rows of w are `width` apart, rows of y are ldy apart. Stores to y if
 * it is the first block of a sum, else adds to it. A sum is computed in one order for any number of rows, columns and threads: the terms of
 * a block in their order (with FMA if the processor has it), then the blocks in their order. */
void tri_f32_rows(const struct tri_f32_rows *x, int64_t n, const float *w, int64_t width, float *y, int64_t ldy, bool first);

enum { TRI_F32_TILE = 12 }; /* the most rows of a register tile */

/* Returns how many of M rows to compute at a time, at most `most`: about the same number each time, and whole register tiles. */
static inline int64_t tri_f32_tile_rows(int64_t M, int64_t most)
{
	int64_t parts = (M + most - 1) / most, each = (M + parts - 1) / parts;
	int64_t rows = (each + TRI_F32_TILE - 1) / TRI_F32_TILE * TRI_F32_TILE;
	return rows < most ? rows : most;
}
#endif
