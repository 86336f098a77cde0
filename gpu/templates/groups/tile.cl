/* What micro-kernels for work groups share. A tile of a product is 64 columns by eight times as many rows as an item computes: 128 items, each of which
 * computes 4 columns. In local memory are 16 rows of words of both operands: of 4 int8 values, or a float32 value each. */

/* Of a launch of several products of one row (TRI_BESIDE in backend/text/text.h): goes on to product i if the work group is behind those of the product before. */
#define TRI_NEXT(i)                                                \
	if (which == i - 1 && group >= ((int)N + 31) / 32) \
		group -= ((int)N + 31) / 32, which = i, pw = pw##i, ow = ow##i, N = N##i;

/* Returns c + the sum of the products of four signed bytes. TRI_EMULATED: instructions by their definition, for tests on devices without them. */
#if defined(TRI_DOT_NVIDIA) && !defined(TRI_EMULATED)
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

#ifdef TRI_SELF_CHECKS
/* The self-check of tri_dot4, for 64 items. gpu/runtime/fast_forms.c knows the results. */
kernel void tri_check_dot(global int *y)
{
	const uint i = (uint)get_global_id(0);
	y[i] = tri_dot4((i + 1) * 0x9e3779b9u, (i + 7) * 0x85ebca6bu, (int)i * 1000003);
}
#endif

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

TRI_FUNCTION int tri_trit_of(uint word, int i) { return (int)(word >> (8 * (i & 3) + 2 * (i >> 2)) & 3) - 1; }

/* Sub-groups of 16 items of Intel read neighbouring words in one message, with one address instead of one for each item. Item i of them gets p[i], as a float; of
 * tri_block_words p[i], p[16 + i], p[32 + i] and p[48 + i]. All items of a sub-group pass the same p. TRI_UNIFORM(x) tells the compiler that they have the same x. */
#if defined(TRI_READ_INTEL) && !defined(TRI_EMULATED)
#define TRI_UNIFORM(x) ((int)sub_group_broadcast((uint)(x), 0))
#define tri_block_words(p) intel_sub_group_block_read4(p)
#define tri_block_short(p) intel_sub_group_block_read_us((global const ushort *)(p))
#define tri_block_f32(p) as_float(intel_sub_group_block_read((global const uint *)(p)))
#else
#define TRI_UNIFORM(x) (x)
TRI_FUNCTION uint4 tri_block_words(global const uint *p)
{
	p += get_local_id(0) % 16;
	return TRI_VECTOR4(uint, p[0], p[16], p[32], p[48]);
}
#define tri_block_short(p) ((global const ushort *)(p))[get_local_id(0) % 16]
#define tri_block_f32(p) (p)[get_local_id(0) % 16]
#endif
#ifdef TRI_READ_INTEL
#define TRI_READS 1
#else
#define TRI_READS 0
#endif
TRI_FUNCTION float tri_block_bf16(global const ushort *p) { return tri_bf16_value(tri_block_short(p)); }
TRI_FUNCTION float tri_block_f16(global const half *p)
{
	const ushort bits = tri_block_short(p);
	return vload_half(0, (private const half *)&bits);
}

#if defined(TRI_SELF_CHECKS) && TRI_READS
/* The self-check of blocks, for 64 items, which first write what they read. */
kernel TRI_SUB_GROUPS(64) void tri_check_blocks(global uint *y)
{
	const uint i = (uint)get_local_id(0);
	global const uint *own = y + TRI_UNIFORM(i / 16 * 16);
	y[i] = (i + 1) * 0x9e3779b9u;
	y[64 + i] = (i + 65) * 0x9e3779b9u;
	barrier(CLK_GLOBAL_MEM_FENCE);
	const uint4 words = tri_block_words(own);
	const uint sum = ((words.s0 * 3 + words.s1) * 3 + words.s2) * 3 + words.s3 + as_uint(tri_block_f32((global const float *)own)) * 5 + tri_block_short(own) * 7;
	barrier(CLK_GLOBAL_MEM_FENCE);
	y[i] = sum;
}
#endif

