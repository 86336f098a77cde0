/* y int [N, P, O] = x char [N, H, W, C] convolved with w TRIT2 [K, O], where P = OH · OW, exact. Input and result are channels-last. K is KH runs of
 * KW · C terms, each padded to a multiple of four. tri_matmul_i8_trit2.cl describes w. A work item computes one channel of one position; neighbours compute neighbouring channels.
 * Work items: N · P · O. */
#ifndef TRI_NAME /* without an epilogue */
#define TRI_NAME tri_conv_i8_trit2
#define TRI_BUFFERS , global uchar *py, ulong oy
#define TRI_DIMS
#define TRI_STORE(batch, row, column, value) ((global int *)(py + oy))[((batch) * P + (row)) * O + (column)] = (value)
#endif
kernel void TRI_NAME(global uchar *px, ulong ox, global uchar *pw, ulong ow TRI_BUFFERS, long N, long C, long H, long W, long O, long KH, long KW, long OH,
	long OW, long SH, long SW, long PT, long PL, long DH, long DW, long group_channels TRI_DIMS)
{
	const long P = OH * OW, run = (KW * C + 3) / 4 * 4, steps = (KH * run + 15) / 16;
	const long g = (long)get_global_id(0);
	if (g >= N * P * O)
		return;
	const long o = g % O, p = g / O % P, image = g / O / P, panel = o / 32;
	const long halves = O - panel * 32 > 16 ? 2 : 1;
	const long h = p / OW * SH - PT, v = p % OW * SW - PL;
	global const char *x = (global const char *)(px + ox) + image * H * W * C;
	global const uint *word = (global const uint *)(pw + ow) + panel * 32 * steps + o % 32;
	int sum = 0;
	for (long kh = 0; kh < KH; kh++)
		for (long kw = 0; kw < KW; kw++) {
			const long row = h + kh * DH, column = v + kw * DW;
			long k = kh * run + kw * C;
			if (row < 0 || row >= H || column < 0 || column >= W)
				continue;
			global const char *at = x + (row * W + column) * C;
			for (long c = 0; c < C; c++, k++) {
				const uint bits = word[k / 16 * halves * 16];
				sum += at[c] * ((int)(bits >> (8 * (k & 3) + 2 * (k >> 2 & 3)) & 3u) - 1);
			}
		}
	TRI_STORE(image, p, o, sum);
}
#undef TRI_NAME
#undef TRI_BUFFERS
#undef TRI_DIMS
#undef TRI_STORE
