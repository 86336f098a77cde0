/* y float [batch, P, out] = x float [batch, height, width, channels] convolved in groups with w WINDOW_PANELS [K, out], where P = out_height · out_width and
 * K = kernel_height · kernel_width · group_channels. Input and result are channels-last; backend/runtime/pack/f32_panels.h describes w. A work item
 * computes one channel of one position; neighbours compute neighbouring channels. Work items: batch · P · out. */
#ifndef TRI_NAME /* without an epilogue */
#define TRI_NAME tri_conv_f32
#define TRI_BUFFERS , global uchar *py, ulong oy
#define TRI_DIMS
#define TRI_STORE(image, row, column, value) ((global float *)(py + oy))[((image) * P + (row)) * out + (column)] = (value)
#endif
kernel void TRI_NAME(global uchar *px, ulong ox, global uchar *pw, ulong ow TRI_BUFFERS, TRI_FIELDS TRI_DIMS)
{
	const long P = out_height * out_width, K = kernel_height * kernel_width * group_channels;
	const long g = (long)get_global_id(0);
	if (g >= batch * P * out)
		return;
	const long o = g % out, p = g / out % P, image = g / out / P, panel = o / 32;
	const long columns = out - panel * 32 > 16 ? 32 : 16, group_out = group_channels > 0 ? out / (channels / group_channels) : out;
	const long h = p / out_width * stride_height - pad_top, v = p % out_width * stride_width - pad_left;
	global const float *x = (global const float *)(px + ox) + image * height * width * channels + o / group_out * group_channels;
	global const float *w = (global const float *)(pw + ow) + panel * 32 * K + o % 32;
	float sum = 0;
	for (long kh = 0; kh < kernel_height; kh++)
		for (long kw = 0; kw < kernel_width; kw++) {
			const long row = h + kh * dilation_height, column = v + kw * dilation_width;
			if (row < 0 || row >= height || column < 0 || column >= width)
				continue;
			global const float *at = x + (row * width + column) * channels;
			global const float *k = w + (kh * kernel_width + kw) * group_channels * columns;
			float part = 0;
			for (long c = 0; c < group_channels; c++)
				part = fma(at[c], k[c * columns], part);
			sum += part;
		}
	TRI_STORE(image, p, o, sum);
}
#undef TRI_NAME
#undef TRI_BUFFERS
#undef TRI_DIMS
#undef TRI_STORE
