/* y float [M, N] = x float [M, K] · w float PANELS [K, N]. backend/runtime/pack/f32_panels.h describes w. A work item computes four
 * rows of one column; neighbours read neighbouring columns. Sums are computed in blocks of 64 terms, as in generated reductions. Work items: ceil(M / 4) · N. */
#ifndef TRI_NAME /* without an epilogue */
#define TRI_NAME tri_matmul_f32_panels
#define TRI_BUFFERS , global uchar *py, ulong oy
#define TRI_DIMS
#define TRI_STORE(batch, row, column, value) ((global float *)(py + oy))[(row) * N + (column)] = (value)
#endif
kernel void TRI_NAME(global uchar *px, ulong ox, global uchar *pw, ulong ow TRI_BUFFERS, TRI_FIELDS TRI_DIMS)
{
	global const float *x = (global const float *)(px + ox);
	const long g = (long)get_global_id(0);
	if (g >= (M + 3) / 4 * N)
		return;
	const long m = g / N * 4, n = g % N;
	const long columns = N - n / 32 * 32 > 16 ? 32 : 16;
	global const float *w = (global const float *)(pw + ow) + n / 32 * 32 * K + n % 32;
	global const float *x0 = x + m * K;
	global const float *x1 = x + min(m + 1, M - 1) * K;
	global const float *x2 = x + min(m + 2, M - 1) * K;
	global const float *x3 = x + min(m + 3, M - 1) * K;
	float4 sum = 0;
	for (long from = 0; from < K; from += 64) {
		const long to = min(from + 64, K);
		float4 part = 0;
		for (long k = from; k < to; k++)
			part += (float4)(x0[k], x1[k], x2[k], x3[k]) * w[k * columns];
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
