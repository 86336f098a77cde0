/* AVX-512 VBMI code of matmul_i8_trit1_6.c; the processor level does not promise VBMI, so callers ask for it. A permutation of two registers
 * turns c into the four fields of TRIT2. What two subtractions of 81 took away is 81·t, of which the lowest two bits are t. */
#include <immintrin.h>
#define VBMI __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx512vbmi")))

struct line {
	__m512i fields, rest; /* TRIT2 block; 81·t */
};

VBMI static inline struct line line_split(const uint8_t *w, __m512i low, __m512i high)
{
	const __m512i unit = _mm512_set1_epi8(TRI_TRIT1_6_UNIT);
	__m512i v = _mm512_loadu_si512(w), c = _mm512_min_epu8(v, _mm512_sub_epi8(v, unit));
	c = _mm512_min_epu8(c, _mm512_sub_epi8(c, unit));
	return (struct line){_mm512_permutex2var_epi8(low, c, high), _mm512_sub_epi8(v, c)};
}

/* The fields of c = 0 … 80, in two registers. */
#define FIELDS_TABLE __m512i low = _mm512_loadu_si512(field_table), high = _mm512_loadu_si512(field_table + 64)

/* Unpacks groups of `halves` halves to TRIT2. */
VBMI static void unpack_vbmi(const uint8_t *w, int64_t groups, int halves, uint8_t *out)
{
	const __m512i field[4] = {_mm512_set1_epi8(0x03), _mm512_set1_epi8(0x0c), _mm512_set1_epi8(0x30), _mm512_set1_epi8((char)0xc0)};
	const int stride = halves * TRI_TRIT2_BLOCK;
	const FIELDS_TABLE;
	for (int64_t g = 0; g < groups; g++, w += 4 * stride, out += 5 * stride)
		for (int h = 0; h < stride; h += TRI_TRIT2_BLOCK) {
			__m512i last = _mm512_setzero_si512();
#pragma GCC unroll 4
			for (int j = 0; j < TRI_TRIT1_6_LINES; j++) {
				struct line l = line_split(w + j * stride + h, low, high);
				_mm512_storeu_si512(out + j * stride + h, l.fields);
				/* 81 and 162 have t in fields 0, 2 and 3 */
				__m512i t = j == 1 ? _mm512_slli_epi16(l.rest, 2) : l.rest;
				last = _mm512_ternarylogic_epi32(last, t, field[j], 0xf8); /* last | (t & field) */
			}
			_mm512_storeu_si512(out + 4 * stride + h, last);
		}
}

/* Multiplies one row of x by `groups` groups of H halves, at most MOST_GROUPS. Fields are masked and not shifted, and 81·t are not divided,
 * before the end; both are exact. */
VBMI static inline __attribute__((always_inline)) void row_of_halves(const uint8_t *w, const int8_t *x, int64_t groups, const int H,
								     int32_t *y)
{
	const __m512i field[4] = {_mm512_set1_epi8(0x03), _mm512_set1_epi8(0x0c), _mm512_set1_epi8(0x30), _mm512_set1_epi8((char)0xc0)};
	const FIELDS_TABLE;
	__m512i sum[2][5];
	for (int h = 0; h < H; h++)
		for (int f = 0; f < 5; f++)
			sum[h][f] = _mm512_setzero_si512();
	for (int64_t g = 0; g < groups; g++, x += TRI_TRIT1_6_GROUP)
#pragma GCC unroll 4
		for (int j = 0; j < TRI_TRIT1_6_LINES; j++, w += H * TRI_TRIT2_BLOCK) {
			int32_t quad;
			struct line line[2];
			memcpy(&quad, x + 4 * TRI_TRIT2_STEP + 4 * j, 4);
#pragma GCC unroll 2
			for (int h = 0; h < H; h++) {
				line[h] = line_split(w + h * TRI_TRIT2_BLOCK, low, high);
				sum[h][4] = _mm512_dpbusd_epi32(sum[h][4], line[h].rest, _mm512_set1_epi32(quad));
			}
#pragma GCC unroll 4
			for (int f = 0; f < 4; f++) {
				memcpy(&quad, x + j * TRI_TRIT2_STEP + 4 * f, 4);
				const __m512i a = _mm512_set1_epi32(quad);
#pragma GCC unroll 2
				for (int h = 0; h < H; h++)
					sum[h][f] = _mm512_dpbusd_epi32(sum[h][f], _mm512_and_si512(line[h].fields, field[f]), a);
			}
		}
	for (int h = 0; h < H; h++) {
		_Alignas(64) int32_t fields[TRI_TRIT2_LANES], rest[TRI_TRIT2_LANES];
		_mm512_store_si512(fields,
				   _mm512_add_epi32(_mm512_add_epi32(sum[h][0], _mm512_srai_epi32(sum[h][1], 2)),
						    _mm512_add_epi32(_mm512_srai_epi32(sum[h][2], 4), _mm512_srai_epi32(sum[h][3], 6))));
		_mm512_store_si512(rest, sum[h][4]);
		for (int l = 0; l < TRI_TRIT2_LANES; l++)
			y[h * TRI_TRIT2_LANES + l] = fields[l] + rest[l] / TRI_TRIT1_6_UNIT;
	}
}
VBMI static void row_vbmi(const uint8_t *w, const int8_t *x, int64_t groups, int halves, int32_t *y)
{
	if (halves == 2)
		row_of_halves(w, x, groups, 2, y);
	else
		row_of_halves(w, x, groups, 1, y);
}
