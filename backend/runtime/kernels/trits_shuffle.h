/* SSSE3 and AVX2 tile of trits_tile.h: byte shuffles look up the bits of nibbles. Bytes count until they could overflow. */
#include <immintrin.h>

enum { TILE_ROWS = 2, BYTE_WORDS = 31 }; /* a byte counts 8 bits of a word, up to 255 */

#if defined(__AVX2__)
typedef __m256i vec;
#define V(op) _mm256_##op
#define V_LOAD(p) _mm256_loadu_si256((const __m256i *)(p))
#define V_STORE(p, v) _mm256_storeu_si256((__m256i *)(p), (v))
#define V_AND _mm256_and_si256
#define V_XOR _mm256_xor_si256
#define V_ZERO _mm256_setzero_si256()
#define V_NIBBLES _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4)
#else
typedef __m128i vec;
#define V(op) _mm_##op
#define V_LOAD(p) _mm_loadu_si128((const __m128i *)(p))
#define V_STORE(p, v) _mm_storeu_si128((__m128i *)(p), (v))
#define V_AND _mm_and_si128
#define V_XOR _mm_xor_si128
#define V_ZERO _mm_setzero_si128()
#define V_NIBBLES _mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4)
#endif
enum { COLUMNS = sizeof(vec) / 4 };

TRI_INLINE struct tile_word planes_of(const int8_t *x)
{
	struct tile_word out = {0, 0};
	for (int i = 0; i < TRI_PLANES_WORD; i += 4 * COLUMNS) {
		vec v = V_LOAD(x + i);
		out.nonzero |= (uint32_t)V(movemask_epi8)(V(slli_epi16)(v, 7)) << i; /* the lowest bit of each byte */
		out.negative |= (uint32_t)V(movemask_epi8)(v) << i;
	}
	return out;
}

TRI_INLINE vec byte_counts(vec v)
{
	const vec counts = V_NIBBLES, low = V(set1_epi8)(15);
	return V(add_epi8)(V(shuffle_epi8)(counts, V_AND(v, low)), V(shuffle_epi8)(counts, V_AND(V(srli_epi16)(v, 4), low)));
}
TRI_INLINE vec widen(vec bytes) { return V(madd_epi16)(V(maddubs_epi16)(bytes, V(set1_epi8)(1)), V(set1_epi16)(1)); }

/* Sums R rows of COLUMNS columns, of which a word has `stride` words. */
TRI_INLINE void part(const uint32_t *w, int64_t stride, const struct tile_word *x, int64_t words, const int R, int32_t *y, int64_t ld)
{
	vec all[TILE_ROWS], less[TILE_ROWS];
	for (int64_t k = 0; k < words;) {
		int64_t end = words - k < BYTE_WORDS ? words : k + BYTE_WORDS;
#pragma GCC unroll 4
		for (int r = 0; r < R; r++)
			all[r] = less[r] = V_ZERO;
		for (; k < end; k++, x += R, w += stride) {
			vec some = V_LOAD(w), signs = V_LOAD(w + TRI_PLANES_LANES);
#pragma GCC unroll 4
			for (int r = 0; r < R; r++) {
				vec nonzero = V_AND(some, V(set1_epi32)((int)x[r].nonzero));
				vec negative = V_AND(nonzero, V_XOR(signs, V(set1_epi32)((int)x[r].negative)));
				all[r] = V(add_epi8)(all[r], byte_counts(nonzero));
				less[r] = V(add_epi8)(less[r], byte_counts(negative));
			}
		}
#pragma GCC unroll 4
		for (int r = 0; r < R; r++)
			V_STORE(y + r * ld,
				V(add_epi32)(V_LOAD(y + r * ld), V(sub_epi32)(widen(all[r]), V(slli_epi32)(widen(less[r]), 1))));
	}
}

TRI_INLINE void tile_sum(_Bool counts_words, const uint32_t *w, const struct tile_word *x, int64_t words, int halves, int rows,
			 const struct tile_y *y)
{
	(void)counts_words;
	for (int r = 0; r < rows && !y->more; r++)
		memset(y->y + r * y->ld, 0, (size_t)halves * TRI_PLANES_LANES * sizeof(int32_t));
	for (int c = 0; c < halves * TRI_PLANES_LANES; c += COLUMNS) {
		const uint32_t *at = w + c / TRI_PLANES_LANES * TRI_PLANES_BLOCK + c % TRI_PLANES_LANES;
		if (rows == 1)
			part(at, halves * TRI_PLANES_BLOCK, x, words, 1, y->y + c, y->ld);
		else
			part(at, halves * TRI_PLANES_BLOCK, x, words, 2, y->y + c, y->ld);
	}
}
