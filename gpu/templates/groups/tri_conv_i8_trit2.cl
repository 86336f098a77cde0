/* y int [batch, P, out] = x char [batch, height, width, channels] convolved with w TRIT2 [K, out], where P = out_height · out_width, exact: a product of
 * matrices whose left one is read from where its values are. Input and result are channels-last. K is kernel_height runs of kernel_width · channels
 * terms, each padded to a multiple of four. tri_matmul_i8_trit2.cl describes w. A group of 128 items computes 32 positions of an image and 64 channels. */
#ifndef TRI_CONV_I8
#define TRI_CONV_I8
/* Returns terms t … t+3 of a run of a position: `at` is the byte of x where the run begins if nothing is dilated, `left` its column. */
TRI_FUNCTION uint tri_conv_word(global const uint *x, long at, int left, int t, int channels, int width, int kernel_width, int dilation)
{
	if (dilation == 1) { /* the run is one piece of memory, of which a part may be beside the image */
		const int from = clamp(-left * channels - t, 0, 4), to = clamp(min(width - left, kernel_width) * channels - t, 0, 4);
		return from < to ? tri_word(x, at + t + from, to - from) << 8 * from : 0;
	}
	uint v = 0;
	int kw = 0, end = channels; /* of the term's tap */
	for (int i = 0; i < 4; i++) {
		for (; t + i >= end; end += channels)
			kw++;
		const int column = left + kw * dilation;
		if (kw < kernel_width && column >= 0 && column < width)
			v |= tri_word(x, at + t + i + (long)kw * (dilation - 1) * channels, 1) << 8 * i;
	}
	return v;
}
#endif
#ifndef TRI_NAME /* without an epilogue */
#define TRI_NAME tri_conv_i8_trit2
#define TRI_BUFFERS , global uchar *py, ulong oy
#define TRI_DIMS
#define TRI_STORE(image, row, column, value) ((global int *)(py + oy))[((image) * out_height * out_width + (row)) * out + (column)] = (value)
#endif
kernel TRI_GROUP(128) void TRI_NAME(global uchar *px, ulong ox, global uchar *pw, ulong ow TRI_BUFFERS, TRI_FIELDS TRI_DIMS)
{
	TRI_SHARED uint tile[TRI_TILE_WORDS(4)] __attribute__((aligned(16)));
	local uint *lx = tile, *lw = tile + 16 * TRI_TILE_LINE(4);
	const int P = (int)(out_height * out_width), n = (int)out, c = (int)channels, across = (n + 63) / 64, down = (P + 31) / 32;
	const int run = ((int)kernel_width * c + 3) / 4 * 4, k = (int)kernel_height * run, steps = (k + 15) / 16;
	const int lid = (int)get_local_id(0), lane = lid % 16, line = lid / 16, step = lid / 64, group = (int)get_group_id(0);
	const int column0 = group % across * 64, row0 = group / across % down * 32, image = group / across / down;
	const int column = min(column0 + lid % 64, n - 1), panel = column / 32, panel_width = n - panel * 32 > 16 ? 32 : 16;
	const int H = (int)height, W = (int)width, dh = (int)dilation_height, dw = (int)dilation_width, kw_end = (int)kernel_width;
	global const uint *w = (global const uint *)(pw + ow) + (long)panel * 32 * steps + column % 32;
	global const uint *x = (global const uint *)(px + ox) + ((long)image * H * W * c >> 2);
	const int odd = (int)((long)image * H * W * c & 3);
	int top[4], left[4], sum[4][4];
	uint xs[4], ws[2];
#pragma unroll
	for (int i = 0; i < 4; i++) {
		const int p = min(row0 + line + 8 * i, P - 1);
		top[i] = p / (int)out_width * (int)stride_height - (int)pad_top;
		left[i] = p % (int)out_width * (int)stride_width - (int)pad_left;
		sum[i][0] = sum[i][1] = sum[i][2] = sum[i][3] = 0;
	}
	/* the term of this item's words in the next tile: of run kh, tap kw and channel t if whole words belong to a tap, else of its term t */
	int kh = 0, kw = 0, t = 4 * lane;
	for (int next = 0;; next += 64, t += 64) {
		if (next < k) {
#pragma unroll
			for (int j = 0; j < 2; j++)
				ws[j] = w[min(next / 16 + step + 2 * j, steps - 1) * panel_width];
			if (c % 4 == 0) {
				for (; t >= c; t -= c)
					if (++kw == kw_end)
						kw = 0, kh++;
				const int at = (kh * dh * W + kw * dw) * c + t;
				int in[4];
#pragma unroll
				for (int i = 0; i < 4; i++) {
					const int h = top[i] + kh * dh, v = left[i] + kw * dw;
					in[i] = next + 4 * lane < k && (uint)h < (uint)H && (uint)v < (uint)W;
					xs[i] = x[in[i] ? ((top[i] * W + left[i]) * c + at) >> 2 : 0];
				}
#pragma unroll
				for (int i = 0; i < 4; i++)
					xs[i] = in[i] ? xs[i] : 0;
			} else {
				for (; t >= run; t -= run)
					kh++;
#pragma unroll 1
				for (int i = 0; i < 4; i++) {
					const int h = (i == 0 ? top[0] : i == 1 ? top[1] : i == 2 ? top[2] : top[3]) + kh * dh;
					const int v = i == 0 ? left[0] : i == 1 ? left[1] : i == 2 ? left[2] : left[3];
					uint word = 0;
					if (kh < (int)kernel_height && (uint)h < (uint)H)
						word = tri_conv_word(x, odd + ((long)h * W + v) * c, v, t, c, W, kw_end, dw);
#pragma unroll
					for (int j = 0; j < 4; j++)
						xs[j] = i == j ? word : xs[j];
				}
			}
		}
		if (next > 0)
			tri_tile_i8_4(sum, lx, lw);
		if (next >= k)
			break;
		barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
		for (int i = 0; i < 4; i++)
			lx[lane * TRI_TILE_LINE(4) + line + 8 * i] = xs[i];
#pragma unroll
		for (int j = 0; j < 2; j++)
#pragma unroll
			for (int f = 0; f < 4; f++)
				lw[(4 * (step + 2 * j) + f) * 64 + lid % 64] = tri_trits(ws[j], f);
		barrier(CLK_LOCAL_MEM_FENCE);
	}
#pragma unroll
	for (int part = 0; part < 2; part++) {
		tri_tile_i8_4_part(sum, (local int *)tile, part);
		for (int r = lid / 64; r < 16; r += 2)
			if (row0 + 16 * part + r < P && column0 + lid % 64 < n)
				TRI_STORE((long)image, (long)(row0 + 16 * part + r), (long)(column0 + lid % 64), ((local int *)tile)[r * 64 + lid % 64]);
	}
}
#undef TRI_NAME
#undef TRI_BUFFERS
#undef TRI_DIMS
#undef TRI_STORE
