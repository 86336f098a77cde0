kernel void beside_k0(global uchar *p1, ulong o1, global uchar *p2, ulong o2, global uchar *p4, ulong o4, long n0)
{
	global float *b1 = (global float *)(p1 + o1);
	global float *b2 = (global float *)(p2 + o2);
	global int *b4 = (global int *)(p4 + o4);
	long item = (long)get_global_id(0);
	if (item < (n0 * 24)) {
	long g = (long)item;
	const long i0 = g;
	const float v0 = b1[i0];
	const float v1 = exp(v0);
	b2[i0] = v1;
	return;
	}
	item -= (n0 * 24);
	if (item < n0 * 7) {
	long g = (long)item;
	const long i1 = g % 7;
	g /= 7;
	const long i0 = g;
	const long v0 = i0;
	const int v1 = (int)v0;
	const int v2 = tri_neg_int(v1);
	b4[i0 * 7 + i1] = v2;
	}
}

void beside_e2(long i0, long i1, long i2, int t, global uchar *p3, ulong o3, long n0)
{
	global float *b3 = (global float *)(p3 + o3);
	const int v0 = t;
	const float v1 = (float)v0;
	const float v2 = sqrt(v1);
	b3[i0 * (n0 * 32) + i1 * 32 + i2] = v2;
}

#undef TRI_FIELDS
#define TRI_FIELDS long M, long K, long N
#define TRI_NAME beside_k2_1
#define TRI_BUFFERS , global uchar *p3, ulong o3
#define TRI_DIMS , long n0
#define TRI_STORE(batch, row, column, value) beside_e2(batch, row, column, value, p3, o3, n0)
/* tri_matmul_i8_trit2 for few rows: a group of 256 items computes 2 x 32 elements, a panel wide. An item reads 16 bytes of w, the words of four columns;
 * eight neighbours read a step of 16 k. The sums of the items are added in local memory. In blocks (tile.cl) sixteen neighbours read two steps, each the words of two columns. With matrix instructions a group computes 16 rows, and the next three
 * groups return at once. Its eight warps divide the steps, and multiply four steps at a time as TRI_MMA_PAIRS does, but with operands from global memory.
 * Where it is split, groups divide the k, too, and leave their sums one behind the other. */
#ifndef TRI_NAME /* without an epilogue */
#define TRI_NAME tri_matmul_i8_trit2_rows2
#define TRI_BUFFERS , global uchar *py, ulong oy
#define TRI_DIMS
#define TRI_STORE(batch, row, column, value) ((global int *)(py + oy))[(row) * N + (column)] = (value)
#endif
#ifndef TRI_ROW /* the rows are in memory */
#define TRI_ROW
#define TRI_X (px + ox)
#define TRI_X_SPACE global
#else
#define TRI_WHOLE_STEPS
#endif
kernel TRI_SUB_GROUPS(256) void TRI_NAME(global uchar *px, ulong ox, global uchar *pw, ulong ow TRI_BUFFERS, TRI_FIELDS
#if 0
	, long terms
#endif
	TRI_DIMS)
{
	TRI_SHARED int parts[2][1024] __attribute__((aligned(16)));
	int group = (int)get_group_id(0);
#ifdef TRI_BESIDE
	int which = 0;
	TRI_BESIDE
#endif
	TRI_ROW
	const int m = (int)M, n = (int)N, k = (int)K, steps = (k + 15) / 16, lid = (int)get_local_id(0), panels = (n + 31) / 32;
	const int panel = group % panels;
#if 0
	const int down = (m + 2 - 1) / 2, own = group / panels / down, row = group / panels % down * 2;
	const int begin = own * ((int)terms / 16), end = min(steps, begin + (int)terms / 16), result = own * m;
#else
	const int row = group / panels * 2, begin = 0, end = steps, result = 0;
#endif
	const int shift = n - panel * 32 > 16 ? 3 : 2; /* a step is 2^shift quads of columns */
	global const uint4 *w = (global const uint4 *)(pw + ow) + (long)panel * 8 * steps;
	TRI_X_SPACE const uint *x = (TRI_X_SPACE const uint *)TRI_X;
#if defined(TRI_MMA_NVIDIA) && 2 == 4
	TRI_SHARED uint spare[2 * TRI_MMA_SPARE + 1];
	if (row % 16 != 0)
		return;
	const int lane = lid % 32, part = lid / 32, own_quad = min(lane / 4, (1 << shift) - 1);
	const long at[2] = {(long)min(row + lane / 4, m - 1) * k, (long)min(row + lane / 4 + 8, m - 1) * k};
	int sum[4][4];
#pragma unroll
	for (int i = 0; i < 16; i++)
		sum[i / 4][i % 4] = 0;
	for (int next = begin; next < end; next += 32) {
		const int s = next + 4 * part + lane % 4, last = min(s, end - 1);
		const uint4 v = w[(last << shift) + own_quad];
		uint a[2][4];
		if (k % 16 == 0) {
#pragma unroll
			for (int i = 0; i < 2; i++) {
				const uint4 words = ((TRI_X_SPACE const uint4 *)x)[(at[i] >> 4) + last];
				a[i][0] = words.s0, a[i][1] = words.s1, a[i][2] = words.s2, a[i][3] = words.s3;
			}
		} else {
#pragma unroll 1
			for (int i = 0; i < 8; i++) {
				const uint word = tri_word(x, (i < 4 ? at[0] : at[1]) + 16 * last + i % 4 * 4, k - 16 * last - i % 4 * 4);
#pragma unroll
				for (int j = 0; j < 8; j++)
					a[j / 4][j % 4] = i == j ? word : a[j / 4][j % 4];
			}
		}
#pragma unroll
		for (int i = 0; i < 8; i++)
			a[i / 4][i % 4] = s < end ? a[i / 4][i % 4] : 0;
#pragma unroll
		for (int h = 0; h < 4; h += 2) {
			tri_mma(sum[0], a[0][h], a[1][h], a[0][h + 1], a[1][h + 1], tri_trits(v.s0, h), tri_trits(v.s0, h + 1), spare);
			tri_mma(sum[1], a[0][h], a[1][h], a[0][h + 1], a[1][h + 1], tri_trits(v.s1, h), tri_trits(v.s1, h + 1), spare);
			tri_mma(sum[2], a[0][h], a[1][h], a[0][h + 1], a[1][h + 1], tri_trits(v.s2, h), tri_trits(v.s2, h + 1), spare);
			tri_mma(sum[3], a[0][h], a[1][h], a[0][h + 1], a[1][h + 1], tri_trits(v.s3, h), tri_trits(v.s3, h + 1), spare);
		}
	}
#pragma unroll
	for (int i = 0; i < 4; i++)
		((local int4 *)parts)[part * 128 + lane / 4 * 8 + i / 2 * 64 + lane % 4 * 2 + i % 2] = TRI_VECTOR4(int, sum[0][i], sum[1][i], sum[2][i], sum[3][i]);
	barrier(CLK_LOCAL_MEM_FENCE);
	for (int r = part; r < 16 && row + r < m; r += 8) {
		local const int *of = (local const int *)parts + r * 32 + lane;
		const int total = ((of[0] + of[512]) + (of[1024] + of[1536])) + ((of[2048] + of[2560]) + (of[3072] + of[3584]));
		if (panel * 32 + lane < n)
			TRI_STORE(0, (long)(result + row + r), (long)(panel * 32 + lane), total);
	}
#else
	const int quad = lid & ((1 << shift) - 1), width = 4 << shift, blocks = TRI_READS && !(0 && TRI_COUNTS_ROWS) && shift == 3 && k % 32 == 0;
	int4 sum[2];
#pragma unroll
	for (int r = 0; r < 2; r++)
		sum[r] = 0;
	if (blocks) {
		for (int s = begin + 2 * TRI_UNIFORM(lid / 16); s < end; s += 32) {
			const uint4 v = tri_block_words((global const uint *)(w + (s << 3)));
#pragma unroll
			for (int r = 0; r < 2; r++) {
				TRI_X_SPACE const uint4 *own = (TRI_X_SPACE const uint4 *)x + (long)min(row + r, m - 1) * steps + s;
				sum[r] = tri_dot_trits(sum[r], v, own[0], own[1]);
			}
		}
	} else if (k % 16 == 0) {
#if 0 && TRI_COUNTS_ROWS
		for (int s = begin + (lid >> shift); s < end; s += 512 >> shift) { /* this step, and the one that is half a turn behind it */
			const int after = s + (256 >> shift), last = min(after, end - 1);
			const uint4 v = w[(s << shift) + quad], u = w[(last << shift) + quad], some = ~TRI_PLANE_0(v, u), sign = ~TRI_PLANE_1(v, u);
#pragma unroll
			for (int r = 0; r < 2; r++) {
				TRI_X_SPACE const uint4 *own = (TRI_X_SPACE const uint4 *)x + (long)min(row + r, m - 1) * steps;
				const uint a = tri_fields(own[s]), b = after < end ? tri_fields(own[last]) : 0;
				const uint nonzero = TRI_PLANE_0(a, b), negative = TRI_PLANE_1(a, b);
				sum[r] += TRI_VECTOR4(int, tri_count(nonzero & some.s0, negative ^ sign.s0, 0, 0), tri_count(nonzero & some.s1, negative ^ sign.s1, 0, 0),
						      tri_count(nonzero & some.s2, negative ^ sign.s2, 0, 0), tri_count(nonzero & some.s3, negative ^ sign.s3, 0, 0));
			}
		}
#else
		for (int s = begin + (lid >> shift); s < end; s += 256 >> shift) {
			const uint4 v = w[(s << shift) + quad];
#pragma unroll
			for (int r = 0; r < 2; r++) {
				const uint4 a = ((TRI_X_SPACE const uint4 *)x)[(long)min(row + r, m - 1) * steps + s];
				sum[r] = tri_dot_trits(sum[r], v, a, a);
			}
		}
#endif
	}
#ifndef TRI_WHOLE_STEPS
	else {
		for (int s = begin + (lid >> shift); s < end; s += 256 >> shift) {
			const uint4 v = w[(s << shift) + quad];
#pragma unroll 1
			for (int i = 0; i < 4 * 2; i++) { /* field i / ROWS of row i % ROWS */
				const int r = i % 2, at = s * 16 + i / 2 * 4;
				const uint a = tri_word(x, (long)min(row + r, m - 1) * k + at, k - at);
				const uint4 t = v >> i / 2 * 2 & 0x03030303u;
				const int less = tri_dot4(a, 0xffffffffu, 0);
				const int4 add = TRI_VECTOR4(int, tri_dot4(a, t.s0, less), tri_dot4(a, t.s1, less), tri_dot4(a, t.s2, less), tri_dot4(a, t.s3, less));
#pragma unroll
				for (int j = 0; j < 2; j++)
					sum[j] += r == j ? add : (int4)0;
			}
		}
	}
#endif
#pragma unroll
	for (int r = 0; r < 2; r++) {
		local int *own = parts[r] + (lid & ~15) * 4 + lid % 16;
		if (blocks)
			own[0] = sum[r].s0, own[16] = sum[r].s1, own[32] = sum[r].s2, own[48] = sum[r].s3;
		else
			((local int4 *)parts[r])[lid] = sum[r];
	}
	barrier(CLK_LOCAL_MEM_FENCE);
	const int column = lid & (width - 1), from = (lid & ~(width - 1)) * 4 + column;
	int part[2];
#pragma unroll
	for (int r = 0; r < 2; r++)
		part[r] = (parts[r][from] + parts[r][from + width]) + (parts[r][from + 2 * width] + parts[r][from + 3 * width]);
	barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
	for (int r = 0; r < 2; r++)
		parts[r][lid] = part[r];
	barrier(CLK_LOCAL_MEM_FENCE);
	for (int r = lid / width; r < 2 && row + r < m; r += 256 / width) {
		int total = 0;
		for (int i = column; i < 256; i += width)
			total += parts[r][i];
		if (panel * 32 + column < n)
			TRI_STORE(0, (long)(result + row + r), (long)(panel * 32 + column), total);
	}
#endif
}
#undef TRI_NAME
#undef TRI_BUFFERS
#undef TRI_DIMS
#undef TRI_STORE
#undef TRI_BESIDE
#undef TRI_ROW
#undef TRI_X
#undef TRI_X_SPACE
#undef TRI_WHOLE_STEPS

