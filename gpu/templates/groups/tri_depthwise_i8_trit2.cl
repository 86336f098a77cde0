/* y int [batch, P, out] = x char [batch, height, width, channels] convolved in groups with w TRIT2_WINDOWS, where P = out_height · out_width, exact.
 * tri_conv_i8_trit2.cl describes the sizes. A work item computes one channel of one position. Work items: batch · P · out. */
#ifndef TRI_NAME /* without an epilogue */
#define TRI_NAME tri_depthwise_i8_trit2
#define TRI_BUFFERS , global uchar *py, ulong oy
#define TRI_DIMS
#define TRI_STORE(image, row, column, value) ((global int *)(py + oy))[((image) * P + (row)) * out + (column)] = (value)
#endif
kernel void TRI_NAME(global uchar *px, ulong ox, global uchar *pw, ulong ow TRI_BUFFERS, TRI_FIELDS TRI_DIMS)
{
	const long P = out_height * out_width, run = (kernel_width * group_channels + 3) / 4 * 4, steps = (kernel_height * run + 15) / 16;
	const long g = (long)get_global_id(0);
	if (g >= batch * P * out)
		return;
	const long o = g % out, p = g / out % P, image = g / out / P, panel = o / 32;
	const long halves = out - panel * 32 > 16 ? 2 : 1, group_out = group_channels > 0 ? out / (channels / group_channels) : out;
	const long h = p / out_width * stride_height - pad_top, v = p % out_width * stride_width - pad_left;
	global const char *x = (global const char *)(px + ox) + image * height * width * channels + o / group_out * group_channels;
	global const uint *word = (global const uint *)(pw + ow) + panel * 32 * steps + o % (halves * 16);
	int sum = 0;
	for (long kh = 0; kh < kernel_height; kh++)
		for (long kw = 0; kw < kernel_width; kw++) {
			const long row = h + kh * dilation_height, column = v + kw * dilation_width;
			long k = kh * run + kw * group_channels;
			if (row < 0 || row >= height || column < 0 || column >= width)
				continue;
			global const char *at = x + (row * width + column) * channels;
			for (long c = 0; c < group_channels; c++, k++) {
				const uint trit = word[k / 16 * halves * 16] >> (8 * (k & 3) + 2 * (k >> 2 & 3)) & 3u;
				sum += at[c] * ((int)trit - 1);
			}
		}
	TRI_STORE(image, p, o, sum);
}
#undef TRI_NAME
#undef TRI_BUFFERS
#undef TRI_DIMS
#undef TRI_STORE
