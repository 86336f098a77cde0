/* y float [M, N] = x float [M, K] · w TRIT2 [K, N]. The layout of w is that of tri_matmul_i8_trit2. A group of 128 items computes 64 rows and 64
 * columns, with trits as floats in local memory. From the first infinity or NaN of x on, numbers are not multiplied by a zero trit. */
#ifndef TRI_NAME /* without an epilogue */
#define TRI_NAME tri_matmul_f32_trit2
#define TRI_BUFFERS , global uchar *py, ulong oy
#define TRI_DIMS
#define TRI_STORE(batch, row, column, value) ((global float *)(py + oy))[(row) * N + (column)] = (value)
#endif
kernel TRI_GROUP(128) void TRI_NAME(global uchar *px, ulong ox, global uchar *pw, ulong ow TRI_BUFFERS, TRI_FIELDS TRI_DIMS)
{
	TRI_SHARED float tile[TRI_TILE_WORDS(8)] __attribute__((aligned(16)));
	TRI_SHARED volatile int special; /* x has an infinity or a NaN; volatile: not read before it is set */
	local float *lx = tile, *lw = tile + 16 * TRI_TILE_LINE(8);
	const int m = (int)M, n = (int)N, k = (int)K, steps = (k + 15) / 16, lid = (int)get_local_id(0), lane = lid % 16, line = lid / 16;
	const int across = (n + 63) / 64, column0 = (int)get_group_id(0) % across * 64, row0 = (int)get_group_id(0) / across * 64;
	const int column = min(column0 + lid % 64, n - 1), panel = column / 32, width = n - panel * 32 > 16 ? 32 : 16, half_of_step = lid / 64;
	global const uint *w = (global const uint *)(pw + ow) + (long)panel * 32 * steps + column % 32;
	global const float *x = (global const float *)(px + ox) + (long)row0 * k;
	int at[8], own = 0;
	uint bits = 0;
	if (lid == 0)
		special = 0;
	float xs[8], sum[8][4];
#pragma unroll
	for (int i = 0; i < 8; i++) {
		at[i] = (min(row0 + line + 8 * i, m - 1) - row0) * k;
		sum[i][0] = sum[i][1] = sum[i][2] = sum[i][3] = 0;
	}
	for (int next = 0;; next += 16) {
		if (next < k) {
			const int inside = next + lane < k, from = inside ? next + lane : 0;
#pragma unroll
			for (int i = 0; i < 8; i++)
				xs[i] = x[at[i] + from];
#pragma unroll
			for (int i = 0; i < 8; i++)
				xs[i] = inside ? xs[i] : 0;
#pragma unroll
			for (int i = 0; i < 8; i++)
				own |= tri_is_special(xs[i]);
			bits = w[next / 16 * width] >> 4 * half_of_step;
		}
		if (next > 0 && special)
			tri_tile_f32_trits_8(sum, lx, lw);
		else if (next > 0)
			tri_tile_f32_8(sum, lx, lw);
		if (next >= k)
			break;
		barrier(CLK_LOCAL_MEM_FENCE);
		if (own)
			special = 1;
#pragma unroll
		for (int i = 0; i < 8; i++)
			lx[lane * TRI_TILE_LINE(8) + line + 8 * i] = xs[i];
#pragma unroll
		for (int j = 0; j < 8; j++)
			lw[(8 * half_of_step + j) * 64 + lid % 64] = tri_trit(bits, j);
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
