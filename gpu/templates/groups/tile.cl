/* What micro-kernels for work groups share. A tile of a product is 64 columns by eight times as many rows as an item computes: 128 items, each of which
 * computes 4 columns. In local memory are 16 rows of words of both operands: of 4 int8 values, or a float32 value each. */

/* Returns c + the sum of the products of four signed bytes. */
#if defined(TRI_DOT_NVIDIA)
TRI_FUNCTION int tri_dot4(uint a, uint b, int c)
{
	int sum;
	__asm__("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(b), "r"(c));
	return sum;
}
#elif defined(TRI_DOT_AMD)
TRI_FUNCTION int tri_dot4(uint a, uint b, int c) { return __builtin_amdgcn_sdot4((int)a, (int)b, c, false); }
#elif defined(TRI_DOT_AMD_11)
TRI_FUNCTION int tri_dot4(uint a, uint b, int c) { return __builtin_amdgcn_sudot4(true, (int)a, true, (int)b, c, false); }
#elif defined(TRI_DOT_KHR)
TRI_FUNCTION int tri_dot4(uint a, uint b, int c) { return c + dot_4x8packed_ss_int(a, b); }
#else
TRI_FUNCTION int tri_dot4(uint a, uint b, int c)
{
	const int4 p = convert_int4(as_char4(a)) * convert_int4(as_char4(b));
	return c + ((p.s0 + p.s1) + (p.s2 + p.s3));
}
#endif

/* The self-check of tri_dot4, for 64 items. gpu/runtime/fast_forms.c knows the results. */
kernel void tri_check_dot(global int *y)
{
	const uint i = (uint)get_global_id(0);
	y[i] = tri_dot4((i + 1) * 0x9e3779b9u, (i + 7) * 0x85ebca6bu, (int)i * 1000003);
}

/* Returns bytes at … at+3 of x, of which there are `rest`, and 0 in place of the others. */
TRI_FUNCTION uint tri_word(global const uint *x, long at, int rest)
{
	const uint shift = 8 * ((uint)at & 3);
	if (rest <= 0)
		return 0;
	uint v = x[at >> 2] >> shift;
	if (shift != 0 && rest > 4 - (int)(at & 3))
		v |= x[(at >> 2) + 1] << (32 - shift);
	return rest < 4 ? v & ((1u << 8 * rest) - 1) : v;
}

/* Returns trits k = 4·f … 4·f+3 of a word of TRIT2 as bytes, and trit i of a word. */
TRI_FUNCTION uint tri_trits(uint word, int f) { return (((word >> 2 * f & 0x03030303u) | 0x80808080u) - 0x01010101u) ^ 0x80808080u; }
TRI_FUNCTION float tri_trit(uint word, int i) { return as_float(0x4b000000u | (word >> (8 * (i & 3) + 2 * (i >> 2)) & 3)) - 8388609.0f; }

/* Return c + a·b, and c where b is 0: a zero trit skips its number, even an infinity or a NaN. */
TRI_FUNCTION float tri_fma_trit(float a, float b, float c) { return b == 0 ? c : fma(a, b, c); }
TRI_FUNCTION float4 tri_fma_trits(float a, float4 b, float4 c) { return select(fma(b, (float4)(a), c), c, b == 0); }
TRI_FUNCTION int tri_is_special(float x) { return (as_uint(x) & 0x7f800000u) == 0x7f800000u; }

/* tri_tile_NAME adds the products of both operands to `sum`; tri_tile_NAME_part puts the sums of the items of a half of the rows into local memory. */
#define TRI_TILE_LINE(ROWS) (8 * ROWS + 4)
#define TRI_TILE_WORDS(ROWS) (16 * TRI_TILE_LINE(ROWS) + 16 * 64)
#define TRI_TILE(NAME, T, WORD, ROWS, MULTIPLY, UNROLL)                                                                             \
	TRI_FUNCTION void tri_tile_##NAME(T sum[ROWS][4], local const WORD *x, local const WORD *w)                                 \
	{                                                                                                                           \
		const int column = (int)get_local_id(0) % 16 * 4, row = (int)get_local_id(0) / 16 * ROWS;                           \
		_Pragma(UNROLL) for (int q = 0; q < 16; q++)                                                                        \
		{                                                                                                                   \
			const WORD##4 b = *(local const WORD##4 *)(w + q * 64 + column);                                            \
			_Pragma("unroll") for (int i = 0; i < ROWS; i += 4)                                                         \
			{                                                                                                           \
				const WORD##4 a = *(local const WORD##4 *)(x + q * TRI_TILE_LINE(ROWS) + row + i);                  \
				TRI_TILE_ROW(MULTIPLY, sum[i], a.s0)                                                                \
				TRI_TILE_ROW(MULTIPLY, sum[i + 1], a.s1)                                                            \
				TRI_TILE_ROW(MULTIPLY, sum[i + 2], a.s2)                                                            \
				TRI_TILE_ROW(MULTIPLY, sum[i + 3], a.s3)                                                            \
			}                                                                                                           \
		}                                                                                                                   \
	}                                                                                                                           \
	TRI_FUNCTION void tri_tile_##NAME##_part(T sum[ROWS][4], local T *part, int half_of_rows)                                   \
	{                                                                                                                           \
		const int column = (int)get_local_id(0) % 16 * 4, row = (int)get_local_id(0) / 16 % 4 * ROWS;                       \
		barrier(CLK_LOCAL_MEM_FENCE);                                                                                       \
		if ((int)get_local_id(0) / 64 == half_of_rows)                                                                      \
			_Pragma("unroll") for (int i = 0; i < ROWS; i++) *(local T##4 *)(part + (row + i) * 64 + column) =          \
				TRI_VECTOR4(T, sum[i][0], sum[i][1], sum[i][2], sum[i][3]);                                         \
		barrier(CLK_LOCAL_MEM_FENCE);                                                                                       \
	}
#define TRI_TILE_ROW(MULTIPLY, s, a)     \
	s[0] = MULTIPLY(a, b.s0, s[0]);  \
	s[1] = MULTIPLY(a, b.s1, s[1]);  \
	s[2] = MULTIPLY(a, b.s2, s[2]);  \
	s[3] = MULTIPLY(a, b.s3, s[3]);
TRI_TILE(i8_4, int, uint, 4, tri_dot4, "unroll 4")
TRI_TILE(i8_8, int, uint, 8, tri_dot4, "unroll 4")
TRI_TILE(f32_4, float, float, 4, fma, "unroll 4")
TRI_TILE(f32_8, float, float, 8, fma, "unroll 4")
TRI_TILE(f32_trits_8, float, float, 8, tri_fma_trit, "unroll 1")
