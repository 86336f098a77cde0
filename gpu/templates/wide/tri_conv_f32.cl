/* y float [batch, P, out] = x float [batch, height, width, channels] convolved in groups with w WINDOW_PANELS, where P = out_height · out_width, by the tiles of
 * tile.cl: windows are copied as rows of a product. A work item computes
 * TRI_COLUMNS channels of at most TRI_POSITIONS_HIGH by TRI_POSITIONS_WIDE positions. */
#ifndef TRI_NAME /* without an epilogue */
#define TRI_NAME tri_conv_f32
#define TRI_BUFFERS , global uchar *py, ulong oy
#define TRI_DIMS
#define TRI_STORE(image, row, column, value) ((global float *)(py + oy))[((image) * P + (row)) * out + (column)] = (value)
#define TRI_STORE16(image, row, column, value) vstore16(value, 0, (global float *)(py + oy) + ((image) * P + (row)) * out + (column))
#endif
kernel void TRI_NAME(global uchar *px, ulong ox, global uchar *pw, ulong ow TRI_BUFFERS, TRI_FIELDS TRI_DIMS)
{
	const long P = out_height * out_width;
	struct tri_positions at;
	if (!tri_positions_at(&at, (long)get_global_id(0), batch, out, out_height, out_width))
		return;
	const struct tri_window window = {height, width, channels, kernel_width, dilation_height, dilation_width, group_channels, kernel_width * group_channels};
	const int K = kernel_height * window.run, wide = at.right - at.left, rows = (at.bottom - at.top) * wide;
	global const float *x = (global const float *)(px + ox) + at.image * height * width * channels;
	global const float *w = (global const float *)(pw + ow);
	const long group_out = group_channels > 0 ? out / (channels / group_channels) : out;
	float xs[TRI_X];
	float16 ws[TRI_W], own[TRI_Y], ys[TRI_Y];
	float16 *part = group_out == out ? ys : own; /* of the channels of a group */
	tri_tile_clear(ys, rows);
	for (long first = at.channel / group_out * group_out; first < min(out, at.channel + TRI_COLUMNS); first += group_out) {
		global const float *group = x + first / group_out * group_channels;
		tri_tile_clear(part, rows);
		for (int from = 0; from < K; from += TRI_TERMS) {
			const int terms = min(K - from, TRI_TERMS);
			for (int r = 0; r < rows; r++)
				tri_copy_window_f32(group, &window, (at.top + r / wide) * stride_height - pad_top,
						(at.left + r % wide) * stride_width - pad_left, from, terms, xs + r * TRI_TERMS);
			tri_copy_panels_f32(w, K, out, at.channel, from, terms, ws);
			tri_tile(xs, ws, rows, out - at.channel, terms, part);
		}
		if (part == own)
			tri_tile_take(own, rows, first - at.channel, first + group_out - at.channel, ys);
	}
	for (int r = 0; r < rows; r++)
		TRI_STORE_ROW(float, at.image, (at.top + r / wide) * out_width + at.left + r % wide, at.channel, out, ys, r)
}
#undef TRI_NAME
#undef TRI_BUFFERS
#undef TRI_DIMS
#undef TRI_STORE
#undef TRI_STORE16
