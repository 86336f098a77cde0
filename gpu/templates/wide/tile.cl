/* The register tile of products on processors: rows of x times two panels of 32 columns. A work item computes at most TRI_ROWS rows of TRI_COLUMNS
 * columns. It divides the terms of the sums into blocks, and copies those of x and of w to private memory, as float and in the order in which the tile
 * reads them:
 *
 *   x [TRI_ROWS][TRI_TERMS]        w [TRI_PANELS][TRI_TERMS][2] vectors of 16 columns        y [TRI_PANELS][TRI_ROWS][2] sums
 *
 * Six rows of a panel are twelve vectors of sums, which stay in registers for a block; a number of x is multiplied by the two vectors of its term. */
#define TRI_ROWS 128
#define TRI_TERMS 128
#define TRI_PANELS 2
#define TRI_COLUMNS 64
#define TRI_X (TRI_ROWS * TRI_TERMS)
#define TRI_W (TRI_PANELS * TRI_TERMS * 2)
#define TRI_Y (TRI_PANELS * TRI_ROWS * 2)

#define TRI_EACH1(f) f(0)
#define TRI_EACH2(f) TRI_EACH1(f) f(1)
#define TRI_EACH3(f) TRI_EACH2(f) f(2)
#define TRI_EACH4(f) TRI_EACH3(f) f(3)
#define TRI_EACH6(f) TRI_EACH4(f) f(4) f(5)
#define TRI_TILE_BEGIN(r) float16 a##r = y[2 * r], b##r = y[2 * r + 1];
#define TRI_TILE_ADD(r)                                            \
	{                                                          \
		const float16 v = (float16)(x[r * TRI_TERMS + k]); \
		a##r = fma(v, p, a##r);                            \
		b##r = fma(v, q, b##r);                            \
	}
#define TRI_TILE_END(r) y[2 * r] = a##r, y[2 * r + 1] = b##r;
#define TRI_TILE(n)                                                                    \
	void tri_tile##n(const float *x, const float16 *w, const int terms, float16 *y) \
	{                                                                              \
		TRI_EACH##n(TRI_TILE_BEGIN)                                            \
		for (int k = 0; k < terms; k++) {                                      \
			const float16 p = w[2 * k], q = w[2 * k + 1];                  \
			TRI_EACH##n(TRI_TILE_ADD)                                      \
		}                                                                      \
		TRI_EACH##n(TRI_TILE_END)                                              \
	}
TRI_TILE(1)
TRI_TILE(2)
TRI_TILE(3)
TRI_TILE(4)
TRI_TILE(6)

/* Adds a block of terms of one panel. */
void tri_tile_panel(const float *x, const float16 *w, const int rows, const int terms, float16 *y)
{
	int r = 0;
	for (; r + 6 <= rows; r += 6)
		tri_tile6(x + r * TRI_TERMS, w, terms, y + 2 * r);
	if (rows - r > 4) {
		tri_tile4(x + r * TRI_TERMS, w, terms, y + 2 * r);
		r += 4;
	}
	switch (rows - r) {
	case 1: tri_tile1(x + r * TRI_TERMS, w, terms, y + 2 * r); break;
	case 2: tri_tile2(x + r * TRI_TERMS, w, terms, y + 2 * r); break;
	case 3: tri_tile3(x + r * TRI_TERMS, w, terms, y + 2 * r); break;
	case 4: tri_tile4(x + r * TRI_TERMS, w, terms, y + 2 * r); break;
	}
}

void tri_tile(const float *x, const float16 *w, const int rows, const long columns, const int terms, float16 *y)
{
	for (int p = 0; p * 32 < columns && p < TRI_PANELS; p++)
		tri_tile_panel(x, w + p * 2 * TRI_TERMS, rows, terms, y + p * 2 * TRI_ROWS);
}

/* The same, but numbers are not multiplied by 0: infinities and NaNs of x take no part in the sums of columns that have a 0 there. */
void tri_tile_nonzero(const float *x, const float16 *w, const int rows, const long columns, const int terms, float16 *y)
{
	for (int p = 0; p * 32 < columns && p < TRI_PANELS; p++)
		for (int r = 0; r < rows; r++)
			for (int k = 0; k < 2 * terms; k++) {
				const float16 v = w[p * 2 * TRI_TERMS + k];
				float16 *sum = &y[p * 2 * TRI_ROWS + 2 * r + k % 2];
				*sum = select(fma((float16)(x[r * TRI_TERMS + k / 2]), v, *sum), *sum, v == 0);
			}
}