#define TRI_NAME beside_k2_2
#define TRI_BUFFERS , global uchar *p3, ulong o3
#define TRI_DIMS , long n0
#define TRI_STORE(batch, row, column, value) beside_e2(batch, row, column, value, p3, o3, n0)
/* tri_matmul_i8_trit2 for few rows: a group of 256 items computes 4 x 32 elements, a panel wide. An item reads 16 bytes of w, the words of four columns;
 * eight neighbours read a step of 16 k. The sums of the items are added in local memory. In blocks (tile.cl) sixteen neighbours read two steps, each the words of two columns. With matrix instructions a group computes 16 rows, and the next three
 * groups return at once. Its eight warps divide the steps, and multiply four steps at a time as TRI_MMA_PAIRS does, but with operands from global memory.
 * Where it is split, groups divide the k, too, and leave their sums one behind the other. */
#ifndef TRI_NAME /* without an epilogue */
#define TRI_NAME tri_matmul_i8_trit2_rows4
#define TRI_BUFFERS , global uchar *py, ulong oy
#define TRI_DIMS
#define TRI_STORE(batch, row, column, value) ((global int *)(py + oy))[(row) * N + (column)] = (value)
#endif
#ifndef TRI_ROW /* the rows are in memory */
#define TRI_ROW
#define TRI_X (px + ox)
#define TRI_X_SPACE global
#else
#define TRI_WHOLE_STEPS
#endif
kernel TRI_SUB_GROUPS(256) void TRI_NAME(global uchar *px, ulong ox, global uchar *pw, ulong ow TRI_BUFFERS, TRI_FIELDS
#if 0
	, long terms
#endif
	TRI_DIMS)
{
	TRI_SHARED int parts[4][1024] __attribute__((aligned(16)));
	int group = (int)get_group_id(0);
#ifdef TRI_BESIDE
	int which = 0;
	TRI_BESIDE
#endif
	TRI_ROW
	const int m = (int)M, n = (int)N, k = (int)K, steps = (k + 15) / 16, lid = (int)get_local_id(0), panels = (n + 31) / 32;
	const int panel = group % panels;
#if 0
	const int down = (m + 4 - 1) / 4, own = group / panels / down, row = group / panels % down * 4;
	const int begin = own * ((int)terms / 16), end = min(steps, begin + (int)terms / 16), result = own * m;
#else
	const int row = group / panels * 4, begin = 0, end = steps, result = 0;
#endif
	const int shift = n - panel * 32 > 16 ? 3 : 2; /* a step is 2^shift quads of columns */
	global const uint4 *w = (global const uint4 *)(pw + ow) + (long)panel * 8 * steps;
	TRI_X_SPACE const uint *x = (TRI_X_SPACE const uint *)TRI_X;
#if defined(TRI_MMA_NVIDIA) && 4 == 4
	TRI_SHARED uint spare[2 * TRI_MMA_SPARE + 1];
	if (row % 16 != 0)
		return;
	const int lane = lid % 32, part = lid / 32, own_quad = min(lane / 4, (1 << shift) - 1);
	const long at[2] = {(long)min(row + lane / 4, m - 1) * k, (long)min(row + lane / 4 + 8, m - 1) * k};
	int sum[4][4];
#pragma unroll
	for (int i = 0; i < 16; i++)
		sum[i / 4][i % 4] = 0;
	for (int next = begin; next < end; next += 32) {
		const int s = next + 4 * part + lane % 4, last = min(s, end - 1);
		const uint4 v = w[(last << shift) + own_quad];
		uint a[2][4];
		if (k % 16 == 0) {
#pragma unroll
			for (int i = 0; i < 2; i++) {
				const uint4 words = ((TRI_X_SPACE const uint4 *)x)[(at[i] >> 4) + last];
				a[i][0] = words.s0, a[i][1] = words.s1, a[i][2] = words.s2, a[i][3] = words.s3;
			}
		} else {
#pragma unroll 1
			for (int i = 0; i < 8; i++) {
				const uint word = tri_word(x, (i < 4 ? at[0] : at[1]) + 16 * last + i % 4 * 4, k - 16 * last - i % 4 * 4);
#pragma unroll
				for (int j = 0; j < 8; j++)
					a[j / 4][j % 4] = i == j ? word : a[j / 4][j % 4];
			}
		}
#pragma unroll
		for (int i = 0; i < 8; i++)
			a[i / 4][i % 4] = s < end ? a[i / 4][i % 4] : 0;
#pragma unroll
		for (int h = 0; h < 4; h += 2) {
			tri_mma(sum[0], a[0][h], a[1][h], a[0][h + 1], a[1][h + 1], tri_trits(v.s0, h), tri_trits(v.s0, h + 1), spare);
			tri_mma(sum[1], a[0][h], a[1][h], a[0][h + 1], a[1][h + 1], tri_trits(v.s1, h), tri_trits(v.s1, h + 1), spare);
			tri_mma(sum[2], a[0][h], a[1][h], a[0][h + 1], a[1][h + 1], tri_trits(v.s2, h), tri_trits(v.s2, h + 1), spare);
			tri_mma(sum[3], a[0][h], a[1][h], a[0][h + 1], a[1][h + 1], tri_trits(v.s3, h), tri_trits(v.s3, h + 1), spare);
		}
	}
#pragma unroll
	for (int i = 0; i < 4; i++)
		((local int4 *)parts)[part * 128 + lane / 4 * 8 + i / 2 * 64 + lane % 4 * 2 + i % 2] = TRI_VECTOR4(int, sum[0][i], sum[1][i], sum[2][i], sum[3][i]);
	barrier(CLK_LOCAL_MEM_FENCE);
	for (int r = part; r < 16 && row + r < m; r += 8) {
		local const int *of = (local const int *)parts + r * 32 + lane;
		const int total = ((of[0] + of[512]) + (of[1024] + of[1536])) + ((of[2048] + of[2560]) + (of[3072] + of[3584]));
		if (panel * 32 + lane < n)
			TRI_STORE(0, (long)(result + row + r), (long)(panel * 32 + lane), total);
	}
#else
	const int quad = lid & ((1 << shift) - 1), width = 4 << shift, blocks = TRI_READS && !(0 && TRI_COUNTS_ROWS) && shift == 3 && k % 32 == 0;
	int4 sum[4];
#pragma unroll
	for (int r = 0; r < 4; r++)
		sum[r] = 0;
	if (blocks) {
		for (int s = begin + 2 * TRI_UNIFORM(lid / 16); s < end; s += 32) {
			const uint4 v = tri_block_words((global const uint *)(w + (s << 3)));
#pragma unroll
			for (int r = 0; r < 4; r++) {
				TRI_X_SPACE const uint4 *own = (TRI_X_SPACE const uint4 *)x + (long)min(row + r, m - 1) * steps + s;
				sum[r] = tri_dot_trits(sum[r], v, own[0], own[1]);
			}
		}
	} else if (k % 16 == 0) {
#if 0 && TRI_COUNTS_ROWS
		for (int s = begin + (lid >> shift); s < end; s += 512 >> shift) { /* this step, and the one that is half a turn behind it */
			const int after = s + (256 >> shift), last = min(after, end - 1);
			const uint4 v = w[(s << shift) + quad], u = w[(last << shift) + quad], some = ~TRI_PLANE_0(v, u), sign = ~TRI_PLANE_1(v, u);
#pragma unroll
			for (int r = 0; r < 4; r++) {
				TRI_X_SPACE const uint4 *own = (TRI_X_SPACE const uint4 *)x + (long)min(row + r, m - 1) * steps;
				const uint a = tri_fields(own[s]), b = after < end ? tri_fields(own[last]) : 0;
				const uint nonzero = TRI_PLANE_0(a, b), negative = TRI_PLANE_1(a, b);
				sum[r] += TRI_VECTOR4(int, tri_count(nonzero & some.s0, negative ^ sign.s0, 0, 0), tri_count(nonzero & some.s1, negative ^ sign.s1, 0, 0),
						      tri_count(nonzero & some.s2, negative ^ sign.s2, 0, 0), tri_count(nonzero & some.s3, negative ^ sign.s3, 0, 0));
			}
		}
#else
		for (int s = begin + (lid >> shift); s < end; s += 256 >> shift) {
			const uint4 v = w[(s << shift) + quad];
#pragma unroll
			for (int r = 0; r < 4; r++) {
				const uint4 a = ((TRI_X_SPACE const uint4 *)x)[(long)min(row + r, m - 1) * steps + s];
				sum[r] = tri_dot_trits(sum[r], v, a, a);
			}
		}
#endif
	}
#ifndef TRI_WHOLE_STEPS
	else {
		for (int s = begin + (lid >> shift); s < end; s += 256 >> shift) {
			const uint4 v = w[(s << shift) + quad];
#pragma unroll 1
			for (int i = 0; i < 4 * 4; i++) { /* field i / ROWS of row i % ROWS */
				const int r = i % 4, at = s * 16 + i / 4 * 4;
				const uint a = tri_word(x, (long)min(row + r, m - 1) * k + at, k - at);
				const uint4 t = v >> i / 4 * 2 & 0x03030303u;
				const int less = tri_dot4(a, 0xffffffffu, 0);
				const int4 add = TRI_VECTOR4(int, tri_dot4(a, t.s0, less), tri_dot4(a, t.s1, less), tri_dot4(a, t.s2, less), tri_dot4(a, t.s3, less));
#pragma unroll
				for (int j = 0; j < 4; j++)
					sum[j] += r == j ? add : (int4)0;
			}
		}
	}
#endif
#pragma unroll
	for (int r = 0; r < 4; r++) {
		local int *own = parts[r] + (lid & ~15) * 4 + lid % 16;
		if (blocks)
			own[0] = sum[r].s0, own[16] = sum[r].s1, own[32] = sum[r].s2, own[48] = sum[r].s3;
		else
			((local int4 *)parts[r])[lid] = sum[r];
	}
	barrier(CLK_LOCAL_MEM_FENCE);
	const int column = lid & (width - 1), from = (lid & ~(width - 1)) * 4 + column;
	int part[4];
#pragma unroll
	for (int r = 0; r < 4; r++)
		part[r] = (parts[r][from] + parts[r][from + width]) + (parts[r][from + 2 * width] + parts[r][from + 3 * width]);
	barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
	for (int r = 0; r < 4; r++)
		parts[r][lid] = part[r];
	barrier(CLK_LOCAL_MEM_FENCE);
	for (int r = lid / width; r < 4 && row + r < m; r += 256 / width) {
		int total = 0;
		for (int i = column; i < 256; i += width)
			total += parts[r][i];
		if (panel * 32 + column < n)
			TRI_STORE(0, (long)(result + row + r), (long)(panel * 32 + column), total);
	}
#endif
}
#undef TRI_NAME
#undef TRI_BUFFERS
#undef TRI_DIMS
#undef TRI_STORE
#undef TRI_BESIDE
#undef TRI_ROW
#undef TRI_X
#undef TRI_X_SPACE
#undef TRI_WHOLE_STEPS

