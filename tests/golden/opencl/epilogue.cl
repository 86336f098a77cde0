constant float epilogue_c3[8] __attribute__((aligned(32))) = {0.5f, (-1.0f), 0.0f, 9.99999968e-21f, 3.0f, 0.100000001f, (-0.0f), 65536.0f};

void epilogue_e0(long i0, long i1, long i2, float t, global uchar *p2, ulong o2, long n0)
{
	global float *b2 = (global float *)(p2 + o2);
	const float v0 = t;
	const float v1 = epilogue_c3[i2];
	const float v2 = 0.0f;
	const float v3 = v0 + v1;
	const float v4 = tri_max_float(v3, v2);
	b2[i1 * 8 + i2] = v4;
}

#undef TRI_FIELDS
#define TRI_FIELDS long M, long K, long N
#define TRI_NAME epilogue_k0
#define TRI_BUFFERS , global uchar *p2, ulong o2
#define TRI_DIMS , long n0
#define TRI_STORE(batch, row, column, value) epilogue_e0(batch, row, column, value, p2, o2, n0)
/* tri_matmul_f32 for few rows: a group of 256 items computes 1 x 32 elements. Neighbours read neighbouring columns. Eight items divide the k of a column; their
 * sums are added in local memory. Where it is split, groups divide the k, too, and leave their sums one behind the other. */
#ifndef TRI_NAME /* without an epilogue */
#define TRI_NAME tri_matmul_f32_rows1
#define TRI_BUFFERS , global uchar *py, ulong oy
#define TRI_DIMS
#define TRI_STORE(batch, row, column, value) ((global float *)(py + oy))[(row) * N + (column)] = (value)
#endif
#ifndef TRI_ROW /* the rows are in memory */
#define TRI_ROW
#define TRI_X (px + ox)
#define TRI_X_SPACE global
#endif
kernel TRI_SUB_GROUPS(256) void TRI_NAME(global uchar *px, ulong ox, global uchar *pw, ulong ow TRI_BUFFERS, TRI_FIELDS
#if 0
	, long terms
#endif
	TRI_DIMS)
{
	TRI_SHARED float parts[1][256];
	int group = (int)get_group_id(0);
#ifdef TRI_BESIDE
	int which = 0;
	TRI_BESIDE
#endif
	TRI_ROW
	const int m = (int)M, n = (int)N, k = (int)K, lid = (int)get_local_id(0), across = (n + 31) / 32;
#if 0
	const int down = (m + 1 - 1) / 1, part = group / across / down, row = group / across % down * 1;
	const int begin = part * (int)terms, end = min(k, begin + (int)terms), result = part * m;
#else
	const int row = group / across * 1, begin = 0, end = k, result = 0;
#endif
	const int panel = group % across, column = panel * 32 + lid % 32, first = TRI_UNIFORM(lid / 32);
#if 0 /* in blocks (tile.cl) */
	const int step = n - panel * 32 > 16 ? 32 : 16;
	global const float *w = (global const float *)(pw + ow) + (long)panel * 32 * k + (TRI_UNIFORM(lid % 32 / 16 * 16) & (step - 1)) + (long)(begin + first) * step;
#else
	const int step = n;
	global const float *w = (global const float *)(pw + ow) + min(column, n - 1) + (long)(begin + first) * step;
#endif
	TRI_X_SPACE const float *x[1];
	float sum[1];
#pragma unroll
	for (int r = 0; r < 1; r++) {
		x[r] = (TRI_X_SPACE const float *)TRI_X + (long)min(row + r, m - 1) * k + first;
		sum[r] = 0;
	}
	int i = begin;
	for (; i + 56 + first < end; i += 64, w += 64 * (long)step) {
		float ws[8];
#pragma unroll
		for (int j = 0; j < 8; j++) {
			const long at = 8 * j * (long)step;
			ws[j] = w[at];
		}
#pragma unroll
		for (int j = 0; j < 8; j++)
#pragma unroll
			for (int r = 0; r < 1; r++)
				sum[r] = fma(x[r][i + 8 * j], ws[j], sum[r]);
	}
	for (; i + first < end; i += 8, w += 8 * (long)step) {
		const int at = 0;
		const float weight = w[at];
#pragma unroll
		for (int r = 0; r < 1; r++)
			sum[r] = fma(x[r][i], weight, sum[r]);
	}
#pragma unroll
	for (int r = 0; r < 1; r++)
		parts[r][lid] = sum[r];
	barrier(CLK_LOCAL_MEM_FENCE);
	if (lid < 32 * 1 && row + lid / 32 < m && column < n) {
		local const float *part = parts[lid / 32] + lid % 32;
		TRI_STORE(0, (long)(result + row + lid / 32), (long)column,
			  ((part[0] + part[32]) + (part[64] + part[96])) + ((part[128] + part[160]) + (part[192] + part[224])));
	}
}
#undef TRI_NAME
#undef TRI_BUFFERS
#undef TRI_DIMS
#undef TRI_STORE
#undef TRI_BESIDE
#undef TRI_ROW
#undef TRI_X
#undef TRI_X_SPACE

