/* y float [M, N] = x float [M, K] · w TRIT2 [K, N], without multiplications. The layout of w and the work items are those of tri_matmul_i8_trit2.cl. Sums are
 * computed in blocks of 64 terms, as in generated reductions. */

#ifndef TRI_MATMUL_F32_TRIT2
#define TRI_MATMUL_F32_TRIT2
/* Returns x if the trit (stored as trit + 1) is 1, -x if it is -1, else 0. */
float4 tri_f32_signed(float4 x, uint trit)
{
	return trit == 2 ? x : trit == 0 ? -x : (float4)0.0f;
}
#endif

#ifndef TRI_NAME /* without an epilogue */
#define TRI_NAME tri_matmul_f32_trit2
#define TRI_BUFFERS , global uchar *py, ulong oy
#define TRI_DIMS
#define TRI_STORE(batch, row, column, value) ((global float *)(py + oy))[(row) * N + (column)] = (value)
#endif
kernel void TRI_NAME(global uchar *px, ulong ox, global uchar *pw, ulong ow TRI_BUFFERS, TRI_FIELDS TRI_DIMS)
{
	global const float *x = (global const float *)(px + ox);
	global const uint *w = (global const uint *)(pw + ow);
	const long g = (long)get_global_id(0);
	if (g >= (M + 3) / 4 * N)
		return;
	const long m = g / N * 4, n = g % N, steps = (K + 15) / 16, panel = n / 32;
	const long halves = N - panel * 32 > 16 ? 2 : 1;
	global const uint *word = w + panel * 32 * steps + n % 32;
	global const float *x0 = x + m * K;
	global const float *x1 = x + min(m + 1, M - 1) * K;
	global const float *x2 = x + min(m + 2, M - 1) * K;
	global const float *x3 = x + min(m + 3, M - 1) * K;
	float4 sum = 0, part = 0;
	for (long s = 0; s < steps; s++) {
		const uint bits = word[s * halves * 16];
		const long rest = min(K - s * 16, (long)16);
		for (int i = 0; i < rest; i++) { /* byte i % 4, field i / 4 */
			const long k = s * 16 + i;
			part += tri_f32_signed((float4)(x0[k], x1[k], x2[k], x3[k]), bits >> (8 * (i & 3) + 2 * (i >> 2)) & 3u);
		}
		if ((s & 3) == 3) {
			sum += part;
			part = 0;
		}
	}
	sum += part;
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
