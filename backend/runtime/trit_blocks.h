/* TRIT_BLOCKS: a constant trit matrix [K, N] for products with int8: TRIT2 behind a header, or only the blocks that are not all zero, if that
 * is estimated to be faster. The choice depends on the trits alone and is made when they are packed: code reads it in the header, so other
 * weights need no other code. Both forms have the same size, which is known before the trits are.
 *
 * Blocks: rows of the matrix (k) that are zero may be left out; the `rows` others are numbered in their order. A block has four of them, by 32
 * columns. Panel p has the blocks first[p] … first[p+1]-1, a multiple of four; at[b] is four times the number of the block's first four
 * rows. Four blocks are packed like a step of TRIT2, trit + 1 in two bits. A panel always has two halves. */
#ifndef TRI_TRIT_BLOCKS_H
#define TRI_TRIT_BLOCKS_H
#include <stddef.h>
#include <stdint.h>
#include "trit2_zeros.h"

enum { TRI_BLOCKS_MOST_K = 1 << 14, TRI_BLOCK_ROWS = 4, TRI_BLOCK_COLUMNS = 32, TRI_BLOCK_BYTES = 32 };

/* Offsets are from the header, in bytes. */
struct tri_blocks {
	uint32_t is_sparse; /* else TRIT2 follows */
	uint32_t rows;      /* that blocks have */
	uint32_t blocks;    /* that are not zero, with padding */
	float one, many;    /* estimated time of blocks for one row of x, and for each of many: a part of that of TRIT2 */
	uint64_t first;     /* uint32_t for each panel, and the end */
	uint64_t starts;    /* int32_t for each column of all panels: -128 times the sum of its trits */
	uint64_t kept;      /* uint32_t for each row: its k; 0: all rows are kept */
	uint64_t at, data;  /* int32_t for each block; the trits */
	struct tri_zeros zeros;
	uint8_t pad[40];
};
_Static_assert(sizeof(struct tri_blocks) == 128, "TRIT2 behind it is aligned");

/* Trits of a matrix in memory: element [k, n] is at w[k · k_step + n · n_step]; one of the steps is 1. */
struct tri_blocks_source {
	const int8_t *w;
	int64_t K, N, k_step, n_step;
};
size_t tri_blocks_size(int64_t K, int64_t N);
void tri_blocks_pack(const struct tri_blocks_source *s, void *out);
/* Stores the trits [K, N]. */
void tri_blocks_unpack(const void *packed, int64_t K, int64_t N, int8_t *w);

static inline const void *tri_blocks_part(const struct tri_blocks *b, uint64_t offset) { return (const char *)b + offset; }
#endif
