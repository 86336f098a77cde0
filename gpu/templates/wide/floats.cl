/* Sums of a block by weights of float32 and of 16-bit floats: rows of x times columns n … of w [K, N] from term `from` on. Packed panels that are float32, and
 * those of one row, are read where they are. */

/* Returns n of 16 numbers, and 0 for the others. */
float16 tri_f32_some(global const float *w, const long n)
{
	float lanes[16];
	for (int i = 0; i < 16; i++)
		lanes[i] = i < n ? w[i] : 0;
	return vload16(0, lanes);
}

/* Copies rows of `columns` numbers, N apart, as panels. */
void tri_f32_copy_w(global const float *w, const long N, const long columns, const int rows, float16 *to)
{
	for (int k = 0; k < rows; k++)
		for (int h = 0; h < 2 * TRI_PANELS && h * 16 < columns; h++) {
			global const float *from = w + k * N + h * 16;
			to[h / 2 * 2 * TRI_TERMS + 2 * k + h % 2] = columns - h * 16 >= 16 ? vload16(0, from) : tri_f32_some(from, columns - h * 16);
		}
}

/* Packed panels of float32 or of 16-bit floats [K, N]: backend/runtime/pack/f32_panels.h describes them. */
float16 tri_panel_f32(global const float *w, const long at) { return vload16(0, w + at); }
float16 tri_panel_f16(global const ushort *w, const long at) { return vload_half16(0, (global const half *)w + at); }
float16 tri_panel_bf16(global const ushort *w, const long at) { return as_float16(convert_uint16(vload16(0, w + at)) << 16u); }

/* Copy a block of terms from column n on. */
#define TRI_COPY_PANELS(name, type)                                                                                          \
	void tri_copy_panels_##name(global const type *w, const long K, const long N, const long n, const long from,         \
				    const int terms, float16 *to)                                                            \
	{                                                                                                                    \
		for (int p = 0; p < TRI_PANELS && n + p * 32 < N; p++) {                                                     \
			const int halves = N - n - p * 32 > 16 ? 2 : 1;                                                      \
			const long at = (n + p * 32) * K + from * halves * 16;                                               \
			for (int k = 0; k < terms; k++)                                                                      \
				for (int h = 0; h < halves; h++)                                                             \
					to[p * 2 * TRI_TERMS + 2 * k + h] = tri_panel_##name(w, at + (k * halves + h) * 16); \
		}                                                                                                            \
	}
TRI_COPY_PANELS(f16, ushort)
TRI_COPY_PANELS(bf16, ushort)

