/* Windows of one channel: 16 channels of neighbouring positions. Taps are unpacked in blocks, of whose products sums fit in int16. */
#define TRI_TAPS 192

#define TRI_CHANNELS(type, products, vector)                                  \
	products tri_channels_##type(global const type *x, const int n)       \
	{                                                                     \
		type lanes[16];                                               \
		if (n >= 16)                                                  \
			return convert_##products(*(global const vector *)x); \
		for (int i = 0; i < 16; i++)                                  \
			lanes[i] = i < n ? x[i] : 0;                          \
		return convert_##products(*(const vector *)lanes);            \
	}
TRI_CHANNELS(float, float16, tri_float16)
TRI_CHANNELS(char, short16, tri_char16)

/* Return tap k of channels c … c+15 of N; c is a multiple of 16. */
float16 tri_tap_float(global const float *w, const int K, const long N, const long c, const int k)
{
	const long panel = c / 32 * 32;
	return vload16(0, w + panel * K + k * (N - panel > 16 ? 32 : 16) + c % 32);
}
short16 tri_tap_char(global const uint *w, const int K, const long N, const long c, const int k)
{
	const long panel = c / 32 * 32;
	const uint16 words = vload16(0, w + panel * ((K + 15) / 16) + k / 16 * (N - panel > 16 ? 32 : 16) + c % 32);
	return convert_short16(as_int16(words >> (uint)(8 * (k & 3) + 2 * (k >> 2 & 3)) & 3u)) - (short)1;
}

/* A tap that takes part: where its element is in the image, if the window begins at column 0, and how many columns it is from there. */
struct tri_tap {
	long at;
	int column, tap;
};

/* Lists taps first … end-1 whose row is in the image, of windows that begin at row h. Returns how many there are. */
int tri_list_taps(struct tri_tap *list, const struct tri_window *v, const int first, const int end, const int h)
{
	int n = 0;
	for (int kh = first / v->run; kh * v->run < end; kh++) {
		const int row = h + kh * v->dilation_height;
		if (row < 0 || row >= v->height)
			continue;
		for (int kw = max(first - kh * v->run, 0); kw < min(v->kernel_width, end - kh * v->run); kw++, n++) {
			list[n].column = kw * v->dilation_width;
			list[n].at = ((long)row * v->width + list[n].column) * v->channels;
			list[n].tap = kh * v->run + kw - first;
		}
	}
	return n;
}

/* Add the products with n taps of the list to the sums of four positions, `step` elements apart, whose windows are inside of the image, or of one, whose
 * window begins at column w. x: channel c of that column of the first row, and those behind it; `lanes` of them take part. */
#define TRI_DEPTHWISE(type, products, sum, mad)                                                                                           \
	void tri_depthwise4_##type(global const type *x, const products *taps, const struct tri_tap *list, const int n, const int step,  \
				   sum *to)                                                                                               \
	{                                                                                                                                 \
		products a = 0, b = 0, d = 0, e = 0;                                                                                      \
		for (int k = 0; k < n; k++) {                                                                                             \
			const products tap = taps[list[k].tap];                                                                           \
			global const type *at = x + list[k].at;                                                                           \
			a = mad(tri_channels_##type(at, 16), tap, a);                                                                     \
			b = mad(tri_channels_##type(at + step, 16), tap, b);                                                              \
			d = mad(tri_channels_##type(at + 2 * step, 16), tap, d);                                                          \
			e = mad(tri_channels_##type(at + 3 * step, 16), tap, e);                                                          \
		}                                                                                                                         \
		to[0] += convert_##sum(a), to[1] += convert_##sum(b), to[2] += convert_##sum(d), to[3] += convert_##sum(e);               \
	}                                                                                                                                 \
	void tri_depthwise1_##type(global const type *x, const products *taps, const struct tri_tap *list, const int n, const int width, \
				   const int w, const int lanes, sum *to)                                                                 \
	{                                                                                                                                 \
		products a = 0;                                                                                                           \
		for (int k = 0; k < n; k++)                                                                                               \
			if (w + list[k].column >= 0 && w + list[k].column < width)                                                        \
				a = mad(tri_channels_##type(x + list[k].at, lanes), taps[list[k].tap], a);                                \
		to[0] += convert_##sum(a);                                                                                                \
	}
#define TRI_MAD(x, tap, sum) ((x) * (tap) + (sum))
TRI_DEPTHWISE(float, float16, float16, fma)
TRI_DEPTHWISE(char, short16, int16, TRI_MAD)
