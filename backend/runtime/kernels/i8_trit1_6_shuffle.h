/* SSSE3 and AVX2 code of matmul_i8_trit1_6.c. What subtractions of 81 and of 27 took away tells their digits: the lowest bits of 0, 81 and 162 are
 * 0, 1 and 2, and those of 0, 27 and 54 are an index of a table. The rest, 0 … 26, is an index of two tables of 16 bytes. */
#include <immintrin.h>

#if defined(__AVX2__)
typedef __m256i digits;
#define D(op) _mm256_##op
#define D_LOAD(p) _mm256_loadu_si256((const __m256i *)(p))
#define D_STORE(p, v) _mm256_storeu_si256((__m256i *)(p), (v))
#define D_AND _mm256_and_si256
#define D_OR _mm256_or_si256
#define D_ZERO _mm256_setzero_si256()
#define D_TABLE(...) _mm256_setr_epi8(__VA_ARGS__, __VA_ARGS__)
#else
typedef __m128i digits;
#define D(op) _mm_##op
#define D_LOAD(p) _mm_loadu_si128((const __m128i *)(p))
#define D_STORE(p, v) _mm_storeu_si128((__m128i *)(p), (v))
#define D_AND _mm_and_si128
#define D_OR _mm_or_si128
#define D_ZERO _mm_setzero_si128()
#define D_TABLE(...) _mm_setr_epi8(__VA_ARGS__)
#endif

/* Returns v modulo a power of three that is in v at most twice. */
TRI_INLINE digits rest_of(digits v, digits power)
{
	v = D(min_epu8)(v, D(sub_epi8)(v, power));
	return D(min_epu8)(v, D(sub_epi8)(v, power));
}

/* The three fields of r = 0 … 26; the field of 27·f, by its lowest four bits. */
TRI_INLINE digits fields_of(digits c)
{
	const digits first = D_TABLE(0x00, 0x01, 0x02, 0x04, 0x05, 0x06, 0x08, 0x09, 0x0a, 0x10, 0x11, 0x12, 0x14, 0x15, 0x16, 0x18);
	const digits second = D_TABLE(0x19, 0x1a, 0x20, 0x21, 0x22, 0x24, 0x25, 0x26, 0x28, 0x29, 0x2a, 0, 0, 0, 0, 0);
	const digits upper = D_TABLE(0, 0, 0, 0, 0, 0, -128, 0, 0, 0, 0, 0x40, 0, 0, 0, 0);
	digits r = rest_of(c, D(set1_epi8)(27)), taken = D(sub_epi8)(c, r);
	/* an index with bit 7 reads 0 */
	digits low = D(shuffle_epi8)(first, D(add_epi8)(r, D(set1_epi8)(0x70))),
	       high = D(shuffle_epi8)(second, D(sub_epi8)(r, D(set1_epi8)(16)));
	return D_OR(D_OR(low, high), D(shuffle_epi8)(upper, taken));
}

static void unpack_plain(const uint8_t *w, int64_t groups, int halves, uint8_t *out)
{
	const digits unit = D(set1_epi8)((char)TRI_TRIT1_6_UNIT);
	const digits field[4] = {D(set1_epi8)(0x03), D(set1_epi8)(0x0c), D(set1_epi8)(0x30), D(set1_epi8)((char)0xc0)};
	const int stride = halves * TRI_TRIT2_BLOCK;
	for (int64_t g = 0; g < groups; g++, w += 4 * stride, out += 5 * stride)
		for (int i = 0; i < stride; i += (int)sizeof(digits)) {
			digits last = D_ZERO;
#pragma GCC unroll 4
			for (int j = 0; j < TRI_TRIT1_6_LINES; j++) {
				digits v = D_LOAD(w + j * stride + i), c = rest_of(v, unit), taken = D(sub_epi8)(v, c);
				D_STORE(out + j * stride + i, fields_of(c));
				/* 81 and 162 have their digit in fields 0, 2 and 3 */
				last = D_OR(last, D_AND(j == 1 ? D(slli_epi16)(taken, 2) : taken, field[j]));
			}
			D_STORE(out + 4 * stride + i, last);
		}
}
