/* Transposed copies of matrices, through registers. */
#ifndef TRI_TRANSPOSE_H
#define TRI_TRANSPOSE_H
#include <stdint.h>

/* y[c][r] = x[r][c] for rows × columns elements of `size` bytes: 1, 2, 4 or 8. ldx, ldy: elements from one row to the next. x and y do not overlap. */
void tri_transpose_matrix(const void *x, int64_t ldx, void *y, int64_t ldy, int64_t rows, int64_t columns, int64_t size);
#endif
