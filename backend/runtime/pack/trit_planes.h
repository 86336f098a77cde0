/* PLANES: a constant trit matrix [K, N] as two bits for each trit, in planes, for products of trits with trits.
 *
 * N is divided into halves of 16 columns; a panel has two halves, the last panel one or two. K is divided into words of 32. A panel has 128
 * bytes for each word and each half: 16 words of 32 bits that tell which trits are not zero, and 16 that tell which are negative; bit i of
 * word `lane` belongs to column `lane` of the half and k = 32 · word + i. Padding in K and N is 0. */
#ifndef TRI_TRIT_PLANES_H
#define TRI_TRIT_PLANES_H
#include <stddef.h>
#include <stdint.h>

enum {
	TRI_PLANES_LANES = 16, /* columns of a half */
	TRI_PLANES_PANEL = 32, /* columns of a panel */
	TRI_PLANES_WORD = 32,  /* k of a word */
	TRI_PLANES_BLOCK = 32  /* words of a half: both planes */
};

static inline int64_t tri_planes_words(int64_t K) { return K / TRI_PLANES_WORD + (K % TRI_PLANES_WORD != 0); }
static inline int64_t tri_planes_panels(int64_t N) { return N / TRI_PLANES_PANEL + (N % TRI_PLANES_PANEL != 0); }
/* Halves of panel p: 1 or 2. */
static inline int tri_planes_halves(int64_t N, int64_t p) { return N - p * TRI_PLANES_PANEL > TRI_PLANES_LANES ? 2 : 1; }
/* Returns the offset of panel p in words. */
static inline int64_t tri_planes_offset(int64_t K, int64_t p) { return p * 2 * TRI_PLANES_BLOCK * tri_planes_words(K); }

/* Trits of a matrix in memory: element [k, n] is at w[k · k_step + n · n_step]. */
struct tri_planes_source {
	const int8_t *w;
	int64_t K, N, k_step, n_step;
};
size_t tri_planes_size(int64_t K, int64_t N);
/* Packs trits of -1, 0, 1 into tri_planes_size bytes, aligned to 4; kernels read fastest if they are aligned to 64. */
void tri_planes_pack(const struct tri_planes_source *s, void *out);
#endif