/* Products of trits with trits are counted where that is faster: by estimates, on devices of AMD only in tiles. */
#if defined(TRI_DOT_NVIDIA) || defined(TRI_DOT_KHR)
#define TRI_COUNTS_TILES 0
#else
#define TRI_COUNTS_TILES 1
#endif
#if defined(TRI_DOT_AMD) || defined(TRI_DOT_AMD_11)
#define TRI_COUNTS_ROWS 0
#else
#define TRI_COUNTS_ROWS TRI_COUNTS_TILES
#endif
/* Sixteen trits in a word, as fields of two bits in the order of TRIT2, from bytes, of which bit 0 tells that a trit is not zero, and bit 1 that it is negative. In
 * TRIT2 bit 0 of a field tells that the trit is zero, and bit 1 that it is positive. The planes of two words have bit 0, or bit 1, of their fields in turn. */
TRI_FUNCTION uint tri_fields(uint4 x)
{
	return (x.s0 & 0x03030303u) | (x.s1 & 0x03030303u) << 2 | (x.s2 & 0x03030303u) << 4 | (x.s3 & 0x03030303u) << 6;
}
TRI_FUNCTION uint tri_fields_at(global const uint *x, long at, int rest)
{
	uint v = 0;
#pragma unroll 1
	for (int f = 0; f < 4; f++)
		v |= (tri_word(x, at + 4 * f, rest - 4 * f) & 0x03030303u) << 2 * f;
	return v;
}
#define TRI_PLANE_0(a, b) (((a) & 0x55555555u) | ((b) & 0x55555555u) << 1)
#define TRI_PLANE_1(a, b) (((a) >> 1 & 0x55555555u) | ((b) & 0xaaaaaaaau))
TRI_FUNCTION void tri_put_planes(local uint *to, int apart, uint a, uint b)
{
	to[0] = TRI_PLANE_0(a, b);
	to[apart] = TRI_PLANE_1(a, b);
}
/* Returns the sum of products of trits, twice 32: `both` and `more` are not zero, of which those that differ in signs are negative. */
TRI_FUNCTION int tri_count(uint both, uint differ, uint more, uint apart)
{
	return (int)(popcount(both) + popcount(more)) - 2 * (int)(popcount(both & differ) + popcount(more & apart));
}

/* Returns sums with the products of four words of TRIT2 added: those of v.s0 and v.s1 with the 16 bytes a, the others with b. */
TRI_INLINE int4 tri_dot_trits(int4 sum, uint4 v, uint4 a, uint4 b)
{
	const uint less = 0xffffffffu; /* trits are stored as trit + 1: subtracts the values */
	const uint4 v1 = v >> 2, v2 = v >> 4, v3 = v >> 6;
	const int of_a = tri_dot4(a.s0, less, tri_dot4(a.s1, less, tri_dot4(a.s2, less, tri_dot4(a.s3, less, 0))));
	const int of_b = tri_dot4(b.s0, less, tri_dot4(b.s1, less, tri_dot4(b.s2, less, tri_dot4(b.s3, less, 0))));
	sum += TRI_VECTOR4(int, of_a, of_a, of_b, of_b);
#define TRI_COLUMN(c, x)                                                                                        \
	sum.c = tri_dot4(x.s0, v.c & 0x03030303u, sum.c), sum.c = tri_dot4(x.s1, v1.c & 0x03030303u, sum.c),    \
	sum.c = tri_dot4(x.s2, v2.c & 0x03030303u, sum.c), sum.c = tri_dot4(x.s3, v3.c & 0x03030303u, sum.c)
	TRI_COLUMN(s0, a);
	TRI_COLUMN(s1, a);
	TRI_COLUMN(s2, b);
	TRI_COLUMN(s3, b);
#undef TRI_COLUMN
	return sum;
}