#define TRI_NAME beside_k2_3
#define TRI_BUFFERS , global uchar *p3, ulong o3
#define TRI_DIMS , long n0
#define TRI_STORE(batch, row, column, value) beside_e2(batch, row, column, value, p3, o3, n0)
/* y int [M, N] = x char [M, K] · w TRIT2 [K, N], exact. backend/runtime/pack/trit2.h describes w: panels of 32 columns, steps of 16 k, and in a step a 32-bit
 * word for each column. Bits 2f, 2f+1 of its byte j hold trit + 1 of k = 16·step + 4·f + j. A group of 128 items computes 64 rows and 64 columns. It
 * reads the words of the next 64 k while it multiplies those of 64 k in local memory; where there are matrix instructions, w goes from memory to registers. */
#ifndef TRI_NAME /* without an epilogue */
#define TRI_NAME tri_matmul_i8_trit2
#define TRI_BUFFERS , global uchar *py, ulong oy
#define TRI_DIMS
#define TRI_STORE(batch, row, column, value) ((global int *)(py + oy))[(row) * N + (column)] = (value)
#endif
kernel TRI_GROUP(128) void TRI_NAME(global uchar *px, ulong ox, global uchar *pw, ulong ow TRI_BUFFERS, TRI_FIELDS TRI_DIMS)
{
#ifdef TRI_MMA_NVIDIA
	TRI_SHARED uint tile[2 * 64 * 16 + TRI_MMA_SPARE] __attribute__((aligned(16)));
	local uint *spare = tile + 2 * 64 * 16;
	const int m = (int)M, n = (int)N, k = (int)K, steps = (k + 15) / 16, lid = (int)get_local_id(0), chunk = lid % 4;
	const int across = (n + 63) / 64, column0 = (int)get_group_id(0) % across * 64, row0 = (int)get_group_id(0) / across * 64;
	const int panel = min(column0 / 32 + lid / 32 % 2, (n - 1) / 32), width = n - panel * 32 > 16 ? 32 : 16;
	global const uint *w = (global const uint *)(pw + ow) + (long)panel * 32 * steps + min(lid % 32 / 4 * 4, width - 4);
	global const uint *x = (global const uint *)(px + ox);
	const long row[2] = {(long)min(row0 + lid / 4, m - 1) * k + 16 * chunk, (long)min(row0 + lid / 4 + 32, m - 1) * k + 16 * chunk};
	int sum[2][4][4];
	uint4 xs[2];
	uint4 ws, used;
#pragma unroll
	for (int i = 0; i < 32; i++)
		sum[i / 16][i / 4 % 4][i % 4] = 0;
	for (int next = 0;; next += 64) {
		if (next < k) {
			const int inside = next + 16 * chunk < k;
			if (k % 16 == 0)
#pragma unroll
				for (int i = 0; i < 2; i++)
					xs[i] = *((global const uint4 *)x + ((row[i] >> 4) + (inside ? next / 16 : -chunk)));
			xs[0] = inside ? xs[0] : TRI_VECTOR4(uint, 0, 0, 0, 0);
			xs[1] = inside ? xs[1] : TRI_VECTOR4(uint, 0, 0, 0, 0);
			ws = *(global const uint4 *)(w + min(next / 16 + chunk, steps - 1) * width);
		}
		if (next > 0)
			tri_mma_32(sum, tile + (next / 64 - 1) % 2 * 1024, used, spare);
		if (next >= k)
			break;
		if (k % 16 != 0) {
			uint v[8];
#pragma unroll 1
			for (int i = 0; i < 8; i++) {
				const uint word = tri_word(x, (i < 4 ? row[0] : row[1]) + next + i % 4 * 4, k - next - 16 * chunk - i % 4 * 4);
#pragma unroll
				for (int j = 0; j < 8; j++)
					v[j] = i == j ? word : v[j];
			}
			xs[0] = TRI_VECTOR4(uint, v[0], v[1], v[2], v[3]);
			xs[1] = TRI_VECTOR4(uint, v[4], v[5], v[6], v[7]);
		}
		tri_mma_put(tile + next / 64 % 2 * 1024, 32, xs[0], xs[1]);
		used = ws;
		barrier(CLK_LOCAL_MEM_FENCE);
	}
#elif 0 && TRI_COUNTS_TILES
	enum { HALF = 8 * (TRI_TILE_LINE(8) + 64) }; /* of the local memory: the planes of 128 k of both operands */
	TRI_SHARED uint tile[2 * HALF] __attribute__((aligned(16)));
	const int m = (int)M, n = (int)N, k = (int)K, steps = (k + 15) / 16, lid = (int)get_local_id(0), lane = lid % 4, line = lid / 4;
	const int across = (n + 63) / 64, column0 = (int)get_group_id(0) % across * 64, row0 = (int)get_group_id(0) / across * 64;
	const int column = min(column0 + lid % 64, n - 1), panel = column / 32, width = n - panel * 32 > 16 ? 32 : 16, step = lid / 64;
	global const uint *w = (global const uint *)(pw + ow) + (long)panel * 32 * steps + column % 32;
	global const uint *x = (global const uint *)(px + ox);
	const long row[2] = {(long)min(row0 + line, m - 1) * k, (long)min(row0 + line + 32, m - 1) * k};
	int sum[8][4];
	uint4 xs[2][2];
	uint ws[2][2];
#pragma unroll
	for (int i = 0; i < 8; i++)
		sum[i][0] = sum[i][1] = sum[i][2] = sum[i][3] = 0;
	for (int next = 0;; next += 128) { /* an item reads steps s and s + 4, of which it makes words of the planes */
		local uint *lx = tile + next / 128 % 2 * HALF, *lw = lx + 8 * TRI_TILE_LINE(8);
		if (next < k) {
#pragma unroll
			for (int h = 0; h < 2; h++) {
				const int at = next + 64 * h + 16 * lane;
#pragma unroll
				for (int i = 0; i < 2; i++) {
					if (k % 16 == 0)
						xs[i][h] = ((global const uint4 *)x)[(row[i] + (at < k ? at : 0)) >> 4];
					ws[i][h] = w[min(next / 16 + step + 2 * i + 4 * h, steps - 1) * width];
				}
			}
		}
		if (next > 0)
			tri_count_8(sum, tile + (next / 128 - 1) % 2 * HALF, tile + (next / 128 - 1) % 2 * HALF + 8 * TRI_TILE_LINE(8));
		if (next >= k)
			break;
#pragma unroll
		for (int i = 0; i < 2; i++)
			tri_put_planes(lw + 2 * (step + 2 * i) * 64 + lid % 64, 64, ~ws[i][0], ~ws[i][1]);
		lx += 2 * lane * TRI_TILE_LINE(8) + line;
		if (k % 16 == 0) {
			const int at = next + 16 * lane;
#pragma unroll
			for (int i = 0; i < 2; i++)
				tri_put_planes(lx + 32 * i, TRI_TILE_LINE(8), at < k ? tri_fields(xs[i][0]) : 0, at + 64 < k ? tri_fields(xs[i][1]) : 0);
		} else {
#pragma unroll 1
			for (int i = 0; i < 2; i++) {
				const int at = next + 16 * lane;
				const long from = (i == 0 ? row[0] : row[1]) + at;
				tri_put_planes(lx + 32 * i, TRI_TILE_LINE(8), tri_fields_at(x, from, k - at), tri_fields_at(x, from + 64, k - at - 64));
			}
		}
		barrier(CLK_LOCAL_MEM_FENCE);
	}
#else
	TRI_SHARED uint tile[TRI_TILE_WORDS(8)] __attribute__((aligned(16)));
	local uint *lx = tile, *lw = tile + 16 * TRI_TILE_LINE(8);
	const int m = (int)M, n = (int)N, k = (int)K, steps = (k + 15) / 16, lid = (int)get_local_id(0), lane = lid % 16, line = lid / 16;
	const int across = (n + 63) / 64, column0 = (int)get_group_id(0) % across * 64, row0 = (int)get_group_id(0) / across * 64;
	const int column = min(column0 + lid % 64, n - 1), panel = column / 32, width = n - panel * 32 > 16 ? 32 : 16, step = lid / 64;
	global const uint *w = (global const uint *)(pw + ow) + (long)panel * 32 * steps + column % 32;
	global const uint *x = (global const uint *)(px + ox) + ((long)row0 * k >> 2);
	const int odd = (int)((long)row0 * k & 3);
	int at[8], sum[8][4];
	uint xs[8], ws[2];
#pragma unroll
	for (int i = 0; i < 8; i++) {
		at[i] = (min(row0 + line + 8 * i, m - 1) - row0) * k + 4 * lane + odd;
		sum[i][0] = sum[i][1] = sum[i][2] = sum[i][3] = 0;
	}
	for (int next = 0;; next += 64) {
		if (next < k) {
			const int rest = k - next - 4 * lane;
			if (k % 4 == 0) {
				const int from = rest > 0 ? next : -4 * lane; /* else the first word of the row */
#pragma unroll
				for (int i = 0; i < 8; i++)
					xs[i] = x[(at[i] + from) >> 2];
#pragma unroll
				for (int i = 0; i < 8; i++)
					xs[i] = rest > 0 ? xs[i] : 0;
			} else {
#pragma unroll
				for (int i = 0; i < 8; i++)
					xs[i] = tri_word(x, at[i] + next, rest);
			}
#pragma unroll
			for (int j = 0; j < 2; j++)
				ws[j] = w[min(next / 16 + step + 2 * j, steps - 1) * width];
		}
		if (next > 0)
			tri_tile_i8_8(sum, lx, lw);
		if (next >= k)
			break;
		barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
		for (int i = 0; i < 8; i++)
			lx[lane * TRI_TILE_LINE(8) + line + 8 * i] = xs[i];
#pragma unroll
		for (int j = 0; j < 2; j++)
#pragma unroll
			for (int f = 0; f < 4; f++)
				lw[(4 * (step + 2 * j) + f) * 64 + lid % 64] = tri_trits(ws[j], f);
		barrier(CLK_LOCAL_MEM_FENCE);
	}
#endif
#pragma unroll
	for (int part = 0; part < 2; part++) {
#ifdef TRI_MMA_NVIDIA
		tri_mma_32_part(sum, (local int *)tile, part);
#else
		tri_tile_i8_8_part(sum, (local int *)tile, part);
#endif
		for (int r = lid / 64; r < 32; r += 2)
			if (row0 + 32 * part + r < m && column0 + lid % 64 < n)
				TRI_STORE(0, (long)(row0 + 32 * part + r), (long)(column0 + lid % 64), ((local int *)tile)[r * 64 + lid % 64]);
	}
}
#undef TRI_NAME
#undef TRI_BUFFERS
#undef TRI_DIMS
#undef TRI_STORE

