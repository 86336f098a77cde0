/* AVX-512 tile of trits_tile.h. A lane is a column. With vpopcntd a lane counts its words at once; other processors look up the bits of
 * nibbles, and bytes count until they could overflow. */
#include <immintrin.h>

enum { TILE_ROWS = 4, BYTE_WORDS = 31 }; /* a byte counts 8 bits of a word, up to 255 */

TRI_INLINE struct tile_word planes_of(const int8_t *x)
{
	__m256i v = _mm256_loadu_si256((const __m256i *)x);
	return (struct tile_word){_mm256_test_epi8_mask(v, v), _mm256_movepi8_mask(v)};
}

TRI_INLINE __m512i nibble_counts(__m512i v)
{
	const __m512i counts = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
	const __m512i low = _mm512_set1_epi8(15);
	return _mm512_add_epi8(_mm512_shuffle_epi8(counts, _mm512_and_si512(v, low)),
			       _mm512_shuffle_epi8(counts, _mm512_and_si512(_mm512_srli_epi16(v, 4), low)));
}
TRI_INLINE __m512i widen(__m512i bytes)
{
	return _mm512_madd_epi16(_mm512_maddubs_epi16(bytes, _mm512_set1_epi8(1)), _mm512_set1_epi16(1));
}

#define PRODUCTS(r, h)                                                                     \
	__m512i nonzero = _mm512_and_si512(some[h], _mm512_set1_epi32((int)x[r].nonzero)); \
	__m512i negative = _mm512_ternarylogic_epi32(nonzero, signs[h], _mm512_set1_epi32((int)x[r].negative), 0x60); /* a & (b ^ c) */

#define STORE(to, sum) _mm512_storeu_si512(to, more ? _mm512_add_epi32(_mm512_loadu_si512(to), sum) : (sum))

__attribute__((target("avx512vpopcntdq"))) TRI_INLINE void count_words(const uint32_t *w, const struct tile_word *x, int64_t words,
								       const int H, const int R, const struct tile_y *y)
{
	__m512i all[TILE_ROWS][2], less[TILE_ROWS][2], some[2], signs[2];
	const _Bool more = y->more;
#pragma GCC unroll 8
	for (int r = 0; r < R; r++)
		for (int h = 0; h < H; h++)
			all[r][h] = less[r][h] = _mm512_setzero_si512();
	for (int64_t k = 0; k < words; k++, x += R) {
#pragma GCC unroll 2
		for (int h = 0; h < H; h++, w += TRI_PLANES_BLOCK)
			some[h] = _mm512_loadu_si512(w), signs[h] = _mm512_loadu_si512(w + TRI_PLANES_LANES);
#pragma GCC unroll 8
		for (int r = 0; r < R; r++)
#pragma GCC unroll 2
			for (int h = 0; h < H; h++) {
				PRODUCTS(r, h)
				all[r][h] = _mm512_add_epi32(all[r][h], _mm512_popcnt_epi32(nonzero));
				less[r][h] = _mm512_add_epi32(less[r][h], _mm512_popcnt_epi32(negative));
			}
	}
#pragma GCC unroll 8
	for (int r = 0; r < R; r++)
#pragma GCC unroll 2
		for (int h = 0; h < H; h++)
			STORE(y->y + r * y->ld + 16 * h, _mm512_sub_epi32(all[r][h], _mm512_slli_epi32(less[r][h], 1)));
}

TRI_INLINE void count_bytes(const uint32_t *w, const struct tile_word *x, int64_t words, const int H, const int R, const struct tile_y *y)
{
	__m512i all[TILE_ROWS][2], less[TILE_ROWS][2], some[2], signs[2];
	_Bool more = y->more;
	for (int64_t k = 0; k < words || !more; more = 1) {
		int64_t end = words - k < BYTE_WORDS ? words : k + BYTE_WORDS;
#pragma GCC unroll 8
		for (int r = 0; r < R; r++)
			for (int h = 0; h < H; h++)
				all[r][h] = less[r][h] = _mm512_setzero_si512();
		for (; k < end; k++, x += R) {
#pragma GCC unroll 2
			for (int h = 0; h < H; h++, w += TRI_PLANES_BLOCK)
				some[h] = _mm512_loadu_si512(w), signs[h] = _mm512_loadu_si512(w + TRI_PLANES_LANES);
#pragma GCC unroll 8
			for (int r = 0; r < R; r++)
#pragma GCC unroll 2
				for (int h = 0; h < H; h++) {
					PRODUCTS(r, h)
					all[r][h] = _mm512_add_epi8(all[r][h], nibble_counts(nonzero));
					less[r][h] = _mm512_add_epi8(less[r][h], nibble_counts(negative));
				}
		}
#pragma GCC unroll 8
		for (int r = 0; r < R; r++)
#pragma GCC unroll 2
			for (int h = 0; h < H; h++)
				STORE(y->y + r * y->ld + 16 * h,
				      _mm512_sub_epi32(widen(all[r][h]), _mm512_slli_epi32(widen(less[r][h]), 1)));
	}
}
#undef PRODUCTS
#undef STORE

#define ROWS(R) \
	case R: halves == 2 ? COUNT(w, x, words, 2, R, y) : COUNT(w, x, words, 1, R, y); break;
#define COUNT count_words
__attribute__((target("avx512vpopcntdq"))) static void sum_words(const uint32_t *w, const struct tile_word *x, int64_t words, int halves,
								 int rows, const struct tile_y *y)
{
	switch (rows) {
		ROWS(1) ROWS(2) ROWS(3) ROWS(4)
	}
}
#undef COUNT
#define COUNT count_bytes
TRI_INLINE void tile_sum(_Bool counts_words, const uint32_t *w, const struct tile_word *x, int64_t words, int halves, int rows,
			 const struct tile_y *y)
{
	if (counts_words) {
		sum_words(w, x, words, halves, rows, y);
		return;
	}
	switch (rows) {
		ROWS(1) ROWS(2) ROWS(3) ROWS(4)
	}
}
#undef COUNT
#undef ROWS
