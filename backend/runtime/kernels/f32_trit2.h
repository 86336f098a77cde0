/* What float32 × trit kernels share. Sums have the order of f32_rows.h. Many rows are multiplied by panels of trits that are expanded to float32,
 * a block at a time. A zero trit skips its number, even a NaN: if there are any, trits choose a number, 0 or its negation. A row of finite
 * numbers is multiplied by trits that are expanded in registers. */
#ifndef TRI_F32_TRIT2_H
#define TRI_F32_TRIT2_H
#include "backend/runtime/kernels/kernel.h"
#include "backend/runtime/pack/trit2.h"

/* Packed trits [K, N]. K is lines of `line` terms, each padded to `run`; a matrix is one line. */
struct tri_trits {
	const uint8_t *w;
	int64_t K, N, line, run; /* K: with padding */
};

/* Expands terms k0 … k0+k-1 (without padding) of a panel to rows of the panel's width. */
void tri_trit2_expand(const struct tri_trits *t, int64_t panel, int64_t k0, int64_t k, float *out);
/* Computes one row of x, K numbers that are finite or not, times n panels from `panel` on. Stores the width of each panel, one after the other. */
void tri_trit2_sum_row(const struct tri_trits *t, const float *x, _Bool finite, int64_t panel, int64_t n, float *y);
/* A matrix product of finite numbers, in matmul_f32.c. */
void tri_multiply_f32_trits(struct tri_context *ctx, void *const *bufs, const int64_t *dims, const struct tri_epilogue *epilogue,
			    const struct tri_trits *trits);
/* True if there is no NaN or infinity. */
_Bool tri_is_finite(const float *x, int64_t n);
#endif