void beside_e3(long i0, long i1, long i2, int t, global uchar *p6, ulong o6, long n0)
{
	global int *b6 = (global int *)(p6 + o6);
	const int v0 = t;
	const int v1 = tri_neg_int(v0);
	b6[i1 + i2 * n0] = v1;
}

#undef TRI_FIELDS
#define TRI_FIELDS long M, long K, long N
#define TRI_NAME beside_k3_1
#define TRI_BUFFERS , global uchar *p6, ulong o6
#define TRI_DIMS , long n0
#define TRI_STORE(batch, row, column, value) beside_e3(batch, row, column, value, p6, o6, n0)
/* tri_matmul_i8_trit2 for few rows: a group of 256 items computes 2 x 32 elements, a panel wide. An item reads 16 bytes of w, the words of four columns;
 * eight neighbours read a step of 16 k. The sums of the items are added in local memory. In blocks (tile.cl) sixteen neighbours read two steps, each the words of two columns. With matrix instructions a group computes 16 rows, and the next three
 * groups return at once. Its eight warps divide the steps, and multiply four steps at a time as TRI_MMA_PAIRS does, but with operands from global memory.
 * Where it is split, groups divide the k, too, and leave their sums one behind the other. */
#ifndef TRI_NAME /* without an epilogue */
#define TRI_NAME tri_matmul_i8_trit2_rows2
#define TRI_BUFFERS , global uchar *py, ulong oy
#define TRI_DIMS
#define TRI_STORE(batch, row, column, value) ((global int *)(py + oy))[(row) * N + (column)] = (value)
#endif
#ifndef TRI_ROW /* the rows are in memory */
#define TRI_ROW
#define TRI_X (px + ox)
#define TRI_X_SPACE global
#else
#define TRI_WHOLE_STEPS
#endif
kernel TRI_SUB_GROUPS(256) void TRI_NAME(global uchar *px, ulong ox, global uchar *pw, ulong ow TRI_BUFFERS, TRI_FIELDS
#if 0
	, long terms
#endif
	TRI_DIMS)
{
	TRI_SHARED int parts[2][1024] __attribute__((aligned(16)));
	int group = (int)get_group_id(0);
#ifdef TRI_BESIDE
	int which = 0;
	TRI_BESIDE
#endif
	TRI_ROW
	const int m = (int)M, n = (int)N, k = (int)K, steps = (k + 15) / 16, lid = (int)get_local_id(0), panels = (n + 31) / 32;
	const int panel = group % panels;
#if 0
	const int down = (m + 2 - 1) / 2, own = group / panels / down, row = group / panels % down * 2;
	const int begin = own * ((int)terms / 16), end = min(steps, begin + (int)terms / 16), result = own * m;
#else
	const int row = group / panels * 2, begin = 0, end = steps, result = 0;
#endif
	const int shift = n - panel * 32 > 16 ? 3 : 2; /* a step is 2^shift quads of columns */
	global const uint4 *w = (global const uint4 *)(pw + ow) + (long)panel * 8 * steps;
	TRI_X_SPACE const uint *x = (TRI_X_SPACE const uint *)TRI_X;
#if defined(TRI_MMA_NVIDIA) && 2 == 4
	TRI_SHARED uint spare[2 * TRI_MMA_SPARE + 1];
	if (row % 16 != 0)
		return;
	const int lane = lid % 32, part = lid / 32, own_quad = min(lane / 4, (1 << shift) - 1);
	const long at[2] = {(long)min(row + lane / 4, m - 1) * k, (long)min(row + lane / 4 + 8, m - 1) * k};
	int sum[4][4];
#pragma unroll
	for (int i = 0; i < 16; i++)
		sum[i / 4][i % 4] = 0;
	for (int next = begin; next < end; next += 32) {
		const int s = next + 4 * part + lane % 4, last = min(s, end - 1);
		const uint4 v = w[(last << shift) + own_quad];
		uint a[2][4];
		if (k % 16 == 0) {
#pragma unroll
			for (int i = 0; i < 2; i++) {
				const uint4 words = ((TRI_X_SPACE const uint4 *)x)[(at[i] >> 4) + last];
				a[i][0] = words.s0, a[i][1] = words.s1, a[i][2] = words.s2, a[i][3] = words.s3;
			}
		} else {
#pragma unroll 1
			for (int i = 0; i < 8; i++) {
				const uint word = tri_word(x, (i < 4 ? at[0] : at[1]) + 16 * last + i % 4 * 4, k - 16 * last - i % 4 * 4);
#pragma unroll
				for (int j = 0; j < 8; j++)
					a[j / 4][j % 4] = i == j ? word : a[j / 4][j % 4];
			}
		}
#pragma unroll
		for (int i = 0; i < 8; i++)
			a[i / 4][i % 4] = s < end ? a[i / 4][i % 4] : 0;
#pragma unroll
		for (int h = 0; h < 4; h += 2) {
			tri_mma(sum[0], a[0][h], a[1][h], a[0][h + 1], a[1][h + 1], tri_trits(v.s0, h), tri_trits(v.s0, h + 1), spare);
			tri_mma(sum[1], a[0][h], a[1][h], a[0][h + 1], a[1][h + 1], tri_trits(v.s1, h), tri_trits(v.s1, h + 1), spare);
			tri_mma(sum[2], a[0][h], a[1][h], a[0][h + 1], a[1][h + 1], tri_trits(v.s2, h), tri_trits(v.s2, h + 1), spare);
			tri_mma(sum[3], a[0][h], a[1][h], a[0][h + 1], a[1][h + 1], tri_trits(v.s3, h), tri_trits(v.s3, h + 1), spare);
		}
	}
#pragma unroll
	for (int i = 0; i < 4; i++)
		((local int4 *)parts)[part * 128 + lane / 4 * 8 + i / 2 * 64 + lane % 4 * 2 + i % 2] = TRI_VECTOR4(int, sum[0][i], sum[1][i], sum[2][i], sum[3][i]);
	barrier(CLK_LOCAL_MEM_FENCE);
	for (int r = part; r < 16 && row + r < m; r += 8) {
		local const int *of = (local const int *)parts + r * 32 + lane;
		const int total = ((of[0] + of[512]) + (of[1024] + of[1536])) + ((of[2048] + of[2560]) + (of[3072] + of[3584]));
		if (panel * 32 + lane < n)
			TRI_STORE(0, (long)(result + row + r), (long)(panel * 32 + lane), total);
	}
#else
	const int quad = lid & ((1 << shift) - 1), width = 4 << shift, blocks = TRI_READS && !(0 && TRI_COUNTS_ROWS) && shift == 3 && k % 32 == 0;
	int4 sum[2];
#pragma unroll
	for (int r = 0; r < 2; r++)
		sum[r] = 0;
	if (blocks) {
		for (int s = begin + 2 * TRI_UNIFORM(lid / 16); s < end; s += 32) {
			const uint4 v = tri_block_words((global const uint *)(w + (s << 3)));
#pragma unroll
			for (int r = 0; r < 2; r++) {
				TRI_X_SPACE const uint4 *own = (TRI_X_SPACE const uint4 *)x + (long)min(row + r, m - 1) * steps + s;
				sum[r] = tri_dot_trits(sum[r], v, own[0], own[1]);
			}
		}
	} else if (k % 16 == 0) {
#if 0 && TRI_COUNTS_ROWS
		for (int s = begin + (lid >> shift); s < end; s += 512 >> shift) { /* this step, and the one that is half a turn behind it */
			const int after = s + (256 >> shift), last = min(after, end - 1);
			const uint4 v = w[(s << shift) + quad], u = w[(last << shift) + quad], some = ~TRI_PLANE_0(v, u), sign = ~TRI_PLANE_1(v, u);
#pragma unroll
			for (int r = 0; r < 2; r++) {
				TRI_X_SPACE const uint4 *own = (TRI_X_SPACE const uint4 *)x + (long)min(row + r, m - 1) * steps;
				const uint a = tri_fields(own[s]), b = after < end ? tri_fields(own[last]) : 0;
				const uint nonzero = TRI_PLANE_0(a, b), negative = TRI_PLANE_1(a, b);
				sum[r] += TRI_VECTOR4(int, tri_count(nonzero & some.s0, negative ^ sign.s0, 0, 0), tri_count(nonzero & some.s1, negative ^ sign.s1, 0, 0),
						      tri_count(nonzero & some.s2, negative ^ sign.s2, 0, 0), tri_count(nonzero & some.s3, negative ^ sign.s3, 0, 0));
			}
		}
#else
		for (int s = begin + (lid >> shift); s < end; s += 256 >> shift) {
			const uint4 v = w[(s << shift) + quad];
#pragma unroll
			for (int r = 0; r < 2; r++) {
				const uint4 a = ((TRI_X_SPACE const uint4 *)x)[(long)min(row + r, m - 1) * steps + s];
				sum[r] = tri_dot_trits(sum[r], v, a, a);
			}
		}
#endif
	}
#ifndef TRI_WHOLE_STEPS
	else {
		for (int s = begin + (lid >> shift); s < end; s += 256 >> shift) {
			const uint4 v = w[(s << shift) + quad];
#pragma unroll 1
			for (int i = 0; i < 4 * 2; i++) { /* field i / ROWS of row i % ROWS */
				const int r = i % 2, at = s * 16 + i / 2 * 4;
				const uint a = tri_word(x, (long)min(row + r, m - 1) * k + at, k - at);
				const uint4 t = v >> i / 2 * 2 & 0x03030303u;
				const int less = tri_dot4(a, 0xffffffffu, 0);
				const int4 add = TRI_VECTOR4(int, tri_dot4(a, t.s0, less), tri_dot4(a, t.s1, less), tri_dot4(a, t.s2, less), tri_dot4(a, t.s3, less));
#pragma unroll
				for (int j = 0; j < 2; j++)
					sum[j] += r == j ? add : (int4)0;
			}
		}
	}
#endif
#pragma unroll
	for (int r = 0; r < 2; r++) {
		local int *own = parts[r] + (lid & ~15) * 4 + lid % 16;
		if (blocks)
			own[0] = sum[r].s0, own[16] = sum[r].s1, own[32] = sum[r].s2, own[48] = sum[r].s3;
		else
			((local int4 *)parts[r])[lid] = sum[r];
	}
	barrier(CLK_LOCAL_MEM_FENCE);
	const int column = lid & (width - 1), from = (lid & ~(width - 1)) * 4 + column;
	int part[2];
#pragma unroll
	for (int r = 0; r < 2; r++)
		part[r] = (parts[r][from] + parts[r][from + width]) + (parts[r][from + 2 * width] + parts[r][from + 3 * width]);
	barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
	for (int r = 0; r < 2; r++)
		parts[r][lid] = part[r];
	barrier(CLK_LOCAL_MEM_FENCE);
	for (int r = lid / width; r < 2 && row + r < m; r += 256 / width) {
		int total = 0;
		for (int i = column; i < 256; i += width)
			total += parts[r][i];
		if (panel * 32 + column < n)
			TRI_STORE(0, (long)(result + row + r), (long)(panel * 32 + column), total);
	}
#endif
}
#undef TRI_NAME
#undef TRI_BUFFERS
#undef TRI_DIMS
#undef TRI_STORE
#undef TRI_BESIDE
#undef TRI_ROW
#undef TRI_X
#undef TRI_X_SPACE
#undef TRI_WHOLE_STEPS