/* One row: w is read once, where it is. */
#define TRI_ADD_ROW(name, type)                                                                                     \
	void tri_add_row_##name(global const float *x, global const type *w, const int halves, const int terms, float16 *y) \
	{                                                                                                                  \
		float16 a = y[0], b = y[1], c = 0, d = 0; /* c and d: of odd terms */                                      \
		if (halves == 1) {                                                                                         \
			for (int k = 0; k < terms; k++)                                                                    \
				a = fma((float16)(x[k]), tri_panel_##name(w, 16 * k), a);                                  \
			y[0] = a;                                                                                          \
			return;                                                                                            \
		}                                                                                                          \
		int k = 0;                                                                                                 \
		for (; k + 2 <= terms; k += 2) {                                                                           \
			a = fma((float16)(x[k]), tri_panel_##name(w, 32 * k), a);                                          \
			b = fma((float16)(x[k]), tri_panel_##name(w, 32 * k + 16), b);                                     \
			c = fma((float16)(x[k + 1]), tri_panel_##name(w, 32 * k + 32), c);                                 \
			d = fma((float16)(x[k + 1]), tri_panel_##name(w, 32 * k + 48), d);                                 \
		}                                                                                                          \
		if (k < terms) {                                                                                           \
			a = fma((float16)(x[k]), tri_panel_##name(w, 32 * k), a);                                          \
			b = fma((float16)(x[k]), tri_panel_##name(w, 32 * k + 16), b);                                     \
		}                                                                                                          \
		y[0] = a + c, y[1] = b + d;                                                                                \
	}
TRI_ADD_ROW(f32, float)
TRI_ADD_ROW(f16, ushort)
TRI_ADD_ROW(bf16, ushort)

/* Adds a panel of float32: it is read where it is if it has 32 columns. */
#define TRI_ADD_PANEL(x_space, direct, copied)                                                                                                \
	void tri_add_panel_##direct(x_space const float *x, const long stride, const int rows, global const float *w, const long columns, \
				    const int terms, float16 *y)                                                                              \
	{                                                                                                                                     \
		float16 ws[2 * TRI_TERMS];                                                                                                    \
		if (columns > 16) {                                                                                                           \
			tri_tile_##direct(x, stride, rows, w, columns, terms, y);                                                             \
			return;                                                                                                               \
		}                                                                                                                             \
		for (int k = 0; k < terms; k++)                                                                                               \
			ws[2 * k] = vload16(k, w);                                                                                            \
		tri_tile_##copied(x, stride, rows, (const float *)ws, columns, terms, y);                                                     \
	}
TRI_ADD_PANEL(global, direct, rows)
TRI_ADD_PANEL(, panels, copied)

void tri_add_f32(global const float *x, global const float *w, const long K, const long N, const long n, const long from, const int rows, const int terms,
		 float16 *y)
{
	for (int p = 0; p < TRI_PANELS && n + p * 32 < N; p++) {
		const int halves = N - n - p * 32 > 16 ? 2 : 1;
		global const float *at = w + (n + p * 32) * K + from * halves * 16;
		if (rows == 1)
			tri_add_row_f32(x, at, halves, terms, y + p * 2 * TRI_ROWS);
		else
			tri_add_panel_direct(x, K, rows, at, N - n - p * 32, terms, y + p * 2 * TRI_ROWS);
	}
}
void tri_add_window_f32(const float *x, global const float *w, const long K, const long N, const long n, const long from, const int rows, const int terms,
			const float16 odd, float16 *y)
{
	for (int p = 0; p < TRI_PANELS && n + p * 32 < N; p++)
		tri_add_panel_panels(x, TRI_TERMS, rows, w + (n + p * 32) * K + from * (N - n - p * 32 > 16 ? 32 : 16), N - n - p * 32, terms,
				     y + p * 2 * TRI_ROWS);
}
void tri_add_plain_f32(global const float *x, global const float *w, const long K, const long N, const long n, const long from, const int rows,
		       const int terms, float16 *y)
{
	float16 ws[TRI_W];
	tri_f32_copy_w(w + from * N + n, N, N - n, terms, ws);
	tri_tiles_rows(x, K, ws, rows, N - n, terms, y);
}
#define TRI_ADD_PANELS(name, type)                                                                                            \
	void tri_add_##name(global const float *x, global const type *w, const long K, const long N, const long n,            \
			    const long from, const int rows, const int terms, float16 *y)                                     \
	{                                                                                                                     \
		float16 ws[TRI_W];                                                                                            \
		if (rows > 1) {                                                                                               \
			tri_copy_panels_##name(w, K, N, n, from, terms, ws);                                                  \
			tri_tiles_rows(x, K, ws, rows, N - n, terms, y);                                                      \
			return;                                                                                               \
		}                                                                                                             \
		for (int p = 0; p < TRI_PANELS && n + p * 32 < N; p++) {                                                      \
			const int halves = N - n - p * 32 > 16 ? 2 : 1;                                                       \
			tri_add_row_##name(x, w + (n + p * 32) * K + from * halves * 16, halves, terms, y + p * 2 * TRI_ROWS); \
		}                                                                                                             \
	}
TRI_ADD_PANELS(f16, ushort)
TRI_ADD_PANELS(bf16, ushort)
