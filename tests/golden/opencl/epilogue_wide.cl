constant float epilogue_c3[8] = {0.5f, (-1.0f), 0.0f, 9.99999968e-21f, 3.0f, 0.100000001f, (-0.0f), 65536.0f};

static void epilogue_e0(long i0, long i1, long i2, float t, global uchar *p2, ulong o2, long n0)
{
	global float *b2 = (global float *)(p2 + o2);
	const float v0 = t;
	const float v1 = epilogue_c3[i2];
	const float v2 = 0.0f;
	const float v3 = v0 + v1;
	const float v4 = tri_max_float(v3, v2);
	b2[i1 * 8 + i2] = v4;
}

static void epilogue_e0_16(long i0, long i1, long i2, float16 t, global uchar *p2, ulong o2, long n0)
{
	global float *b2 = (global float *)(p2 + o2);
	const float16 v0 = t;
	const float16 v1 = *(constant tri_float16 *)(epilogue_c3 + i2);
	const float v2 = 0.0f;
	const float16 v3 = v0 + v1;
	const float16 v4 = tri_max_float16(v3, (float16)(v2));
	*(global tri_float16 *)(b2 + i1 * 8 + i2) = v4;
}

#undef TRI_FIELDS
#define TRI_FIELDS long M, long K, long N
#define TRI_NAME epilogue_k0
#define TRI_BUFFERS , global uchar *p2, ulong o2
#define TRI_DIMS , long n0
#undef TRI_STORE16
#define TRI_STORE16(batch, row, column, value) epilogue_e0_16(batch, row, column, value, p2, o2, n0)
#define TRI_STORE(batch, row, column, value) epilogue_e0(batch, row, column, value, p2, o2, n0)
/* y float [M, N] = x float [M, K] · w float [K, N], by the tiles of tile.cl. Work items: ceil(M / TRI_ROWS) · ceil(N / TRI_COLUMNS). */
#ifndef TRI_MATMUL_F32
#define TRI_MATMUL_F32
/* Returns n of 16 numbers, and 0 for the others. */
float16 tri_f32_some(global const float *w, const long n)
{
	float lanes[16];
	for (int i = 0; i < 16; i++)
		lanes[i] = i < n ? w[i] : 0;
	return vload16(0, lanes);
}

/* Copies rows of `columns` numbers, N apart, as panels. */
void tri_f32_copy_w(global const float *w, const long N, const long columns, const int rows, float16 *to)
{
	for (int k = 0; k < rows; k++)
		for (int h = 0; h < 2 * TRI_PANELS && h * 16 < columns; h++) {
			global const float *from = w + k * N + h * 16;
			to[h / 2 * 2 * TRI_TERMS + 2 * k + h % 2] = columns - h * 16 >= 16 ? vload16(0, from) : tri_f32_some(from, columns - h * 16);
		}
}
#endif

#ifndef TRI_NAME /* without an epilogue */
#define TRI_NAME tri_matmul_f32
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
	global const float *w = (global const float *)(pw + ow) + n;
	float xs[TRI_X];
	float16 ws[TRI_W], ys[TRI_Y];
	tri_clear_float(ys, rows);
	for (long from = 0; from < K; from += TRI_TERMS) {
		const int terms = min(K - from, (long)TRI_TERMS);
		for (int r = 0; r < rows; r++)
			tri_copy_float(x + r * K + from, terms, xs + r * TRI_TERMS);
		tri_f32_copy_w(w + from * N, N, N - n, terms, ws);
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