#define TRI_NAME beside_k3_2
#define TRI_BUFFERS , global uchar *p6, ulong o6
#define TRI_DIMS , long n0
#define TRI_STORE(batch, row, column, value) beside_e3(batch, row, column, value, p6, o6, n0)
/* tri_matmul_i8_trit2 for few rows: a group of 256 items computes 4 x 32 elements, a panel wide. An item reads 16 bytes of w, the words of four columns;
 * eight neighbours read a step of 16 k. The sums of the items are added in local memory. In blocks (tile.cl) sixteen neighbours read two steps, each the words of two columns. With matrix instructions a group computes 16 rows, and the next three
 * groups return at once. Its eight warps divide the steps, and multiply four steps at a time as TRI_MMA_PAIRS does, but with operands from global memory.
 * Where it is split, groups divide the k, too, and leave their sums one behind the other. */
#ifndef TRI_NAME /* without an epilogue */
#define TRI_NAME tri_matmul_i8_trit2_rows4
#define TRI_BUFFERS , global uchar *py, ulong oy
#define TRI_DIMS
#define TRI_STORE(batch, row, column, value) ((global int *)(py + oy))[(row) * N + (column)] = (value)
#endif
#ifndef TRI_ROW /* the rows are in memory */
#define TRI_ROW
#define TRI_X (px + ox)
#define TRI_X_SPACE global
#else
#define TRI_WHOLE_STEPS
#endif
kernel TRI_SUB_GROUPS(256) void TRI_NAME(global uchar *px, ulong ox, global uchar *pw, ulong ow TRI_BUFFERS, TRI_FIELDS
#if 0
	, long terms
#endif
	TRI_DIMS)
{
	TRI_SHARED int parts[4][1024] __attribute__((aligned(16)));
	int group = (int)get_group_id(0);
#ifdef TRI_BESIDE
	int which = 0;
	TRI_BESIDE
#endif
	TRI_ROW
	const int m = (int)M, n = (int)N, k = (int)K, steps = (k + 15) / 16, lid = (int)get_local_id(0), panels = (n + 31) / 32;
	const int panel = group % panels;
#if 0
	const int down = (m + 4 - 1) / 4, own = group / panels / down, row = group / panels % down * 4;
	const int begin = own * ((int)terms / 16), end = min(steps, begin + (int)terms / 16), result = own * m;
#else
	const int row = group / panels * 4, begin = 0, end = steps, result = 0;
#endif
	const int shift = n - panel * 32 > 16 ? 3 : 2; /* a step is 2^shift quads of columns */
	global const uint4 *w = (global const uint4 *)(pw + ow) + (long)panel * 8 * steps;
	TRI_X_SPACE const uint *x = (TRI_X_SPACE const uint *)TRI_X;
#if defined(TRI_MMA_NVIDIA) && 4 == 4
	TRI_SHARED uint spare[2 * TRI_MMA_SPARE + 1];
	if (row % 16 != 0)
		return;
	const int lane = lid % 32, part = lid / 32, own_quad = min(lane / 4, (1 << shift) - 1);
	const long at[2] = {(long)min(row + lane / 4, m - 1) * k, (long)min(row + lane / 4 + 8, m - 1) * k};
	int sum[4][4];
#pragma unroll
	for (int i = 0; i < 16; i++)
		sum[i / 4][i % 4] = 0;
	for (int next = begin; next < end; next += 32) {
		const int s = next + 4 * part + lane % 4, last = min(s, end - 1);
		const uint4 v = w[(last << shift) + own_quad];
		uint a[2][4];
		if (k % 16 == 0) {
#pragma unroll
			for (int i = 0; i < 2; i++) {
				const uint4 words = ((TRI_X_SPACE const uint4 *)x)[(at[i] >> 4) + last];
				a[i][0] = words.s0, a[i][1] = words.s1, a[i][2] = words.s2, a[i][3] = words.s3;
			}
		} else {
#pragma unroll 1
			for (int i = 0; i < 8; i++) {
				const uint word = tri_word(x, (i < 4 ? at[0] : at[1]) + 16 * last + i % 4 * 4, k - 16 * last - i % 4 * 4);
#pragma unroll
				for (int j = 0; j < 8; j++)
					a[j / 4][j % 4] = i == j ? word : a[j / 4][j % 4];
			}
		}
#pragma unroll
		for (int i = 0; i < 8; i++)
			a[i / 4][i % 4] = s < end ? a[i / 4][i % 4] : 0;
#pragma unroll
		for (int h = 0; h < 4; h += 2) {
			tri_mma(sum[0], a[0][h], a[1][h], a[0][h + 1], a[1][h + 1], tri_trits(v.s0, h), tri_trits(v.s0, h + 1), spare);
			tri_mma(sum[1], a[0][h], a[1][h], a[0][h + 1], a[1][h + 1], tri_trits(v.s1, h), tri_trits(v.s1, h + 1), spare);
			tri_mma(sum[2], a[0][h], a[1][h], a[0][h + 1], a[1][h + 1], tri_trits(v.s2, h), tri_trits(v.s2, h + 1), spare);
			tri_mma(sum[3], a[0][h], a[1][h], a[0][h + 1], a[1][h + 1], tri_trits(v.s3, h), tri_trits(v.s3, h + 1), spare);
		}
	}
#pragma unroll
	for (int i = 0; i < 4; i++)
		((local int4 *)parts)[part * 128 + lane / 4 * 8 + i / 2 * 64 + lane % 4 * 2 + i % 2] = TRI_VECTOR4(int, sum[0][i], sum[1][i], sum[2][i], sum[3][i]);
	barrier(CLK_LOCAL_MEM_FENCE);
	for (int r = part; r < 16 && row + r < m; r += 8) {
		local const int *of = (local const int *)parts + r * 32 + lane;
		const int total = ((of[0] + of[512]) + (of[1024] + of[1536])) + ((of[2048] + of[2560]) + (of[3072] + of[3584]));
		if (panel * 32 + lane < n)
			TRI_STORE(0, (long)(result + row + r), (long)(panel * 32 + lane), total);
	}
#else
	const int quad = lid & ((1 << shift) - 1), width = 4 << shift, blocks = TRI_READS && !(0 && TRI_COUNTS_ROWS) && shift == 3 && k % 32 == 0;
	int4 sum[4];
#pragma unroll
	for (int r = 0; r < 4; r++)
		sum[r] = 0;
	if (blocks) {
		for (int s = begin + 2 * TRI_UNIFORM(lid / 16); s < end; s += 32) {
			const uint4 v = tri_block_words((global const uint *)(w + (s << 3)));
#pragma unroll
			for (int r = 0; r < 4; r++) {
				TRI_X_SPACE const uint4 *own = (TRI_X_SPACE const uint4 *)x + (long)min(row + r, m - 1) * steps + s;
				sum[r] = tri_dot_trits(sum[r], v, own[0], own[1]);
			}
		}
	} else if (k % 16 == 0) {
#if 0 && TRI_COUNTS_ROWS
		for (int s = begin + (lid >> shift); s < end; s += 512 >> shift) { /* this step, and the one that is half a turn behind it */
			const int after = s + (256 >> shift), last = min(after, end - 1);
			const uint4 v = w[(s << shift) + quad], u = w[(last << shift) + quad], some = ~TRI_PLANE_0(v, u), sign = ~TRI_PLANE_1(v, u);
#pragma unroll
			for (int r = 0; r < 4; r++) {
				TRI_X_SPACE const uint4 *own = (TRI_X_SPACE const uint4 *)x + (long)min(row + r, m - 1) * steps;
				const uint a = tri_fields(own[s]), b = after < end ? tri_fields(own[last]) : 0;
				const uint nonzero = TRI_PLANE_0(a, b), negative = TRI_PLANE_1(a, b);
				sum[r] += TRI_VECTOR4(int, tri_count(nonzero & some.s0, negative ^ sign.s0, 0, 0), tri_count(nonzero & some.s1, negative ^ sign.s1, 0, 0),
						      tri_count(nonzero & some.s2, negative ^ sign.s2, 0, 0), tri_count(nonzero & some.s3, negative ^ sign.s3, 0, 0));
			}
		}
#else
		for (int s = begin + (lid >> shift); s < end; s += 256 >> shift) {
			const uint4 v = w[(s << shift) + quad];
#pragma unroll
			for (int r = 0; r < 4; r++) {
				const uint4 a = ((TRI_X_SPACE const uint4 *)x)[(long)min(row + r, m - 1) * steps + s];
				sum[r] = tri_dot_trits(sum[r], v, a, a);
			}
		}
#endif
	}
#ifndef TRI_WHOLE_STEPS
	else {
		for (int s = begin + (lid >> shift); s < end; s += 256 >> shift) {
			const uint4 v = w[(s << shift) + quad];
#pragma unroll 1
			for (int i = 0; i < 4 * 4; i++) { /* field i / ROWS of row i % ROWS */
				const int r = i % 4, at = s * 16 + i / 4 * 4;
				const uint a = tri_word(x, (long)min(row + r, m - 1) * k + at, k - at);
				const uint4 t = v >> i / 4 * 2 & 0x03030303u;
				const int less = tri_dot4(a, 0xffffffffu, 0);
				const int4 add = TRI_VECTOR4(int, tri_dot4(a, t.s0, less), tri_dot4(a, t.s1, less), tri_dot4(a, t.s2, less), tri_dot4(a, t.s3, less));
#pragma unroll
				for (int j = 0; j < 4; j++)
					sum[j] += r == j ? add : (int4)0;
			}
		}
	}
#endif
#pragma unroll
	for (int r = 0; r < 4; r++) {
		local int *own = parts[r] + (lid & ~15) * 4 + lid % 16;
		if (blocks)
			own[0] = sum[r].s0, own[16] = sum[r].s1, own[32] = sum[r].s2, own[48] = sum[r].s3;
		else
			((local int4 *)parts[r])[lid] = sum[r];
	}
	barrier(CLK_LOCAL_MEM_FENCE);
	const int column = lid & (width - 1), from = (lid & ~(width - 1)) * 4 + column;
	int part[4];
#pragma unroll
	for (int r = 0; r < 4; r++)
		part[r] = (parts[r][from] + parts[r][from + width]) + (parts[r][from + 2 * width] + parts[r][from + 3 * width]);
	barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
	for (int r = 0; r < 4; r++)
		parts[r][lid] = part[r];
	barrier(CLK_LOCAL_MEM_FENCE);
	for (int r = lid / width; r < 4 && row + r < m; r += 256 / width) {
		int total = 0;
		for (int i = column; i < 256; i += width)
			total += parts[r][i];
		if (panel * 32 + column < n)
			TRI_STORE(0, (long)(result + row + r), (long)(panel * 32 + column), total);
	}
#endif
}
#undef TRI_NAME
#undef TRI_BUFFERS
#undef TRI_DIMS
#undef TRI_STORE
#undef TRI_BESIDE
#undef TRI_ROW
#undef TRI_X
#undef TRI_X_SPACE
#undef TRI_WHOLE_STEPS