void tri_tile_clear(float16 *y, const int rows)
{
	for (int p = 0; p < TRI_PANELS; p++)
		for (int i = 0; i < 2 * rows; i++)
			y[p * 2 * TRI_ROWS + i] = 0;
}

/* Copies columns first … end-1 of a tile. */
void tri_tile_take(const float16 *y, const int rows, const long first, const long end, float16 *to)
{
	const int16 lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
	for (int h = 0; h < 2 * TRI_PANELS; h++)
		for (int r = 0; r < rows; r++) {
			const int i = h / 2 * 2 * TRI_ROWS + 2 * r + h % 2;
			to[i] = select(to[i], y[i], lane + 16 * h >= (int)max(first, -1L) && lane + 16 * h < (int)min(end, (long)TRI_COLUMNS));
		}
}

/* Adds the sums, which are whole numbers, to those of int. */
void tri_tile_to_int(const float16 *y, const int rows, const bool first, int16 *to)
{
	for (int p = 0; p < TRI_PANELS; p++)
		for (int i = p * TRI_ROWS * 2; i < (p * TRI_ROWS + rows) * 2; i++)
			to[i] = convert_int16(y[i]) + (first ? 0 : to[i]);
}

/* Returns the first element of part i of n, which has `parts` parts of about the same size. */
long tri_part(const long n, const long parts, const long i) { return n * i / parts; }

/* Copies n numbers as float. Returns NaN in some element if one is infinite or NaN, else 0. The last vector overlaps the one before. */
#define TRI_COPY_VECTOR(width, part, at)                                           \
	{                                                                          \
		const float##width v = convert_float##width(vload##width(0, x + (at))); \
		odd.part += v - v;                                                 \
		vstore##width(v, 0, to + (at));                                    \
	}
#define TRI_COPY(name, type)                                                       \
	float16 tri_copy_##name(global const type *x, const int n, float *to)      \
	{                                                                          \
		float16 odd = 0;                                                   \
		if (n >= 16) {                                                     \
			for (int k = 0; k + 16 <= n; k += 16)                      \
				TRI_COPY_VECTOR(16, s0123456789abcdef, k)          \
			if (n % 16)                                                \
				TRI_COPY_VECTOR(16, s0123456789abcdef, n - 16)     \
		} else if (n >= 8) {                                               \
			TRI_COPY_VECTOR(8, s01234567, 0)                           \
			TRI_COPY_VECTOR(8, s01234567, n - 8)                       \
		} else if (n >= 4) {                                               \
			TRI_COPY_VECTOR(4, s0123, 0)                               \
			TRI_COPY_VECTOR(4, s0123, n - 4)                           \
		} else {                                                           \
			for (int k = 0; k < n; k++) {                              \
				to[k] = x[k];                                      \
				odd.s0 += to[k] - to[k];                           \
			}                                                          \
		}                                                                  \
		return odd;                                                        \
	}
TRI_COPY(f32, float)
TRI_COPY(i8, char)

/* Copies a block of terms of packed trits [K, N] from column n on; `from` is a multiple of 16. backend/runtime/pack/trit2.h describes the layout: panels
 * of 32 columns, steps of 16 terms, and in a step a 32-bit word for each column. Bits 2f, 2f+1 of its byte j hold trit + 1 of term 4 · f + j. */
void tri_copy_trits(global const uint *w, const long K, const long N, const long n, const long from, const int terms, float16 *to)
{
	const long steps = (K + 15) / 16;
	for (int p = 0; p < TRI_PANELS && n + p * 32 < N; p++) {
		const int halves = N - n - p * 32 > 16 ? 2 : 1;
		global const uint *words = w + (n + p * 32) * steps + from / 16 * halves * 16;
		for (int s = 0; s * 16 < terms; s++)
			for (int h = 0; h < halves; h++) {
				const uint16 word = vload16(s * halves + h, words);
				float16 *at = to + p * 2 * TRI_TERMS + s * 32 + h;
				for (int k = 0; k < 16; k++)
					at[2 * k] = convert_float16(as_int16(word >> (uint)(8 * (k & 3) + 2 * (k >> 2)) & 3u)) - 1;
			}
	}
}

/* Stores sums of this type as columns n … n+15 of a row of the result, which has N. */
#define TRI_STORE_LANES(type, batch, row, n, N, sums)                \
	if ((n) + 16 <= (N)) {                                       \
		TRI_STORE16(batch, row, n, sums);                    \
	} else {                                                     \
		type lanes[16];                                      \
		vstore16(sums, 0, lanes);                            \
		for (int lane = 0; (n) + lane < (N); lane++)         \
			TRI_STORE(batch, row, (n) + lane, lanes[lane]); \
	}

