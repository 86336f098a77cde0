/* TRIT_BLOCKS: a constant trit matrix [K, N] for products with int8: TRIT2 behind a header, or only the blocks that are not all zero, if that
 * is estimated to be faster. TRIT_LISTS: the same, or lists of the trits that are not zero, for processors that permute bytes. The choice depends
 * on the trits alone and is made when they are packed: code reads it in the header, so other weights need no other code. All forms have the same
 * size, which is known before the trits are.
 *
 * Blocks: rows of the matrix (k) that are zero may be left out; the `rows` others are numbered in their order. A block has four of them, by 32
 * columns. Panel p has the blocks first[p] … first[p+1]-1, a multiple of four; at[b] is four times the number of the block's first four
 * rows. Four blocks are packed like a step of TRIT2, trit + 1 in two bits. A panel always has two halves.
 *
 * Lists: a panel has 64 columns, and steps of 256 bytes, four slots for each column. Step s is of the rows at[s] … at[s]+63. A slot is such a row's
 * number if the trit is 1, 64 more if it is -1, or TRI_LIST_NONE. */
#ifndef TRI_TRIT_BLOCKS_H
#define TRI_TRIT_BLOCKS_H
#include <stddef.h>
#include <stdint.h>
#include "backend/runtime/pack/trit2_zeros.h"

enum { TRI_BLOCKS_MOST_K = 1 << 14, TRI_BLOCK_ROWS = 4, TRI_BLOCK_COLUMNS = 32, TRI_BLOCK_BYTES = 32 };
enum { TRI_LIST_COLUMNS = 64, TRI_LIST_CHUNK = 64, TRI_LIST_SLOTS = 4, TRI_LIST_BYTES = 256, TRI_LIST_NONE = 0x80 };
enum tri_form { TRI_DENSE, TRI_BLOCKS, TRI_LISTS };

/* Offsets are from the header, in bytes. */
struct tri_blocks {
	uint32_t form;                 /* enum tri_form; TRI_DENSE: TRIT2 follows */
	uint32_t rows;                 /* that blocks have */
	uint32_t blocks;               /* that are not zero, with padding */
	uint32_t steps;                /* of lists */
	float blocks_one, blocks_many; /* estimated time for one row of x, and for each of many: a part of that of TRIT2 */
	float lists_one, lists_many;   /* the same; 0: there are no lists, or too many trits for them */
	uint64_t first;                /* uint32_t for each panel, and the end */
	uint64_t starts;   /* int32_t for each column of all panels: -128 times the sum of its trits; of lists the number of its -1 */
	uint64_t kept;     /* uint32_t for each row: its k; 0: all rows are kept */
	uint64_t at, data; /* int32_t for each block or step; the trits */
	struct tri_zeros zeros;
	uint8_t pad[32];
};
_Static_assert(sizeof(struct tri_blocks) == 128, "TRIT2 behind it is aligned");

/* Trits of a matrix in memory: element [k, n] is at w[k · k_step + n · n_step]; one of the steps is 1. */
struct tri_blocks_source {
	const int8_t *w;
	int64_t K, N, k_step, n_step;
};
size_t tri_blocks_size(int64_t K, int64_t N);
void tri_blocks_pack(const struct tri_blocks_source *s, _Bool lists, void *out);
/* True if offsets and indices of a packed matrix [K, N] stay inside of its bytes and of rows of K activations. `size` bytes, as many as tri_blocks_size
 * says, are at `packed`, aligned to 64. */
_Bool tri_blocks_are_valid(const void *packed, uint64_t size, int64_t K, int64_t N);
/* Stores the trits [K, N]. */
void tri_blocks_unpack(const void *packed, int64_t K, int64_t N, int8_t *w);

/* In trit_lists_pack.c, for tri_blocks_pack. */
uint32_t tri_lists_steps(const struct tri_blocks_source *s);
/* Places the parts of lists behind the header; returns the size. */
uint64_t tri_lists_place(const struct tri_blocks_source *s, struct tri_blocks *h);
/* Packs lists to the header in `out`, behind which is zero. */
void tri_lists_pack(const struct tri_blocks_source *s, void *out);
void tri_lists_unpack(const void *packed, int64_t K, int64_t N, int8_t *w);

static inline const void *tri_blocks_part(const struct tri_blocks *b, uint64_t offset) { return (const char *)b + offset; }
#endif