#define TRI_NAME beside_k3_3
#define TRI_BUFFERS , global uchar *p6, ulong o6
#define TRI_DIMS , long n0
#define TRI_STORE(batch, row, column, value) beside_e3(batch, row, column, value, p6, o6, n0)
/* y int [M, N] = x char [M, K] · w TRIT2 [K, N], exact. backend/runtime/pack/trit2.h describes w: panels of 32 columns, steps of 16 k, and in a step a 32-bit
 * word for each column. Bits 2f, 2f+1 of its byte j hold trit + 1 of k = 16·step + 4·f + j. A group of 128 items computes 64 rows and 64 columns. It
 * reads the words of the next 64 k while it multiplies those of 64 k in local memory; where there are matrix instructions, w goes from memory to registers. */
#ifndef TRI_NAME /* without an epilogue */
#define TRI_NAME tri_matmul_i8_trit2
#define TRI_BUFFERS , global uchar *py, ulong oy
#define TRI_DIMS
#define TRI_STORE(batch, row, column, value) ((global int *)(py + oy))[(row) * N + (column)] = (value)
#endif
kernel TRI_GROUP(128) void TRI_NAME(global uchar *px, ulong ox, global uchar *pw, ulong ow TRI_BUFFERS, TRI_FIELDS TRI_DIMS)
{
#ifdef TRI_MMA_NVIDIA
	TRI_SHARED uint tile[2 * 64 * 16 + TRI_MMA_SPARE] __attribute__((aligned(16)));
	local uint *spare = tile + 2 * 64 * 16;
	const int m = (int)M, n = (int)N, k = (int)K, steps = (k + 15) / 16, lid = (int)get_local_id(0), chunk = lid % 4;
	const int across = (n + 63) / 64, column0 = (int)get_group_id(0) % across * 64, row0 = (int)get_group_id(0) / across * 64;
	const int panel = min(column0 / 32 + lid / 32 % 2, (n - 1) / 32), width = n - panel * 32 > 16 ? 32 : 16;
	global const uint *w = (global const uint *)(pw + ow) + (long)panel * 32 * steps + min(lid % 32 / 4 * 4, width - 4);
	global const uint *x = (global const uint *)(px + ox);
	const long row[2] = {(long)min(row0 + lid / 4, m - 1) * k + 16 * chunk, (long)min(row0 + lid / 4 + 32, m - 1) * k + 16 * chunk};
	int sum[2][4][4];
	uint4 xs[2];
	uint4 ws, used;
#pragma unroll
	for (int i = 0; i < 32; i++)
		sum[i / 16][i / 4 % 4][i % 4] = 0;
	for (int next = 0;; next += 64) {
		if (next < k) {
			const int inside = next + 16 * chunk < k;
			if (k % 16 == 0)
#pragma unroll
				for (int i = 0; i < 2; i++)
					xs[i] = *((global const uint4 *)x + ((row[i] >> 4) + (inside ? next / 16 : -chunk)));
			xs[0] = inside ? xs[0] : TRI_VECTOR4(uint, 0, 0, 0, 0);
			xs[1] = inside ? xs[1] : TRI_VECTOR4(uint, 0, 0, 0, 0);
			ws = *(global const uint4 *)(w + min(next / 16 + chunk, steps - 1) * width);
		}
		if (next > 0)
			tri_mma_32(sum, tile + (next / 64 - 1) % 2 * 1024, used, spare);
		if (next >= k)
			break;
		if (k % 16 != 0) {
			uint v[8];
#pragma unroll 1
			for (int i = 0; i < 8; i++) {
				const uint word = tri_word(x, (i < 4 ? row[0] : row[1]) + next + i % 4 * 4, k - next - 16 * chunk - i % 4 * 4);
#pragma unroll
				for (int j = 0; j < 8; j++)
					v[j] = i == j ? word : v[j];
			}
			xs[0] = TRI_VECTOR4(uint, v[0], v[1], v[2], v[3]);
			xs[1] = TRI_VECTOR4(uint, v[4], v[5], v[6], v[7]);
		}
		tri_mma_put(tile + next / 64 % 2 * 1024, 32, xs[0], xs[1]);
		used = ws;
		barrier(CLK_LOCAL_MEM_FENCE);
	}
#elif 0 && TRI_COUNTS_TILES
	enum { HALF = 8 * (TRI_TILE_LINE(8) + 64) }; /* of the local memory: the planes of 128 k of both operands */
	TRI_SHARED uint tile[2 * HALF] __attribute__((aligned(16)));
	const int m = (int)M, n = (int)N, k = (int)K, steps = (k + 15) / 16, lid = (int)get_local_id(0), lane = lid % 4, line = lid / 4;
	const int across = (n + 63) / 64, column0 = (int)get_group_id(0) % across * 64, row0 = (int)get_group_id(0) / across * 64;
	const int column = min(column0 + lid % 64, n - 1), panel = column / 32, width = n - panel * 32 > 16 ? 32 : 16, step = lid / 64;
	global const uint *w = (global const uint *)(pw + ow) + (long)panel * 32 * steps + column % 32;
	global const uint *x = (global const uint *)(px + ox);
	const long row[2] = {(long)min(row0 + line, m - 1) * k, (long)min(row0 + line + 32, m - 1) * k};
	int sum[8][4];
	uint4 xs[2][2];
	uint ws[2][2];
#pragma unroll
	for (int i = 0; i < 8; i++)
		sum[i][0] = sum[i][1] = sum[i][2] = sum[i][3] = 0;
	for (int next = 0;; next += 128) { /* an item reads steps s and s + 4, of which it makes words of the planes */
		local uint *lx = tile + next / 128 % 2 * HALF, *lw = lx + 8 * TRI_TILE_LINE(8);
		if (next < k) {
#pragma unroll
			for (int h = 0; h < 2; h++) {
				const int at = next + 64 * h + 16 * lane;
#pragma unroll
				for (int i = 0; i < 2; i++) {
					if (k % 16 == 0)
						xs[i][h] = ((global const uint4 *)x)[(row[i] + (at < k ? at : 0)) >> 4];
					ws[i][h] = w[min(next / 16 + step + 2 * i + 4 * h, steps - 1) * width];
				}
			}
		}
		if (next > 0)
			tri_count_8(sum, tile + (next / 128 - 1) % 2 * HALF, tile + (next / 128 - 1) % 2 * HALF + 8 * TRI_TILE_LINE(8));
		if (next >= k)
			break;
#pragma unroll
		for (int i = 0; i < 2; i++)
			tri_put_planes(lw + 2 * (step + 2 * i) * 64 + lid % 64, 64, ~ws[i][0], ~ws[i][1]);
		lx += 2 * lane * TRI_TILE_LINE(8) + line;
		if (k % 16 == 0) {
			const int at = next + 16 * lane;
#pragma unroll
			for (int i = 0; i < 2; i++)
				tri_put_planes(lx + 32 * i, TRI_TILE_LINE(8), at < k ? tri_fields(xs[i][0]) : 0, at + 64 < k ? tri_fields(xs[i][1]) : 0);
		} else {
#pragma unroll 1
			for (int i = 0; i < 2; i++) {
				const int at = next + 16 * lane;
				const long from = (i == 0 ? row[0] : row[1]) + at;
				tri_put_planes(lx + 32 * i, TRI_TILE_LINE(8), tri_fields_at(x, from, k - at), tri_fields_at(x, from + 64, k - at - 64));
			}
		}
		barrier(CLK_LOCAL_MEM_FENCE);
	}
#else
	TRI_SHARED uint tile[TRI_TILE_WORDS(8)] __attribute__((aligned(16)));
	local uint *lx = tile, *lw = tile + 16 * TRI_TILE_LINE(8);
	const int m = (int)M, n = (int)N, k = (int)K, steps = (k + 15) / 16, lid = (int)get_local_id(0), lane = lid % 16, line = lid / 16;
	const int across = (n + 63) / 64, column0 = (int)get_group_id(0) % across * 64, row0 = (int)get_group_id(0) / across * 64;
	const int column = min(column0 + lid % 64, n - 1), panel = column / 32, width = n - panel * 32 > 16 ? 32 : 16, step = lid / 64;
	global const uint *w = (global const uint *)(pw + ow) + (long)panel * 32 * steps + column % 32;
	global const uint *x = (global const uint *)(px + ox) + ((long)row0 * k >> 2);
	const int odd = (int)((long)row0 * k & 3);
	int at[8], sum[8][4];
	uint xs[8], ws[2];
#pragma unroll
	for (int i = 0; i < 8; i++) {
		at[i] = (min(row0 + line + 8 * i, m - 1) - row0) * k + 4 * lane + odd;
		sum[i][0] = sum[i][1] = sum[i][2] = sum[i][3] = 0;
	}
	for (int next = 0;; next += 64) {
		if (next < k) {
			const int rest = k - next - 4 * lane;
			if (k % 4 == 0) {
				const int from = rest > 0 ? next : -4 * lane; /* else the first word of the row */
#pragma unroll
				for (int i = 0; i < 8; i++)
					xs[i] = x[(at[i] + from) >> 2];
#pragma unroll
				for (int i = 0; i < 8; i++)
					xs[i] = rest > 0 ? xs[i] : 0;
			} else {
#pragma unroll
				for (int i = 0; i < 8; i++)
					xs[i] = tri_word(x, at[i] + next, rest);
			}
#pragma unroll
			for (int j = 0; j < 2; j++)
				ws[j] = w[min(next / 16 + step + 2 * j, steps - 1) * width];
		}
		if (next > 0)
			tri_tile_i8_8(sum, lx, lw);
		if (next >= k)
			break;
		barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
		for (int i = 0; i < 8; i++)
			lx[lane * TRI_TILE_LINE(8) + line + 8 * i] = xs[i];
#pragma unroll
		for (int j = 0; j < 2; j++)
#pragma unroll
			for (int f = 0; f < 4; f++)
				lw[(4 * (step + 2 * j) + f) * 64 + lid % 64] = tri_trits(ws[j], f);
		barrier(CLK_LOCAL_MEM_FENCE);
	}
#endif
#pragma unroll
	for (int part = 0; part < 2; part++) {
#ifdef TRI_MMA_NVIDIA
		tri_mma_32_part(sum, (local int *)tile, part);
#else
		tri_tile_i8_8_part(sum, (local int *)tile, part);
#endif
		for (int r = lid / 64; r < 32; r += 2)
			if (row0 + 32 * part + r < m && column0 + lid % 64 < n)
				TRI_STORE(0, (long)(row0 + 32 * part + r), (long)(column0 + lid % 64), ((local int *)tile)[r * 64 + lid % 64]);
	}
}
#undef TRI_NAME
#undef TRI_BUFFERS
#undef TRI_DIMS
#undef TRI_STORE

