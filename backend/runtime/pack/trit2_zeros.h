/* The zeros of a TRIT2 matrix, found in its packed form: there a block of four rows by 32 columns is a field of two vectors. */
#ifndef TRI_TRIT2_ZEROS_H
#define TRI_TRIT2_ZEROS_H
#include <stddef.h>
#include <stdint.h>

struct tri_zeros {
	uint64_t trits;         /* that are zero */
	uint32_t rows, columns; /* all zero */
	uint32_t blocks;        /* of four rows by 32 columns, all zero */
	uint32_t pad;
};

static inline uint64_t tri_trit2_quads(int64_t K) { return (uint64_t)(K + 3) / 4; }
/* True if row `row` of a step (0 … 15) is not all zero, or if quad `quad` (0 … 3) is not. */
static inline int tri_trit2_row_used(uint32_t used, int64_t row) { return (int)(used >> (8 * (row % 4) + 2 * (row / 4)) & 1); }
static inline int tri_trit2_quad_used(uint32_t used, int64_t quad) { return (used >> 2 * quad & 0x01010101u) != 0; }
/* Stores for each panel and step which rows are not all zero in that panel: used[panel · steps + step]. */
void tri_trit2_zeros(const void *packed, int64_t K, int64_t N, uint32_t *used, struct tri_zeros *out);
#endif
