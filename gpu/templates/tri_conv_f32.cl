/* y float [N, O, P] = x float [N, C, H, W] convolved with w float [O, K], where P = OH · OW and K = C · KH · KW. A work item computes four output channels
 * of one position; neighbours compute neighbouring positions. Padding is 0 and takes part in the sums, which are computed in blocks of 64 terms, as in
 * tri_matmul_f32.cl. Work items: N · ceil(O / 4) · P. */
#ifndef TRI_NAME /* without an epilogue */
#define TRI_NAME tri_conv_f32
#define TRI_BUFFERS , global uchar *py, ulong oy
#define TRI_DIMS
#define TRI_STORE(batch, row, column, value) ((global float *)(py + oy))[((batch) * O + (row)) * P + (column)] = (value)
#endif
kernel void TRI_NAME(global uchar *px, ulong ox, global uchar *pw, ulong ow TRI_BUFFERS, long N, long C, long H, long W, long O, long KH, long KW, long OH,
	long OW, long SH, long SW, long PT, long PL, long DH, long DW TRI_DIMS)
{
	const long P = OH * OW, K = C * KH * KW, blocks = (O + 3) / 4;
	const long g = (long)get_global_id(0);
	if (g >= N * blocks * P)
		return;
	const long image = g / P / blocks, o = g / P % blocks * 4, p = g % P;
	const long h = p / OW * SH - PT, v = p % OW * SW - PL;
	global const float *x = (global const float *)(px + ox) + image * C * H * W;
	global const float *w = (global const float *)(pw + ow);
	global const float *w0 = w + o * K;
	global const float *w1 = w + min(o + 1, O - 1) * K;
	global const float *w2 = w + min(o + 2, O - 1) * K;
	global const float *w3 = w + min(o + 3, O - 1) * K;
	float4 sum = 0;
	long c = 0, kh = 0, kw = 0;
	for (long from = 0; from < K; from += 64) {
		const long to = min(from + 64, K);
		float4 part = 0;
		for (long k = from; k < to; k++) {
			const long row = h + kh * DH, column = v + kw * DW;
			const bool inside = row >= 0 && row < H && column >= 0 && column < W;
			part += (float4)(w0[k], w1[k], w2[k], w3[k]) * (inside ? x[(c * H + row) * W + column] : 0.0f);
			if (++kw == KW) {
				kw = 0;
				if (++kh == KH) {
					kh = 0;
					c++;
				}
			}
		}
		sum += part;
	}
	TRI_STORE(image, o, p, sum.s0);
	if (o + 1 < O)
		TRI_STORE(image, o + 1, p, sum.s1);
	if (o + 2 < O)
		TRI_STORE(image, o + 2, p, sum.s2);
	if (o + 3 < O)
		TRI_STORE(image, o + 3, p, sum.s3);
}
#undef TRI_NAME
#undef TRI_BUFFERS
#undef TRI_DIMS
#undef TRI_STORE