/* Stores the sums of row r of a tile as elements of this type of a row of the result, from column n of N on. */
#define TRI_STORE_ROW(type, batch, row, n, N, y, r)                                                      \
	for (int h = 0; h < 2 * TRI_PANELS && (n) + 16 * h < (N); h++) {                                 \
		const type##16 sums16 = convert_##type##16((y)[h / 2 * 2 * TRI_ROWS + 2 * (r) + h % 2]); \
		const long column16 = (n) + 16 * h;                                                      \
		TRI_STORE_LANES(type, batch, row, column16, N, sums16)                                   \
	}

/* ---- packed panels of float32 or of 16-bit floats [K, N], see backend/runtime/pack/f32_panels.h ---- */

float16 tri_panel_f32(global const float *w, const long at) { return vload16(0, w + at); }
float16 tri_panel_f16(global const ushort *w, const long at) { return vload_half16(0, (global const half *)w + at); }
float16 tri_panel_bf16(global const ushort *w, const long at) { return as_float16(convert_uint16(vload16(0, w + at)) << 16u); }

/* Copy a block of terms from column n on. */
#define TRI_COPY_PANELS(name, type)                                                                                          \
	void tri_copy_panels_##name(global const type *w, const long K, const long N, const long n, const long from,             \
				    const int terms, float16 *to)                                                          \
	{                                                                                                                    \
		for (int p = 0; p < TRI_PANELS && n + p * 32 < N; p++) {                                                     \
			const int halves = N - n - p * 32 > 16 ? 2 : 1;                                                      \
			const long at = (n + p * 32) * K + from * halves * 16;                                               \
			for (int k = 0; k < terms; k++)                                                                      \
				for (int h = 0; h < halves; h++)                                                             \
					to[p * 2 * TRI_TERMS + 2 * k + h] = tri_panel_##name(w, at + (k * halves + h) * 16); \
		}                                                                                                            \
	}
TRI_COPY_PANELS(f32, float)
TRI_COPY_PANELS(f16, ushort)
TRI_COPY_PANELS(bf16, ushort)

/* ---- windows of convolutions: rows of x are positions, terms are a run of elements for each row of the window ---- */

struct tri_window {
	int height, width, channels, kernel_width, dilation_height, dilation_width;
	int used; /* channels that take part: those of a group */
	int run;  /* terms of a row of the window: kernel_width · used, and zeros */
};

/* Copies a block of terms of the window whose first element is at row h and column w of the image; what is outside is 0. Returns as tri_copy_f32 does. */
#define TRI_COPY_WINDOW(name, type)                                                                                          \
	float16 tri_copy_window_##name(global const type *x, const struct tri_window *c, const int h, const int w,                \
				       const int from, const int terms, float *to)                                        \
	{                                                                                                                    \
		const bool whole = c->dilation_width == 1 && c->used == c->channels && w >= 0 && w + c->kernel_width <= c->width; \
		const int used = c->kernel_width * c->used, end = from + terms;                                              \
		float16 odd = 0;                                                                                             \
		for (int k = from, next; k < end; k = next) { /* a part of a row, or of an element */                        \
			const int kh = k / c->run, a = k % c->run, row = h + kh * c->dilation_height;                        \
			const int kw = a / c->used, column = w + kw * c->dilation_width;                                     \
			const int stop = a >= used ? c->run : whole ? used : (kw + 1) * c->used;                             \
			global const type *at = x + ((long)row * c->width + (whole ? w : column)) * c->channels +            \
						(whole ? a : a % c->used);                                                   \
			next = min(k - a + stop, end);                                                                       \
			if (a < used && row >= 0 && row < c->height && column >= 0 && column < c->width)                     \
				odd += tri_copy_##name(at, next - k, to + (k - from));                                       \
			else                                                                                                 \
				for (int i = k; i < next; i++)                                                               \
					to[i - from] = 0;                                                                    \
		}                                                                                                            \
		return odd;                                                                                                  \
	}
TRI_COPY_WINDOW(f32, float)
TRI_COPY_WINDOW(i8, char)

/* The results of a work item: positions top … bottom by left … right, channels from `channel` on. */
struct tri_positions {
	long image, channel;
	int top, bottom, left, right;
};

enum { TRI_POSITIONS_HIGH = 8, TRI_POSITIONS_WIDE = 16 };