/* Return c + a·b, and c where b is 0: a zero trit skips its number, even an infinity or a NaN. */
TRI_FUNCTION float tri_fma_trit(float a, float b, float c) { return b == 0 ? c : fma(a, b, c); }
TRI_FUNCTION float4 tri_fma_trits(float a, float4 b, float4 c) { return select(fma(b, (float4)(a), c), c, b == 0); }
/* Four terms at a time: values `apart` from each other; trits 0, 1, 2, 3; the sum of c and their products in order. */
TRI_FUNCTION float4 tri_four(global const float *x, int apart) { return TRI_VECTOR4(float, x[0], x[apart], x[2 * apart], x[3 * apart]); }
TRI_FUNCTION float4 tri_trit4(uint word) { return TRI_VECTOR4(float, tri_trit(word, 0), tri_trit(word, 1), tri_trit(word, 2), tri_trit(word, 3)); }
TRI_FUNCTION float tri_fma4(float4 a, float4 b, float c) { return fma(a.s3, b.s3, fma(a.s2, b.s2, fma(a.s1, b.s1, fma(a.s0, b.s0, c)))); }
TRI_FUNCTION float tri_fma4_trits(float4 a, float4 b, float c)
{
	return tri_fma_trit(a.s3, b.s3, tri_fma_trit(a.s2, b.s2, tri_fma_trit(a.s1, b.s1, tri_fma_trit(a.s0, b.s0, c))));
}
TRI_FUNCTION int tri_is_special(float x) { return (as_uint(x) & 0x7f800000u) == 0x7f800000u; }

#ifdef TRI_MMA_NVIDIA /* 75, 80: the least compute capability that has them */
/* Products by matrix instructions: of a tile of R pairs of rows, r and r + R, and 64 columns, each of four warps of 32 items computes half of the pairs and 32
 * columns, a panel of TRIT2. For 64 k, lane l reads 16 bytes of each row of pairs l/4, l/4+8, … of its warp, those of step l%4 of TRIT2, and the words of
 * columns 4·(l/4) … 4·(l/4)+3 for this step. The instruction adds up what four lanes read, so both operands may have k in this order. Of each row
 * an item then has eight neighbouring columns from 8·(l%4) on: sum[i][j][0] and [1] are columns j and j+4 of them in row l/4+8i of the warp,
 * [2] and [3] those in row l/4+8i+R. In local memory are the first two words of each step, of both rows of a pair in turn, then the other two of all steps. */
#ifdef TRI_EMULATED
#define TRI_MMA_SPARE (128 * 2) /* words of local memory: what the lanes of all warps hold */
#else
#define TRI_MMA_SPARE 0
#endif

/* Adds the product of 16 rows of 32 bytes, of which a lane holds words a, and 8 columns of 32 bytes, of which it holds words b. */
#if TRI_MMA_NVIDIA >= 80 && !defined(TRI_EMULATED)
TRI_FUNCTION void tri_mma(int sum[4], uint a0, uint a1, uint a2, uint a3, uint b0, uint b1, local uint *spare)
{
	__asm__ volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
			 : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
			 : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}
#else
/* 8 rows of 16 bytes and 8 columns. */
TRI_FUNCTION void tri_mma_half(int *even, int *odd, uint a, uint b, local uint *spare)
{
#ifdef TRI_EMULATED
	const int lane = (int)get_local_id(0) % 32;
	local uint *warp = spare + ((int)get_local_id(0) - lane) * 2;
	barrier(CLK_LOCAL_MEM_FENCE);
	warp[lane] = a, warp[32 + lane] = b;
	barrier(CLK_LOCAL_MEM_FENCE);
	for (int q = 0; q < 4; q++) {
		const uint row = warp[lane / 4 * 4 + q];
		*even = tri_dot4(row, warp[32 + lane % 4 * 8 + q], *even);
		*odd = tri_dot4(row, warp[32 + lane % 4 * 8 + 4 + q], *odd);
	}
#else
	__asm__ volatile("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};" : "+r"(*even), "+r"(*odd) : "r"(a), "r"(b));
#endif
}
TRI_FUNCTION void tri_mma(int sum[4], uint a0, uint a1, uint a2, uint a3, uint b0, uint b1, local uint *spare)
{
	tri_mma_half(&sum[0], &sum[1], a0, b0, spare);
	tri_mma_half(&sum[2], &sum[3], a1, b0, spare);
	tri_mma_half(&sum[0], &sum[1], a2, b1, spare);
	tri_mma_half(&sum[2], &sum[3], a3, b1, spare);
}
#endif

