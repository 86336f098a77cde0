/* TRIT2: a constant trit matrix [K, N] with two bits for each trit, in the order in which the kernels read it, on every instruction set.
 *
 * N is divided into halves of 16 columns; a panel has two halves, the last panel one or two. K is divided into steps of 16. A panel has
 * 64 bytes for each step and each half. Bits 2f and 2f+1 (f = 0 … 3) of byte 4*lane + j hold trit + 1 of column `lane` of the half at k
 * = 16*step + 4*f + j. So a 32-bit word belongs to one column, and `word >> 2f & 0x03030303` are the unsigned bytes for the four
 * activations k … k+3: sum(x*(t+1)) - sum(x) = sum(x*t). Padding in K and N is 0; its activations are 0. */
#ifndef TRI_TRIT2_H
#define TRI_TRIT2_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
	TRI_TRIT2_LANES = 16, /* columns of a half */
	TRI_TRIT2_PANEL = 32, /* columns of a panel */
	TRI_TRIT2_STEP = 16,  /* k of a step */
	TRI_TRIT2_BLOCK = 64  /* bytes of a half in a step */
};

static inline int64_t tri_trit2_steps(int64_t K) { return K / TRI_TRIT2_STEP + (K % TRI_TRIT2_STEP != 0); }
static inline int64_t tri_trit2_panels(int64_t N) { return N / TRI_TRIT2_PANEL + (N % TRI_TRIT2_PANEL != 0); }
/* Halves of panel p: 1 or 2. */
static inline int tri_trit2_halves(int64_t N, int64_t p) { return N - p * TRI_TRIT2_PANEL > TRI_TRIT2_LANES ? 2 : 1; }
/* Returns the offset of panel p in bytes. */
static inline size_t tri_trit2_offset(int64_t K, int64_t p) { return (size_t)p * 2 * TRI_TRIT2_BLOCK * (size_t)tri_trit2_steps(K); }

/* Copies n columns of packed trits [K, N] from column `from` on, at most a panel of them, as packed trits [K, n]. */
static inline void tri_trit2_copy_columns(const uint8_t *w, int64_t K, int64_t N, int64_t from, int64_t n, uint8_t *out)
{
	int64_t panel = from / TRI_TRIT2_PANEL, first = from % TRI_TRIT2_PANEL;
	int64_t width = tri_trit2_halves(N, panel) * TRI_TRIT2_LANES, some = n < width - first ? n : width - first;
	size_t step = (size_t)tri_trit2_halves(n, 0) * TRI_TRIT2_BLOCK;
	const uint8_t *a = w + tri_trit2_offset(K, panel), *b = w + tri_trit2_offset(K, panel + 1);
	size_t a_step = (size_t)width * 4, b_step = some < n ? (size_t)tri_trit2_halves(N, panel + 1) * TRI_TRIT2_BLOCK : 0;
	for (int64_t s = 0; s < tri_trit2_steps(K); s++, a += a_step, b += b_step, out += step) {
		memset(out, 0, step);
		memcpy(out, a + first * 4, (size_t)some * 4);
		memcpy(out + some * 4, b, (size_t)(n - some) * 4);
	}
}

size_t tri_trit2_packed_size(int64_t K, int64_t N);
/* Packs w, [K, N] row-major trits of -1, 0, 1, into tri_trit2_packed_size bytes. Kernels read fastest if `out` is aligned to 64 bytes. */
void tri_trit2_pack(const int8_t *w, int64_t K, int64_t N, void *out);
/* The same of a transposed matrix: w is [N, K] row-major. */
void tri_trit2_pack_transposed(const int8_t *w, int64_t K, int64_t N, void *out);
#endif
