/* y float [M, N] = x float [M, K] · w float PANELS [K, N], by the tiles of tile.cl. Work items: ceil(M / TRI_ROWS) · ceil(N / TRI_COLUMNS). */
#ifndef TRI_ROW_PANELS
#define TRI_ROW_PANELS
/* Adds a block of terms to the sums of one row. */
void tri_row_panels(global const float *x, global const float *w, const long K, const long N, const long n, const long from, const int terms, float16 *y)
{
	for (int p = 0; p < TRI_PANELS && n + p * 32 < N; p++) {
		const int halves = N - n - p * 32 > 16 ? 2 : 1;
		global const float *at = w + (n + p * 32) * K + from * halves * 16;
		float16 a = y[p * 2 * TRI_ROWS], b = y[p * 2 * TRI_ROWS + 1];
		if (halves == 2) {
			float16 c = 0, d = 0; /* of odd terms */
			int k = 0;
			for (; k + 2 <= terms; k += 2) {
				a = fma((float16)(x[k]), vload16(2 * k, at), a);
				b = fma((float16)(x[k]), vload16(2 * k + 1, at), b);
				c = fma((float16)(x[k + 1]), vload16(2 * k + 2, at), c);
				d = fma((float16)(x[k + 1]), vload16(2 * k + 3, at), d);
			}
			if (k < terms) {
				a = fma((float16)(x[k]), vload16(2 * k, at), a);
				b = fma((float16)(x[k]), vload16(2 * k + 1, at), b);
			}
			a += c;
			b += d;
		} else {
			for (int k = 0; k < terms; k++)
				a = fma((float16)(x[k]), vload16(k, at), a);
		}
		y[p * 2 * TRI_ROWS] = a, y[p * 2 * TRI_ROWS + 1] = b;
	}
}
#endif
#ifndef TRI_NAME /* without an epilogue */
#define TRI_NAME tri_matmul_f32_panels
#define TRI_BUFFERS , global uchar *py, ulong oy
#define TRI_DIMS
#define TRI_STORE(batch, row, column, value) ((global float *)(py + oy))[(row) * N + (column)] = (value)
#define TRI_STORE16(batch, row, column, value) vstore16(value, 0, (global float *)(py + oy) + (row) * N + (column))
#endif
kernel void TRI_NAME(global uchar *px, ulong ox, global uchar *pw, ulong ow TRI_BUFFERS, TRI_FIELDS TRI_DIMS)
{
	const long parts = (M + TRI_ROWS - 1) / TRI_ROWS, g = (long)get_global_id(0);
	const long n = g / max(parts, 1L) * TRI_COLUMNS;
	if (M == 0 || n >= N)
		return;
	const long m = tri_part(M, parts, g % parts);
	const int rows = tri_part(M, parts, g % parts + 1) - m;
	global const float *x = (global const float *)(px + ox) + m * K;
	global const float *w = (global const float *)(pw + ow);
	float xs[TRI_X];
	float16 ws[TRI_W], ys[TRI_Y];
	tri_tile_clear(ys, rows);
	for (long from = 0; from < K; from += TRI_TERMS) {
		const int terms = min(K - from, (long)TRI_TERMS);
		if (rows == 1) { /* w is read once: where it is */
			tri_row_panels(x + from, w, K, N, n, from, terms, ys);
			continue;
		}
		for (int r = 0; r < rows; r++)
			tri_copy_f32(x + r * K + from, terms, xs + r * TRI_TERMS);
		tri_copy_panels_f32(w, K, N, n, from, terms, ws);
		tri_tile(xs, ws, rows, N - n, terms, ys);
	}
	for (int r = 0; r < rows; r++)
		TRI_STORE_ROW(float, 0, m + r, n, N, ys, r)
}
#undef TRI_NAME
#undef TRI_BUFFERS
#undef TRI_DIMS
#undef TRI_STORE
#undef TRI_STORE16
