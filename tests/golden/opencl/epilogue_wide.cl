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
/* y float [images, M, N] = x float [images, M, K] · packed w [K, N], by the tiles of tile.cl. A work item computes TRI_COLUMNS columns of at most TRI_ROWS rows. */
#ifndef TRI_NAME /* without an epilogue */
#define TRI_NAME tri_matmul_f32
#define TRI_BUFFERS , global uchar *py, ulong oy
#define TRI_DIMS
#define TRI_STORE(image, row, column, value) ((global float *)(py + oy))[((image) * M + (row)) * N + (column)] = (value)
#define TRI_STORE16(image, row, column, value) vstore16(value, 0, (global float *)(py + oy) + ((image) * M + (row)) * N + (column))
#endif
kernel void TRI_NAME(global uchar *px, ulong ox, global uchar *pw, ulong ow TRI_BUFFERS, TRI_FIELDS TRI_DIMS)
{
	const long images = 1;
	const long parts = (M + TRI_ROWS - 1) / TRI_ROWS, blocks = (N + TRI_COLUMNS - 1) / TRI_COLUMNS, g = (long)get_global_id(0);
	if (g >= images * blocks * parts)
		return;
	const long image = g / blocks / parts, part = g / blocks % parts, n = g % blocks * TRI_COLUMNS, m = tri_part(M, parts, part);
	const int rows = tri_part(M, parts, part + 1) - m;
	global const float *x = (global const float *)(px + ox) + (image * M + m) * K;
	global const float *w = (global const float *)(pw + ow);
	float16 ys[TRI_Y];
	tri_clear_float(ys, rows, N - n);
	for (long from = 0; from < K; from += TRI_TERMS)
		tri_add_plain_f32(x + from, w, K, N, n, from, rows, min(K - from, (long)TRI_TERMS), ys);
	for (int r = 0; r < rows; r++)
		TRI_STORE_ROW(float, image, m + r, n, N, ys, r)
}
#undef TRI_NAME
#undef TRI_BUFFERS
#undef TRI_DIMS
#undef TRI_STORE
#undef TRI_STORE16

