/* y int [batch, P, out] = x char [batch, height, width, out] convolved channel by channel with w TRIT2_WINDOWS, where P = out_height · out_width. A work item
 * computes TRI_COLUMNS channels of at most TRI_POSITIONS_HIGH by TRI_POSITIONS_WIDE positions, 16 channels of four positions at a time. */
#ifndef TRI_NAME /* without an epilogue */
#define TRI_NAME tri_depthwise_i8_trit2
#define TRI_BUFFERS , global uchar *py, ulong oy
#define TRI_DIMS
#define TRI_STORE(image, row, column, value) ((global int *)(py + oy))[((image) * P + (row)) * out + (column)] = (value)
#define TRI_STORE16(image, row, column, value) vstore16(value, 0, (global int *)(py + oy) + ((image) * P + (row)) * out + (column))
#endif
kernel void TRI_NAME(global uchar *px, ulong ox, global uchar *pw, ulong ow TRI_BUFFERS, TRI_FIELDS TRI_DIMS)
{
	const long P = out_height * out_width;
	struct tri_positions at;
	if (!tri_positions_at(&at, (long)get_global_id(0), batch, out, out_height, out_width))
		return;
	const struct tri_window window = {height, width, channels, kernel_width, dilation_height, dilation_width, 1, (kernel_width + 3) / 4 * 4};
	const int K = kernel_height * window.run;
	global const char *x = (global const char *)(px + ox) + at.image * height * width * channels;
	global const uint *w = (global const uint *)(pw + ow);
	for (long c = at.channel; c < min(out, at.channel + TRI_COLUMNS); c += 16)
		for (int row = at.top; row < at.bottom; row++)
			for (int column = at.left; column < at.right; column += 4) {
				const int n = min(at.right - column, 4);
				float16 sums[4];
				tri_depthwise_sums_i8(x + c, w, &window, K, out, c, row * stride_height - pad_top, column * stride_width - pad_left,
						  stride_width, n, sums);
				for (int i = 0; i < n; i++) {
					const int16 sum = convert_int16(sums[i]);
					if (c + 16 <= out) {
						TRI_STORE16(at.image, row * out_width + column + i, c, sum);
					} else {
						int lanes[16];
						vstore16(sum, 0, lanes);
						for (int k = 0; c + k < out; k++)
							TRI_STORE(at.image, row * out_width + column + i, c + k, lanes[k]);
					}
				}
			}
}
#undef TRI_NAME
#undef TRI_BUFFERS
#undef TRI_DIMS
#undef TRI_STORE
#undef TRI_STORE16