#define TRI_NAME epilogue_k0_1
#define TRI_BUFFERS , global uchar *p2, ulong o2
#define TRI_DIMS , long n0
#define TRI_STORE(batch, row, column, value) epilogue_e0(batch, row, column, value, p2, o2, n0)
/* tri_matmul_f32 for few rows: a group of 256 items computes 4 x 32 elements. Neighbours read neighbouring columns. Eight items divide the k of a column; their
 * sums are added in local memory. Where it is split, groups divide the k, too, and leave their sums one behind the other. */
#ifndef TRI_NAME /* without an epilogue */
#define TRI_NAME tri_matmul_f32_rows4
#define TRI_BUFFERS , global uchar *py, ulong oy
#define TRI_DIMS
#define TRI_STORE(batch, row, column, value) ((global float *)(py + oy))[(row) * N + (column)] = (value)
#endif
#ifndef TRI_ROW /* the rows are in memory */
#define TRI_ROW
#define TRI_X (px + ox)
#define TRI_X_SPACE global
#endif
kernel TRI_SUB_GROUPS(256) void TRI_NAME(global uchar *px, ulong ox, global uchar *pw, ulong ow TRI_BUFFERS, TRI_FIELDS
#if 0
	, long terms
#endif
	TRI_DIMS)
{
	TRI_SHARED float parts[4][256];
	int group = (int)get_group_id(0);
#ifdef TRI_BESIDE
	int which = 0;
	TRI_BESIDE
#endif
	TRI_ROW
	const int m = (int)M, n = (int)N, k = (int)K, lid = (int)get_local_id(0), across = (n + 31) / 32;
#if 0
	const int down = (m + 4 - 1) / 4, part = group / across / down, row = group / across % down * 4;
	const int begin = part * (int)terms, end = min(k, begin + (int)terms), result = part * m;
#else
	const int row = group / across * 4, begin = 0, end = k, result = 0;
#endif
	const int panel = group % across, column = panel * 32 + lid % 32, first = TRI_UNIFORM(lid / 32);
#if 0 /* in blocks (tile.cl) */
	const int step = n - panel * 32 > 16 ? 32 : 16;
	global const float *w = (global const float *)(pw + ow) + (long)panel * 32 * k + (TRI_UNIFORM(lid % 32 / 16 * 16) & (step - 1)) + (long)(begin + first) * step;
#else
	const int step = n;
	global const float *w = (global const float *)(pw + ow) + min(column, n - 1) + (long)(begin + first) * step;
#endif
	TRI_X_SPACE const float *x[4];
	float sum[4];
#pragma unroll
	for (int r = 0; r < 4; r++) {
		x[r] = (TRI_X_SPACE const float *)TRI_X + (long)min(row + r, m - 1) * k + first;
		sum[r] = 0;
	}
	int i = begin;
	for (; i + 56 + first < end; i += 64, w += 64 * (long)step) {
		float ws[8];
#pragma unroll
		for (int j = 0; j < 8; j++) {
			const long at = 8 * j * (long)step;
			ws[j] = w[at];
		}
#pragma unroll
		for (int j = 0; j < 8; j++)
#pragma unroll
			for (int r = 0; r < 4; r++)
				sum[r] = fma(x[r][i + 8 * j], ws[j], sum[r]);
	}
	for (; i + first < end; i += 8, w += 8 * (long)step) {
		const int at = 0;
		const float weight = w[at];
#pragma unroll
		for (int r = 0; r < 4; r++)
			sum[r] = fma(x[r][i], weight, sum[r]);
	}
#pragma unroll
	for (int r = 0; r < 4; r++)
		parts[r][lid] = sum[r];
	barrier(CLK_LOCAL_MEM_FENCE);
	if (lid < 32 * 4 && row + lid / 32 < m && column < n) {
		local const float *part = parts[lid / 32] + lid % 32;
		TRI_STORE(0, (long)(result + row + lid / 32), (long)column,
			  ((part[0] + part[32]) + (part[64] + part[96])) + ((part[128] + part[160]) + (part[192] + part[224])));
	}
}
#undef TRI_NAME
#undef TRI_BUFFERS
#undef TRI_DIMS
#undef TRI_STORE
#undef TRI_BESIDE
#undef TRI_ROW
#undef TRI_X
#undef TRI_X_SPACE

