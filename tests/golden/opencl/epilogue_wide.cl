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
/* y float [M, N] = x float [M, K] · w float [K, N]. A work item computes four rows of one column; neighbours read neighbouring columns. Sums are
 * computed in blocks of 64 terms, as in generated reductions. Work items: ceil(M / 4) · N. */
#ifndef TRI_NAME /* without an epilogue */
#define TRI_NAME tri_matmul_f32
#define TRI_BUFFERS , global uchar *py, ulong oy
#define TRI_DIMS
#define TRI_STORE(batch, row, column, value) ((global float *)(py + oy))[(row) * N + (column)] = (value)
#endif
kernel void TRI_NAME(global uchar *px, ulong ox, global uchar *pw, ulong ow TRI_BUFFERS, TRI_FIELDS TRI_DIMS)
{
	global const float *x = (global const float *)(px + ox);
	global const float *w = (global const float *)(pw + ow);
	const long g = (long)get_global_id(0);
	if (g >= (M + 3) / 4 * N)
		return;
	const long m = g / N * 4, n = g % N;
	global const float *x0 = x + m * K;
	global const float *x1 = x + min(m + 1, M - 1) * K;
	global const float *x2 = x + min(m + 2, M - 1) * K;
	global const float *x3 = x + min(m + 3, M - 1) * K;
	float4 sum = 0;
	for (long from = 0; from < K; from += 64) {
		const long to = min(from + 64, K);
		float4 part = 0;
		for (long k = from; k < to; k++)
			part += (float4)(x0[k], x1[k], x2[k], x3[k]) * w[k * N + n];
		sum += part;
	}
	TRI_STORE(0, m, n, sum.s0);
	if (m + 1 < M)
		TRI_STORE(0, m + 1, n, sum.s1);
	if (m + 2 < M)
		TRI_STORE(0, m + 2, n, sum.s2);
	if (m + 3 < M)
		TRI_STORE(0, m + 3, n, sum.s3);
}
#undef TRI_NAME
#undef TRI_BUFFERS
#undef TRI_DIMS
#undef TRI_STORE

