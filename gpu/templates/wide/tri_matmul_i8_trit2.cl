/* y int [M, N] = x char [M, K] · w TRIT2 [K, N], exact, by the tiles of tile.cl: sums of TRI_EXACT terms are exact as float; beyond, they are added as int.
 * Work items: ceil(M / TRI_ROWS) · ceil(N / TRI_COLUMNS). */
#define TRI_EXACT (1 << 16)
#ifndef TRI_NAME /* without an epilogue */
#define TRI_NAME tri_matmul_i8_trit2
#define TRI_BUFFERS , global uchar *py, ulong oy
#define TRI_DIMS
#define TRI_STORE(batch, row, column, value) ((global int *)(py + oy))[(row) * N + (column)] = (value)
#define TRI_STORE16(batch, row, column, value) vstore16(value, 0, (global int *)(py + oy) + (row) * N + (column))
#endif
kernel void TRI_NAME(global uchar *px, ulong ox, global uchar *pw, ulong ow TRI_BUFFERS, TRI_FIELDS TRI_DIMS)
{
	const long parts = (M + TRI_ROWS - 1) / TRI_ROWS, g = (long)get_global_id(0);
	const long n = g / max(parts, 1L) * TRI_COLUMNS;
	if (M == 0 || n >= N)
		return;
	const long m = tri_part(M, parts, g % parts);
	const int rows = tri_part(M, parts, g % parts + 1) - m;
	global const char *x = (global const char *)(px + ox) + m * K;
	global const uint *w = (global const uint *)(pw + ow);
	float xs[TRI_X];
	float16 ws[TRI_W], ys[TRI_Y];
	int16 sums[TRI_Y];
	for (long first = 0; first == 0 || first < K; first += TRI_EXACT) {
		tri_tile_clear(ys, rows);
		for (long from = first; from < min(K, first + TRI_EXACT); from += TRI_TERMS) {
			const int terms = min(K - from, (long)TRI_TERMS);
			for (int r = 0; r < rows; r++)
				tri_copy_i8(x + r * K + from, terms, xs + r * TRI_TERMS);
			tri_copy_trits(w, K, N, n, from, terms, ws);
			tri_tile(xs, ws, rows, N - n, terms, ys);
		}
		tri_tile_to_int(ys, rows, first == 0, sums);
	}
	for (int r = 0; r < rows; r++)
		TRI_STORE_ROW(int, 0, m + r, n, N, sums, r)
}
#undef TRI_NAME
#undef TRI_BUFFERS
#undef TRI_DIMS
#undef TRI_STORE
#undef TRI_STORE16