/* Returns false if there is no item g. */
bool tri_positions_at(struct tri_positions *at, const long g, const long batch, const long out, const long height, const long width)
{
	const long down = (height + TRI_POSITIONS_HIGH - 1) / TRI_POSITIONS_HIGH;
	const long across = (width + TRI_POSITIONS_WIDE - 1) / TRI_POSITIONS_WIDE, blocks = (out + TRI_COLUMNS - 1) / TRI_COLUMNS;
	if (g >= batch * blocks * down * across)
		return false;
	const long i = g % across, j = g / across % down;
	at->image = g / across / down / blocks;
	at->channel = g / across / down % blocks * TRI_COLUMNS;
	at->top = tri_part(height, down, j);
	at->bottom = tri_part(height, down, j + 1);
	at->left = tri_part(width, across, i);
	at->right = tri_part(width, across, i + 1);
	return true;
}

/* ---- windows of one channel: 16 channels of neighbouring positions ---- */

float16 tri_channels_f32(global const float *x, const int n)
{
	float lanes[16];
	if (n >= 16)
		return vload16(0, x);
	for (int i = 0; i < 16; i++)
		lanes[i] = i < n ? x[i] : 0;
	return vload16(0, lanes);
}
float16 tri_channels_i8(global const char *x, const int n)
{
	float lanes[16];
	if (n >= 16)
		return convert_float16(vload16(0, x));
	for (int i = 0; i < 16; i++)
		lanes[i] = i < n ? x[i] : 0;
	return vload16(0, lanes);
}

/* Return tap kh, kw of channels c … c+15 of N; c is a multiple of 16. */
float16 tri_tap_f32(global const float *w, const struct tri_window *v, const int K, const long N, const long c, const int kh, const int kw)
{
	const long panel = c / 32 * 32;
	return vload16(0, w + panel * K + (kh * v->run + kw) * (N - panel > 16 ? 32 : 16) + c % 32);
}
float16 tri_tap_i8(global const uint *w, const struct tri_window *v, const int K, const long N, const long c, const int kh, const int kw)
{
	const long panel = c / 32 * 32;
	const int k = kh * v->run + kw;
	const uint16 words = vload16(0, w + panel * ((K + 15) / 16) + k / 16 * (N - panel > 16 ? 32 : 16) + c % 32);
	return convert_float16(as_int16(words >> (uint)(8 * (k & 3) + 2 * (k >> 2 & 3)) & 3u)) - 1;
}

/* Stores the sums of `n` positions (at most 4), `step` columns apart, whose windows begin at row h and column w0. x: channel c of the image. */
#define TRI_DEPTHWISE(name, type, packed)                                                                                    \
	void tri_depthwise_sums_##name(global const type *x, global const packed *taps, const struct tri_window *v, const int K,      \
				  const long N, const long c, const int h, const int w0, const int step, const int n,      \
				  float16 *to)                                                                             \
	{                                                                                                                    \
		const int kernel_height = K / v->run, lanes = min(N - c, 16L);                                               \
		const bool whole = n == 4 && lanes == 16 && w0 >= 0 && w0 + 3 * step + (v->kernel_width - 1) * v->dilation_width < v->width; \
		float16 a = 0, b = 0, d = 0, e = 0;                                                                          \
		for (int i = 0; i < n; i++)                                                                                  \
			to[i] = 0;                                                                                           \
		for (int kh = 0; kh < kernel_height; kh++) {                                                                 \
			const int row = h + kh * v->dilation_height;                                                         \
			if (row < 0 || row >= v->height)                                                                     \
				continue;                                                                                    \
			for (int kw = 0; kw < v->kernel_width; kw++) {                                                       \
				const float16 tap = tri_tap_##name(taps, v, K, N, c, kh, kw);                                \
				const int column = w0 + kw * v->dilation_width;                                              \
				global const type *at = x + ((long)row * v->width + column) * v->channels;                   \
				if (whole) {                                                                                 \
					a = fma(tri_channels_##name(at, 16), tap, a);                                        \
					b = fma(tri_channels_##name(at + step * v->channels, 16), tap, b);                   \
					d = fma(tri_channels_##name(at + 2 * step * v->channels, 16), tap, d);               \
					e = fma(tri_channels_##name(at + 3 * step * v->channels, 16), tap, e);               \
					continue;                                                                            \
				}                                                                                            \
				for (int i = 0; i < n; i++)                                                                  \
					if (column + i * step >= 0 && column + i * step < v->width)                          \
						to[i] = fma(tri_channels_##name(at + i * step * v->channels, lanes), tap, to[i]); \
			}                                                                                                    \
		}                                                                                                            \
		if (whole)                                                                                                   \
			to[0] = a, to[1] = b, to[2] = d, to[3] = e;                                                          \
	}
TRI_DEPTHWISE(f32, float, float)
TRI_DEPTHWISE(i8, char, uint)
