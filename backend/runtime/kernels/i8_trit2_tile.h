/* The register tile of int8 × trit products. tile_sum computes `steps` steps of `halves` · 16 columns and `cols` rows of x (at most
 * TILE_COLS), as sums of x·(t+1) over unsigned bytes. i8_sum is the sum of `lines` lines of n bytes, which has to be subtracted; i8_sums stores
 * SUMS of them. Only these depend on the processor. */
#ifndef TRI_I8_TRIT2_TILE_H
#define TRI_I8_TRIT2_TILE_H
#include <string.h>
#include "backend/runtime/kernels/kernel.h"
#include "backend/runtime/pack/trit2.h"

enum { TILE_MOST_COLS = 8, SUMS = 4 };

/* The rows of x. Their k are in quads of four bytes: quad f of step s of row c is at row[c] + s · step + 4 · f, or, if there is a table, at
 * row[c] + at[4 · s + f]. With a table, `rest` quads of one more step follow. */
struct tile_x {
	const int8_t *row[TILE_MOST_COLS];
	int64_t step;
	const int32_t *at;
	int rest;
};
/* Where a tile goes: row c is at y + c · ld, and its sums begin with start[c]. */
struct tile_y {
	int32_t *y;
	int64_t ld;
	const int32_t *start;
};
/* Returns the distance of quad f of step s from the start of a row. Callers of tile_sum know whether there is a table. */
TRI_INLINE int64_t quad_at(const struct tile_x *x, int64_t s, int f, const _Bool table)
{
	return table ? x->at[4 * s + f] : s * x->step + 4 * f;
}

/* Returns the number of steps of which all quads are multiplied, if the rest is one of them. */
TRI_INLINE int64_t padded_steps(const struct tile_x *x, int64_t steps, const _Bool table) { return steps + (table && x->rest); }

#if defined(__AVX512VNNI__)
#include "backend/runtime/kernels/i8_trit2_vnni.h"
#elif defined(__SSSE3__)
#include "backend/runtime/kernels/i8_trit2_maddubs.h"
#else
#include "backend/runtime/kernels/i8_trit2_portable.h"
#endif
_Static_assert((int)TILE_COLS <= (int)TILE_MOST_COLS, "rows of a tile");
#endif