#undef TRI_FIELDS
#define TRI_FIELDS long M, long K, long N
#define TRI_NAME beside_k2_all
#define TRI_BUFFERS , global uchar *pw1, ulong ow1 , global uchar *p3, ulong o3 , global uchar *p6, ulong o6
#define TRI_DIMS , long N1 , long n0
#define TRI_BESIDE TRI_NEXT(1)
#define TRI_STORE(batch, row, column, value) \
	do { \
		if (which == 0) beside_e2(batch, row, column, value, p3, o3, n0); \
		else if (which == 1) beside_e3(batch, row, column, value, p6, o6, n0); \
	} while (0)
/* tri_matmul_i8_trit2 for few rows: a group of 256 items computes 1 x 32 elements, a panel wide. An item reads 16 bytes of w, the words of four columns;
 * eight neighbours read a step of 16 k. The sums of the items are added in local memory. In blocks (tile.cl) sixteen neighbours read two steps, each the words of two columns. With matrix instructions a group computes 16 rows, and the next three
 * groups return at once. Its eight warps divide the steps, and multiply four steps at a time as TRI_MMA_PAIRS does, but with operands from global memory.
 * Where it is split, groups divide the k, too, and leave their sums one behind the other. */
#ifndef TRI_NAME /* without an epilogue */
#define TRI_NAME tri_matmul_i8_trit2_rows1
#define TRI_BUFFERS , global uchar *py, ulong oy
#define TRI_DIMS
#define TRI_STORE(batch, row, column, value) ((global int *)(py + oy))[(row) * N + (column)] = (value)
#endif
#ifndef TRI_ROW /* the rows are in memory */
#define TRI_ROW
#define TRI_X (px + ox)
#define TRI_X_SPACE global
#else
#define TRI_WHOLE_STEPS
#endif
kernel TRI_SUB_GROUPS(256) void TRI_NAME(global uchar *px, ulong ox, global uchar *pw, ulong ow TRI_BUFFERS, TRI_FIELDS
#if 0
	, long terms
#endif
	TRI_DIMS)
{
	TRI_SHARED int parts[1][1024] __attribute__((aligned(16)));
	int group = (int)get_group_id(0);
#ifdef TRI_BESIDE
	int which = 0;
	TRI_BESIDE
#endif
	TRI_ROW
	const int m = (int)M, n = (int)N, k = (int)K, steps = (k + 15) / 16, lid = (int)get_local_id(0), panels = (n + 31) / 32;
	const int panel = group % panels;
#if 0
	const int down = (m + 1 - 1) / 1, own = group / panels / down, row = group / panels % down * 1;
	const int begin = own * ((int)terms / 16), end = min(steps, begin + (int)terms / 16), result = own * m;
#else
	const int row = group / panels * 1, begin = 0, end = steps, result = 0;
#endif
	const int shift = n - panel * 32 > 16 ? 3 : 2; /* a step is 2^shift quads of columns */
	global const uint4 *w = (global const uint4 *)(pw + ow) + (long)panel * 8 * steps;
	TRI_X_SPACE const uint *x = (TRI_X_SPACE const uint *)TRI_X;
#if defined(TRI_MMA_NVIDIA) && 1 == 4
	TRI_SHARED uint spare[2 * TRI_MMA_SPARE + 1];
	if (row % 16 != 0)
		return;
	const int lane = lid % 32, part = lid / 32, own_quad = min(lane / 4, (1 << shift) - 1);
	const long at[2] = {(long)min(row + lane / 4, m - 1) * k, (long)min(row + lane / 4 + 8, m - 1) * k};
	int sum[4][4];
#pragma unroll
	for (int i = 0; i < 16; i++)
		sum[i / 4][i % 4] = 0;
	for (int next = begin; next < end; next += 32) {
		const int s = next + 4 * part + lane % 4, last = min(s, end - 1);
		const uint4 v = w[(last << shift) + own_quad];
		uint a[2][4];
		if (k % 16 == 0) {
#pragma unroll
			for (int i = 0; i < 2; i++) {
				const uint4 words = ((TRI_X_SPACE const uint4 *)x)[(at[i] >> 4) + last];
				a[i][0] = words.s0, a[i][1] = words.s1, a[i][2] = words.s2, a[i][3] = words.s3;
			}
		} else {
#pragma unroll 1
			for (int i = 0; i < 8; i++) {
				const uint word = tri_word(x, (i < 4 ? at[0] : at[1]) + 16 * last + i % 4 * 4, k - 16 * last - i % 4 * 4);
#pragma unroll
				for (int j = 0; j < 8; j++)
					a[j / 4][j % 4] = i == j ? word : a[j / 4][j % 4];
			}
		}
#pragma unroll
		for (int i = 0; i < 8; i++)
			a[i / 4][i % 4] = s < end ? a[i / 4][i % 4] : 0;
#pragma unroll
		for (int h = 0; h < 4; h += 2) {
			tri_mma(sum[0], a[0][h], a[1][h], a[0][h + 1], a[1][h + 1], tri_trits(v.s0, h), tri_trits(v.s0, h + 1), spare);
			tri_mma(sum[1], a[0][h], a[1][h], a[0][h + 1], a[1][h + 1], tri_trits(v.s1, h), tri_trits(v.s1, h + 1), spare);
			tri_mma(sum[2], a[0][h], a[1][h], a[0][h + 1], a[1][h + 1], tri_trits(v.s2, h), tri_trits(v.s2, h + 1), spare);
			tri_mma(sum[3], a[0][h], a[1][h], a[0][h + 1], a[1][h + 1], tri_trits(v.s3, h), tri_trits(v.s3, h + 1), spare);
		}
	}
#pragma unroll
	for (int i = 0; i < 4; i++)
		((local int4 *)parts)[part * 128 + lane / 4 * 8 + i / 2 * 64 + lane % 4 * 2 + i % 2] = TRI_VECTOR4(int, sum[0][i], sum[1][i], sum[2][i], sum[3][i]);
	barrier(CLK_LOCAL_MEM_FENCE);
	for (int r = part; r < 16 && row + r < m; r += 8) {
		local const int *of = (local const int *)parts + r * 32 + lane;
		const int total = ((of[0] + of[512]) + (of[1024] + of[1536])) + ((of[2048] + of[2560]) + (of[3072] + of[3584]));
		if (panel * 32 + lane < n)
			TRI_STORE(0, (long)(result + row + r), (long)(panel * 32 + lane), total);
	}
#else
	const int quad = lid & ((1 << shift) - 1), width = 4 << shift, blocks = TRI_READS && !(0 && TRI_COUNTS_ROWS) && shift == 3 && k % 32 == 0;
	int4 sum[1];
#pragma unroll
	for (int r = 0; r < 1; r++)
		sum[r] = 0;
	if (blocks) {
		for (int s = begin + 2 * TRI_UNIFORM(lid / 16); s < end; s += 32) {
			const uint4 v = tri_block_words((global const uint *)(w + (s << 3)));
#pragma unroll
			for (int r = 0; r < 1; r++) {
				TRI_X_SPACE const uint4 *own = (TRI_X_SPACE const uint4 *)x + (long)min(row + r, m - 1) * steps + s;
				sum[r] = tri_dot_trits(sum[r], v, own[0], own[1]);
			}
		}
	} else if (k % 16 == 0) {
#if 0 && TRI_COUNTS_ROWS
		for (int s = begin + (lid >> shift); s < end; s += 512 >> shift) { /* this step, and the one that is half a turn behind it */
			const int after = s + (256 >> shift), last = min(after, end - 1);
			const uint4 v = w[(s << shift) + quad], u = w[(last << shift) + quad], some = ~TRI_PLANE_0(v, u), sign = ~TRI_PLANE_1(v, u);
#pragma unroll
			for (int r = 0; r < 1; r++) {
				TRI_X_SPACE const uint4 *own = (TRI_X_SPACE const uint4 *)x + (long)min(row + r, m - 1) * steps;
				const uint a = tri_fields(own[s]), b = after < end ? tri_fields(own[last]) : 0;
				const uint nonzero = TRI_PLANE_0(a, b), negative = TRI_PLANE_1(a, b);
				sum[r] += TRI_VECTOR4(int, tri_count(nonzero & some.s0, negative ^ sign.s0, 0, 0), tri_count(nonzero & some.s1, negative ^ sign.s1, 0, 0),
						      tri_count(nonzero & some.s2, negative ^ sign.s2, 0, 0), tri_count(nonzero & some.s3, negative ^ sign.s3, 0, 0));
			}
		}
#else
		for (int s = begin + (lid >> shift); s < end; s += 256 >> shift) {
			const uint4 v = w[(s << shift) + quad];
#pragma unroll
			for (int r = 0; r < 1; r++) {
				const uint4 a = ((TRI_X_SPACE const uint4 *)x)[(long)min(row + r, m - 1) * steps + s];
				sum[r] = tri_dot_trits(sum[r], v, a, a);
			}
		}
#endif
	}
#ifndef TRI_WHOLE_STEPS
	else {
		for (int s = begin + (lid >> shift); s < end; s += 256 >> shift) {
			const uint4 v = w[(s << shift) + quad];
#pragma unroll 1
			for (int i = 0; i < 4 * 1; i++) { /* field i / ROWS of row i % ROWS */
				const int r = i % 1, at = s * 16 + i / 1 * 4;
				const uint a = tri_word(x, (long)min(row + r, m - 1) * k + at, k - at);
				const uint4 t = v >> i / 1 * 2 & 0x03030303u;
				const int less = tri_dot4(a, 0xffffffffu, 0);
				const int4 add = TRI_VECTOR4(int, tri_dot4(a, t.s0, less), tri_dot4(a, t.s1, less), tri_dot4(a, t.s2, less), tri_dot4(a, t.s3, less));
#pragma unroll
				for (int j = 0; j < 1; j++)
					sum[j] += r == j ? add : (int4)0;
			}
		}
	}
#endif
#pragma unroll
	for (int r = 0; r < 1; r++) {
		local int *own = parts[r] + (lid & ~15) * 4 + lid % 16;
		if (blocks)
			own[0] = sum[r].s0, own[16] = sum[r].s1, own[32] = sum[r].s2, own[48] = sum[r].s3;
		else
			((local int4 *)parts[r])[lid] = sum[r];
	}
	barrier(CLK_LOCAL_MEM_FENCE);
	const int column = lid & (width - 1), from = (lid & ~(width - 1)) * 4 + column;
	int part[1];
#pragma unroll
	for (int r = 0; r < 1; r++)
		part[r] = (parts[r][from] + parts[r][from + width]) + (parts[r][from + 2 * width] + parts[r][from + 3 * width]);
	barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
	for (int r = 0; r < 1; r++)
		parts[r][lid] = part[r];
	barrier(CLK_LOCAL_MEM_FENCE);
	for (int r = lid / width; r < 1 && row + r < m; r += 256 / width) {
		int total = 0;
		for (int i = column; i < 256; i += width)
			total += parts[r][i];
		if (panel * 32 + column < n)
			TRI_STORE(0, (long)(result + row + r), (long)(panel * 32 + column), total);
	}
#endif
}
#undef TRI_NAME
#undef TRI_BUFFERS
#undef TRI_DIMS
#undef TRI_STORE
#undef TRI_BESIDE
#undef TRI_ROW
#undef TRI_X
#undef TRI_X_SPACE
#undef TRI_WHOLE_STEPS

kernel void beside_k4(global uchar *p2, ulong o2, global uchar *p5, ulong o5, long n0)
{
	global float *b2 = (global float *)(p2 + o2);
	global float *b5 = (global float *)(p5 + o5);
	long g = (long)get_global_id(0);
	if (g >= 24 * n0)
		return;
	const long i1 = g % n0;
	g /= n0;
	const long i0 = g;
	const float v0 = b2[i0 + i1 * 24];
	b5[i0 * n0 + i1] = v0;
}