#ifdef TRI_SELF_CHECKS
/* The self-check of tri_mma, for 32 items. */
kernel TRI_GROUP(32) void tri_check_mma(global int *y)
{
	TRI_SHARED uint spare[TRI_MMA_SPARE + 1];
	const uint i = (uint)get_local_id(0);
	int sum[4] = {(int)i * 1000003, (int)i * 1000033, (int)i * 1000037, (int)i * 1000039};
	tri_mma(sum, (6 * i + 1) * 0x9e3779b9u, (6 * i + 2) * 0x9e3779b9u, (6 * i + 3) * 0x9e3779b9u, (6 * i + 4) * 0x9e3779b9u,
		(6 * i + 5) * 0x9e3779b9u, (6 * i + 6) * 0x9e3779b9u, spare);
	vstore4(TRI_VECTOR4(int, sum[0], sum[1], sum[2], sum[3]), i, y);
}
#endif

/* Put 16 bytes of both rows of a pair into local memory; add the products of all of them; put the sums of one row of each pair there. */
TRI_FUNCTION void tri_mma_put(local uint *x, int pairs, uint4 a, uint4 b)
{
	local uint4 *own = (local uint4 *)x + get_local_id(0);
	own[0] = TRI_VECTOR4(uint, a.s0, b.s0, a.s1, b.s1);
	own[4 * pairs] = TRI_VECTOR4(uint, a.s2, b.s2, a.s3, b.s3);
}
#define TRI_MMA_PAIRS(R)                                                                                                            \
	TRI_FUNCTION void tri_mma_##R(int sum[R / 16][4][4], local const uint *x, uint4 w, local uint *spare)                                    \
	{                                                                                                                           \
		local const uint4 *own = (local const uint4 *)x + get_local_id(0) / 64 * 2 * R + get_local_id(0) % 32;              \
		_Pragma("unroll") for (int h = 0; h < 2; h++)                                                                       \
		{                                                                                                                   \
			const uint b[4] = {tri_trits(w.s0, 2 * h), tri_trits(w.s1, 2 * h), tri_trits(w.s2, 2 * h),                  \
					   tri_trits(w.s3, 2 * h)};                                                                 \
			const uint c[4] = {tri_trits(w.s0, 2 * h + 1), tri_trits(w.s1, 2 * h + 1), tri_trits(w.s2, 2 * h + 1),      \
					   tri_trits(w.s3, 2 * h + 1)};                                                             \
			_Pragma("unroll") for (int i = 0; i < R / 16; i++)                                                          \
			{                                                                                                           \
				const uint4 a = own[4 * R * h + 32 * i];                                                            \
				_Pragma("unroll") for (int j = 0; j < 4; j++)                                                       \
					tri_mma(sum[i][j], a.s0, a.s1, a.s2, a.s3, b[j], c[j], spare);                              \
			}                                                                                                           \
		}                                                                                                                   \
	}                                                                                                                           \
	TRI_FUNCTION void tri_mma_##R##_part(int sum[R / 16][4][4], local int *part, int h)                                                      \
	{                                                                                                                           \
		const int lane = (int)get_local_id(0) % 32, warp = (int)get_local_id(0) / 32;                                       \
		local int4 *own = (local int4 *)(part + (warp / 2 * (R / 2) + lane / 4) * 64 + warp % 2 * 32 + lane % 4 * 8);       \
		barrier(CLK_LOCAL_MEM_FENCE);                                                                                       \
		_Pragma("unroll") for (int i = 0; i < R / 16; i++)                                                                  \
			_Pragma("unroll") for (int q = 0; q < 2; q++) own[128 * i + q] =                                            \
			TRI_VECTOR4(int, sum[i][0][2 * h + q], sum[i][1][2 * h + q], sum[i][2][2 * h + q], sum[i][3][2 * h + q]);             \
		barrier(CLK_LOCAL_MEM_FENCE);                                                                                       \
	}
