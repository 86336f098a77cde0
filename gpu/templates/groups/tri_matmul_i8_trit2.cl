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