#define TRI_NAME epilogue_k0_2
#define TRI_BUFFERS , global uchar *p2, ulong o2
#define TRI_DIMS , long n0
#define TRI_STORE(batch, row, column, value) epilogue_e0(batch, row, column, value, p2, o2, n0)
/* y float [M, N] = x float [M, K] · w float [K, N]. A group of 128 items computes 64 rows and 64 columns. It reads the next 16 k while it multiplies
 * those in local memory. */
#ifndef TRI_NAME /* without an epilogue */
#define TRI_NAME tri_matmul_f32
#define TRI_BUFFERS , global uchar *py, ulong oy
#define TRI_DIMS
#define TRI_STORE(batch, row, column, value) ((global float *)(py + oy))[(row) * N + (column)] = (value)
#endif
kernel TRI_GROUP(128) void TRI_NAME(global uchar *px, ulong ox, global uchar *pw, ulong ow TRI_BUFFERS, TRI_FIELDS TRI_DIMS)
{
	TRI_SHARED float tile[TRI_TILE_WORDS(8)] __attribute__((aligned(16)));
	local float *lx = tile, *lw = tile + 16 * TRI_TILE_LINE(8);
	const int m = (int)M, n = (int)N, k = (int)K, lid = (int)get_local_id(0), lane = lid % 16, line = lid / 16, first = lid / 64;
	const int across = (n + 63) / 64, column0 = (int)get_group_id(0) % across * 64, row0 = (int)get_group_id(0) / across * 64;
	const int column = min(column0 + lid % 64, n - 1), panel = column / 32, step = 0 ? (n - panel * 32 > 16 ? 32 : 16) : n;
	global const float *w = (global const float *)(pw + ow) + (0 ? (long)panel * 32 * k + column % 32 : (long)column);
	global const float *x = (global const float *)(px + ox) + (long)row0 * k;
	int at[8];
	float xs[8], ws[8], sum[8][4];
#pragma unroll
	for (int i = 0; i < 8; i++) {
		at[i] = (min(row0 + line + 8 * i, m - 1) - row0) * k;
		sum[i][0] = sum[i][1] = sum[i][2] = sum[i][3] = 0;
	}
	for (int next = 0;; next += 16, w += 16 * (long)step) {
		if (next < k) {
			const int inside = next + lane < k, from = inside ? next + lane : 0;
#pragma unroll
			for (int i = 0; i < 8; i++)
				xs[i] = x[at[i] + from];
#pragma unroll
			for (int i = 0; i < 8; i++)
				xs[i] = inside ? xs[i] : 0;
			if (next + 16 <= k) {
#pragma unroll
				for (int j = 0; j < 8; j++) {
					const int at = (first + 2 * j) * step;
					ws[j] = w[at];
				}
			} else {
#pragma unroll
				for (int j = 0; j < 8; j++) {
					const int at = (first + 2 * j) * step;
					ws[j] = next + first + 2 * j < k ? w[at] : 0;
				}
			}
		}
		if (next > 0)
			tri_tile_f32_8(sum, lx, lw);
		if (next >= k)
			break;
		barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
		for (int i = 0; i < 8; i++)
			lx[lane * TRI_TILE_LINE(8) + line + 8 * i] = xs[i];
#pragma unroll
		for (int j = 0; j < 8; j++)
			lw[(first + 2 * j) * 64 + lid % 64] = ws[j];
		barrier(CLK_LOCAL_MEM_FENCE);
	}
#pragma unroll
	for (int part = 0; part < 2; part++) {
		tri_tile_f32_8_part(sum, tile, part);
		for (int r = lid / 64; r < 32; r += 2)
			if (row0 + 32 * part + r < m && column0 + lid % 64 < n)
				TRI_STORE(0, (long)(row0 + 32 * part + r), (long)(column0 + lid % 64), tile[r * 64 + lid % 64]);
	}
}
#undef TRI_NAME
#undef TRI_BUFFERS
#undef TRI_DIMS
#undef TRI_STORE