TRI_MMA_PAIRS(32)
#endif

/* tri_tile_NAME adds the products of both operands to `sum`: those of 16 words in each of SLICES of ACROSS · DOWN items, of 4 · ACROSS columns and DOWN · ROWS rows.
 * tri_tile_NAME_part puts the sums of one of PARTS parts of the rows into local memory, those of a slice behind those of the one before. */
#define TRI_TILE_LINE(ROWS) (8 * ROWS + 4)
#define TRI_TILE_WORDS(ROWS) (16 * TRI_TILE_LINE(ROWS) + 16 * 64)
#define TRI_TILE(NAME, T, WORD, ROWS, ACROSS, DOWN, SLICES, PARTS, MULTIPLY, UNROLL)                                                \
	TRI_FUNCTION void tri_tile_##NAME(T sum[ROWS][4], local const WORD *x, local const WORD *w)                                 \
	{                                                                                                                           \
		const int column = (int)get_local_id(0) % ACROSS * 4, row = (int)get_local_id(0) / ACROSS % DOWN * ROWS;            \
		const int slice = SLICES > 1 ? (int)get_local_id(0) / (ACROSS * DOWN) * 16 : 0;                                     \
		_Pragma(UNROLL) for (int q = 0; q < 16; q++)                                                                        \
		{                                                                                                                   \
			const WORD##4 b = *(local const WORD##4 *)(w + (slice + q) * 4 * ACROSS + column);                          \
			_Pragma("unroll") for (int i = 0; i < ROWS; i += 4)                                                         \
			{                                                                                                           \
				const WORD##4 a = *(local const WORD##4 *)(x + (slice + q) * (DOWN * ROWS + 4) + row + i);          \
				TRI_TILE_ROW(MULTIPLY, sum[i], a.s0)                                                                \
				TRI_TILE_ROW(MULTIPLY, sum[i + 1], a.s1)                                                            \
				TRI_TILE_ROW(MULTIPLY, sum[i + 2], a.s2)                                                            \
				TRI_TILE_ROW(MULTIPLY, sum[i + 3], a.s3)                                                            \
			}                                                                                                           \
		}                                                                                                                   \
	}                                                                                                                           \
	TRI_FUNCTION void tri_tile_##NAME##_part(T sum[ROWS][4], local T *to, int part)                                             \
	{                                                                                                                           \
		const int column = (int)get_local_id(0) % ACROSS * 4, row = (int)get_local_id(0) / ACROSS % (DOWN / PARTS) * ROWS;  \
		const int slice = SLICES > 1 ? (int)get_local_id(0) / (ACROSS * DOWN) * (DOWN * ROWS / PARTS) : 0;                  \
		barrier(CLK_LOCAL_MEM_FENCE);                                                                                       \
		if ((int)get_local_id(0) / ACROSS % DOWN / (DOWN / PARTS) == part)                                                  \
			_Pragma("unroll") for (int i = 0; i < ROWS; i++)                                                            \
				*(local T##4 *)(to + (slice + row + i) * 4 * ACROSS + column) =                                     \
					TRI_VECTOR4(T, sum[i][0], sum[i][1], sum[i][2], sum[i][3]);                                         \
		barrier(CLK_LOCAL_MEM_FENCE);                                                                                       \
	}
#define TRI_TILE_ROW(MULTIPLY, s, a)     \
	s[0] = MULTIPLY(a, b.s0, s[0]);  \
	s[1] = MULTIPLY(a, b.s1, s[1]);  \
	s[2] = MULTIPLY(a, b.s2, s[2]);  \
	s[3] = MULTIPLY(a, b.s3, s[3]);
TRI_TILE(i8_4, int, uint, 4, 16, 8, 1, 2, tri_dot4, "unroll 4")
TRI_TILE(i8_8, int, uint, 8, 16, 8, 1, 2, tri_dot4, "unroll 4")
TRI_TILE(f32_4, float, float, 4, 16, 8, 1, 2, fma, "unroll 4")
TRI_TILE(f32_8, float, float, 8, 16, 8, 1, 2, fma, "unroll 4")
TRI_TILE(f32_trits_8, float, float, 8, 16, 8, 1, 2, tri_fma_trit, "unroll 1")

/* tri_count_NAME is tri_tile_NAME for trits, by counting: of 64 · LINES / SLICES k in each slice. In local memory are for 32 k a row of words that tell which
 * trits are not zero, then one of words that tell which are negative. */
#define TRI_COUNT_TILE(NAME, ROWS, ACROSS, DOWN, SLICES, LINES)										\
	TRI_INLINE void tri_count_##NAME(int sum[ROWS][4], local const uint *x, local const uint *w)					\
	{																\
		const int slice = SLICES > 1 ? (int)get_local_id(0) / (ACROSS * DOWN) * LINES : 0;					\
		x += slice * (DOWN * ROWS + 4) + (int)get_local_id(0) / ACROSS % DOWN * ROWS;						\
		w += slice * 4 * ACROSS + (int)get_local_id(0) % ACROSS * 4;								\
		_Pragma("unroll") for (int q = 0; q < LINES; q += 4)									\
		{															\
			const uint4 w0 = TRI_COUNT_WORDS(w, q * 4 * ACROSS), w1 = TRI_COUNT_WORDS(w, (q + 1) * 4 * ACROSS);		\
			const uint4 w2 = TRI_COUNT_WORDS(w, (q + 2) * 4 * ACROSS), w3 = TRI_COUNT_WORDS(w, (q + 3) * 4 * ACROSS);	\
			_Pragma("unroll") for (int i = 0; i < ROWS; i += 4)								\
			{														\
				local const uint *line = x + q * (DOWN * ROWS + 4) + i;							\
				const uint4 x0 = TRI_COUNT_WORDS(line, 0), x1 = TRI_COUNT_WORDS(line, DOWN * ROWS + 4);			\
				const uint4 x2 = TRI_COUNT_WORDS(line, 2 * (DOWN * ROWS + 4)), x3 = TRI_COUNT_WORDS(line, 3 * (DOWN * ROWS + 4)); \
				TRI_COUNT_ROW(sum[i], s0)										\
				TRI_COUNT_ROW(sum[i + 1], s1)										\
				TRI_COUNT_ROW(sum[i + 2], s2)										\
				TRI_COUNT_ROW(sum[i + 3], s3)										\
			}														\
		}															\
	}
#define TRI_COUNT_WORDS(from, at) *(local const uint4 *)((from) + (at))
#define TRI_COUNT_ROW(sums, r)                                                         \
	sums[0] += tri_count(x0.r & w0.s0, x1.r ^ w1.s0, x2.r & w2.s0, x3.r ^ w3.s0); \
	sums[1] += tri_count(x0.r & w0.s1, x1.r ^ w1.s1, x2.r & w2.s1, x3.r ^ w3.s1); \
	sums[2] += tri_count(x0.r & w0.s2, x1.r ^ w1.s2, x2.r & w2.s2, x3.r ^ w3.s2); \
	sums[3] += tri_count(x0.r & w0.s3, x1.r ^ w1.s3, x2.r & w2.s3, x3.r ^ w3.s3);
TRI_COUNT_TILE(8, 8, 16, 8, 1, 8)
