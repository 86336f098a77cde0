/* TRIT1_6: TRIT2 in four fifths of the space, five trits in a byte. A group is five steps of TRIT2, 80 k: of each half it has four lines of 64
 * bytes in place of five blocks. Byte i of line j is c + 81·t. c = f0 + 3·f1 + 9·f2 + 27·f3 are the fields of byte i of block j, and t is field j of byte i
 * of block 4. A panel has its groups one after the other, a group line j of each half, then line j+1. The last group is padded with 0. */
#ifndef TRI_TRIT1_6_H
#define TRI_TRIT1_6_H
#include "backend/runtime/pack/trit2.h"

enum { TRI_TRIT1_6_STEPS = 5, TRI_TRIT1_6_GROUP = TRI_TRIT1_6_STEPS * TRI_TRIT2_STEP, TRI_TRIT1_6_LINES = 4, TRI_TRIT1_6_UNIT = 81 };

static inline int64_t tri_trit1_6_groups(int64_t K) { return K / TRI_TRIT1_6_GROUP + (K % TRI_TRIT1_6_GROUP != 0); }
/* Returns the offset of panel p in bytes. */
static inline size_t tri_trit1_6_offset(int64_t K, int64_t p)
{
	return (size_t)p * 2 * TRI_TRIT1_6_LINES * TRI_TRIT2_BLOCK * (size_t)tri_trit1_6_groups(K);
}

size_t tri_trit1_6_packed_size(int64_t K, int64_t N);
/* Packs a matrix [K, N] that is packed as TRIT2 into tri_trit1_6_packed_size bytes. */
void tri_trit1_6_pack(const void *trit2, int64_t K, int64_t N, void *out);
#endif
