/* The register tile of products on processors: at most six rows of x times two vectors of columns. A work item computes at most TRI_ROWS rows of
 * TRI_COLUMNS columns, in panels of 32, and divides the terms of the sums into blocks. What is not float32, or not in the order in which the tile reads it,
 * is copied to private memory for a block:
 *
 *   x [TRI_ROWS][TRI_TERMS]        w [TRI_PANELS][TRI_TERMS][2] vectors of 16 columns        y [TRI_PANELS][TRI_ROWS][2] sums
 *
 * Rows of x and panels of w that are float32 are read where they are. Twelve vectors of sums stay in registers for a block; a number of x is multiplied by
 * the two vectors of its term. A vector has TRI_LANES columns: as many as a register of the processor, so that 16 registers suffice where they are short. */
#define TRI_ROWS 128
#define TRI_TERMS 192
#define TRI_PANELS 2
#define TRI_COLUMNS 64
#define TRI_X (TRI_ROWS * TRI_TERMS)
#define TRI_W (TRI_PANELS * TRI_TERMS * 2)
#define TRI_Y (TRI_PANELS * TRI_ROWS * 2)
#ifdef __AVX512F__
#define TRI_LANES 16
typedef float16 tri_floats;
typedef int16 tri_ints;
typedef uint16 tri_words;
typedef float16 tri_vector __attribute__((aligned(4)));
#define tri_load_words vload16
#define tri_to_floats convert_float16
#else
#define TRI_LANES 8
typedef float8 tri_floats;
typedef int8 tri_ints;
typedef uint8 tri_words;
typedef float8 tri_vector __attribute__((aligned(4)));
#define tri_load_words vload8
#define tri_to_floats convert_float8
#endif
#define TRI_ACROSS (32 / TRI_LANES) /* vectors of a row of a panel */

#define TRI_EACH1(f) f(0)
#define TRI_EACH2(f) TRI_EACH1(f) f(1)
#define TRI_EACH3(f) TRI_EACH2(f) f(2)
#define TRI_EACH4(f) TRI_EACH3(f) f(3)
#define TRI_EACH5(f) TRI_EACH4(f) f(4)
#define TRI_EACH6(f) TRI_EACH5(f) f(5)
#define TRI_TILE_BEGIN(r) tri_floats a##r = y[r * TRI_ACROSS], b##r = y[r * TRI_ACROSS + 1];
#define TRI_TILE_ADD(r)                                               \
	{                                                             \
		const tri_floats v = (tri_floats)(x[r * stride + k]); \
		a##r = fma(v, p, a##r);                               \
		b##r = fma(v, q, b##r);                               \
	}
#define TRI_TILE_END(r) y[r * TRI_ACROSS] = a##r, y[r * TRI_ACROSS + 1] = b##r;
#define TRI_TILE(n, name, x_space, w_space)                                                                                                \
	void tri_tile##n##_##name(x_space const float *x, const long stride, w_space const tri_vector *w, const int terms, tri_floats *y) \
	{                                                                                                                                  \
		TRI_EACH##n(TRI_TILE_BEGIN)                                                                                                \
		__attribute__((opencl_unroll_hint(4))) for (int k = 0; k < terms; k++) {                                                   \
			const tri_floats p = w[k * TRI_ACROSS], q = w[k * TRI_ACROSS + 1];                                                 \
			TRI_EACH##n(TRI_TILE_ADD)                                                                                          \
		}                                                                                                                          \
		TRI_EACH##n(TRI_TILE_END)                                                                                                  \
	}
#define TRI_TILE_OF(n, name) \
	case n: tri_tile##n##_##name(x + r * stride, stride, w + v, terms, (tri_floats *)(y + 2 * r) + v); break;

/* Adds a block of terms of a panel to the sums of `rows` of x, `stride` numbers apart. */
#define TRI_TILE_ROWS(name, x_space, w_space)                                                                                              \
	TRI_TILE(1, name, x_space, w_space)                                                                                                \
	TRI_TILE(2, name, x_space, w_space)                                                                                                \
	TRI_TILE(3, name, x_space, w_space)                                                                                                \
	TRI_TILE(4, name, x_space, w_space)                                                                                                \
	TRI_TILE(5, name, x_space, w_space)                                                                                                \
	TRI_TILE(6, name, x_space, w_space)                                                                                                \
	void tri_tile_##name(x_space const float *x, const long stride, const int rows, w_space const float *panel, const long columns, \
			     const int terms, float16 *y)                                                                                  \
	{                                                                                                                                  \
		w_space const tri_vector *w = (w_space const tri_vector *)panel;                                                           \
		for (int r = 0, n; r < rows; r += n) {                                                                                     \
			n = tri_tile_height(rows - r);                                                                                     \
			for (int v = 0; v < TRI_ACROSS && v * TRI_LANES < columns; v += 2)                                                 \
				switch (n) {                                                                                               \
					TRI_TILE_OF(1, name)                                                                               \
					TRI_TILE_OF(2, name)                                                                               \
					TRI_TILE_OF(3, name)                                                                               \
					TRI_TILE_OF(4, name)                                                                               \
					TRI_TILE_OF(5, name)                                                                               \
					TRI_TILE_OF(6, name)                                                                               \
				}                                                                                                          \
		}                                                                                                                          \
	}

/* Returns how many of the rows that are left the next tile has. Tiles of less than four rows wait for their sums. */
int tri_tile_height(const int left) { return left >= 11 || left <= 6 ? min(left, 6) : (left + 1) / 2; }

/* x and w are copies in private memory; x, w or both are where they were. */
TRI_TILE_ROWS(copied, , )
TRI_TILE_ROWS(rows, global, )
TRI_TILE_ROWS(panels, , global)
TRI_TILE_ROWS(direct, global, global)

/* Adds a block of terms of all panels of w, which are copies. */
#define TRI_TILES(name, x_space)                                                                                                          \
	void tri_tiles_##name(x_space const float *x, const long stride, const float16 *w, const int rows, const long columns,            \
			      const int terms, float16 *y)                                                                                \
	{                                                                                                                                 \
		for (int p = 0; p * 32 < columns && p < TRI_PANELS; p++)                                                                  \
			tri_tile_##name(x, stride, rows, (const float *)(w + p * 2 * TRI_TERMS), columns - p * 32, terms, y + p * 2 * TRI_ROWS); \
	}
TRI_TILES(copied, )
TRI_TILES(rows, global)

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

#define TRI_OF_SUMS(type)                                                                                       \
	void tri_clear_##type(type##16 *y, const int rows, const long columns)                                  \
	{                                                                                                       \
		for (int p = 0; p < TRI_PANELS && p * 32 < columns; p++)                                        \
			for (int i = 0; i < 2 * rows; i++)                                                      \
				y[p * 2 * TRI_ROWS + i] = 0;                                                    \
	}                                                                                                       \
	/* Copies columns first … end-1 of a tile. */                                                           \
	void tri_take_##type(const type##16 *y, const int rows, const long first, const long end, type##16 *to) \
	{                                                                                                       \
		const int16 lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};                      \
		for (int h = 0; h < 2 * TRI_PANELS && 16 * h < end; h++)                                        \
			for (int r = 0; r < rows; r++) {                                                        \
				const int i = h / 2 * 2 * TRI_ROWS + 2 * r + h % 2;                             \
				to[i] = select(to[i], y[i],                                                     \
					       lane + 16 * h >= (int)max(first, -1L) && lane + 16 * h < (int)min(end, (long)TRI_COLUMNS)); \
			}                                                                                       \
	}
TRI_OF_SUMS(float)
TRI_OF_SUMS(int)

/* Returns the first element of part i of n, which has `parts` parts of about the same size. */
long tri_part(const long n, const long parts, const long i) { return n * i / parts; }

/* int8 is multiplied by trits as bytes where the compiler has an instruction that adds the products of pairs of bytes, else as float. */
#if defined(TRI_DOT_X86) && (defined(__AVX512BW__) || (defined(__AVX2__) && !defined(__AVX512F__)))
#define TRI_DOT
#define tri_term char
#else
#define tri_term float
#endif

/* Copies n numbers as `term`. Returns NaN in some element if one is infinite or NaN, else 0. The last vector overlaps the one before. */
#define TRI_COPY_VECTOR(width, type, term, part, at)                                                        \
	{                                                                                                   \
		const term##width v = convert_##term##width(*(global const tri_##type##width *)(x + (at))); \
		odd.part += convert_float##width(v - v);                                                    \
		*(tri_##term##width *)(to + (at)) = v;                                                      \
	}
#define TRI_COPY(type, term)                                                               \
	float16 tri_copy_##type(global const type *x, const int n, term *to)               \
	{                                                                                  \
		float16 odd = 0;                                                           \
		if (n >= 16) {                                                             \
			for (int k = 0; k + 16 <= n; k += 16)                              \
				TRI_COPY_VECTOR(16, type, term, s0123456789abcdef, k)      \
			if (n % 16)                                                        \
				TRI_COPY_VECTOR(16, type, term, s0123456789abcdef, n - 16) \
		} else if (n >= 8) {                                                       \
			TRI_COPY_VECTOR(8, type, term, s01234567, 0)                       \
			TRI_COPY_VECTOR(8, type, term, s01234567, n - 8)                   \
		} else if (n >= 4) {                                                       \
			TRI_COPY_VECTOR(4, type, term, s0123, 0)                           \
			TRI_COPY_VECTOR(4, type, term, s0123, n - 4)                       \
		} else {                                                                   \
			for (int k = 0; k < n; k++) {                                      \
				to[k] = x[k];                                              \
				odd.s0 += to[k] - to[k];                                   \
			}                                                                  \
		}                                                                          \
		return odd;                                                                \
	}
TRI_COPY(float, float)
TRI_COPY(char, tri_term)

/* ---- packed weights ---- */

/* Return the numbers of two bits at `shift` in words, less 1: trits. */
#if defined(TRI_DOT) && TRI_LANES == 16
#define tri_trits_at(words, shift) \
	__builtin_astype(__builtin_ia32_vpermilvarps512((float16)(TRI_NUMBERS, TRI_NUMBERS, TRI_NUMBERS, TRI_NUMBERS), as_int16((words) >> (uint)(shift))), tri_floats)
#elif defined(TRI_DOT)
#define tri_trits_at(words, shift) \
	__builtin_astype(__builtin_ia32_vpermilvarps256((float8)(TRI_NUMBERS, TRI_NUMBERS), as_int8((words) >> (uint)(shift))), tri_floats)
#else
#define tri_trits_at(words, shift) (tri_to_floats((words) >> (uint)(shift) & 3u) - 1)
#endif
#define TRI_NUMBERS -1, 0, 1, 2

/* Copies a block of terms of packed trits [K, N] from column n on; `from` is a multiple of 16. backend/runtime/pack/trit2.h describes the layout: panels
 * of 32 columns, steps of 16 terms, and in a step a 32-bit word for each column. Bits 2f, 2f+1 of its byte j hold trit + 1 of term 4 · f + j. */
void tri_copy_trits(global const uint *w, const long K, const long N, const long n, const long from, const int terms, float16 *to)
{
	const long steps = (K + 15) / 16;
	for (int p = 0; p < TRI_PANELS && n + p * 32 < N; p++) {
		const int width = N - n - p * 32 > 16 ? 32 : 16;
		global const uint *words = w + (n + p * 32) * steps + from / 16 * width;
		for (int s = 0; s * 16 < terms; s++)
			for (int v = 0; v * TRI_LANES < width; v++) {
				const tri_words some = tri_load_words(0, words + s * width + v * TRI_LANES);
				tri_floats *at = (tri_floats *)(to + p * 2 * TRI_TERMS + s * 32) + v;
				for (int k = 0; k < 16; k++)
					at[k * TRI_ACROSS] = tri_trits_at(some, 8 * (k & 3) + 2 * (k >> 2));
			}
	}
}

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

/* ---- sums of a block: rows of x, of which `odd` is what copying returned, times columns n … of packed w [K, N] from term `from` on ---- */

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

void tri_add_row_trits(const float *x, global const uint *w, const int width, const int steps, tri_floats *y)
{
	for (int v = 0; v * TRI_LANES < width; v++) {
		tri_floats a = y[v], b = 0, c = 0, d = 0;
		for (int s = 0; s < steps; s++) {
			const tri_words words = tri_load_words(0, w + s * width + v * TRI_LANES);
			__attribute__((opencl_unroll_hint(4))) for (int f = 0; f < 4; f++) {
				a = fma((tri_floats)(x[16 * s + 4 * f]), tri_trits_at(words, 2 * f), a);
				b = fma((tri_floats)(x[16 * s + 4 * f + 1]), tri_trits_at(words, 8 + 2 * f), b);
				c = fma((tri_floats)(x[16 * s + 4 * f + 2]), tri_trits_at(words, 16 + 2 * f), c);
				d = fma((tri_floats)(x[16 * s + 4 * f + 3]), tri_trits_at(words, 24 + 2 * f), d);
			}
		}
		y[v] = (a + b) + (c + d);
	}
}

/* Writes zeros behind the terms of one row. */
void tri_add_window_f32_trits(float *x, global const uint *w, const long K, const long N, const long n, const long from, const int rows, const int terms,
		       const float16 odd, float16 *y)
{
	const int steps = (terms + 15) / 16;
	float16 ws[TRI_W];
	if (any(odd != 0) || rows > 1) {
		tri_copy_trits(w, K, N, n, from, terms, ws);
		if (any(odd != 0))
			tri_tile_nonzero(x, ws, rows, N - n, terms, y);
		else
			tri_tiles_copied(x, TRI_TERMS, ws, rows, N - n, terms, y);
		return;
	}
	for (int k = terms; k < 16 * steps; k++)
		x[k] = 0;
	for (int p = 0; p < TRI_PANELS && n + p * 32 < N; p++) {
		const int width = N - n - p * 32 > 16 ? 32 : 16;
		tri_add_row_trits(x, w + (n + p * 32) * ((K + 15) / 16) + from / 16 * width, width, steps, (tri_floats *)(y + p * 2 * TRI_ROWS));
	}
}

#ifdef TRI_DOT
/* Words of packed trits are read where they are: shifted and masked, each has trit + 1 of four terms as unsigned bytes. Sums of pairs of products are added
 * as int16. A product is at most 2 · 128, so the sums of 256 terms fit. In the end the sum of x is subtracted. */
#if TRI_LANES == 16
typedef char tri_bytes __attribute__((ext_vector_type(64)));
typedef short tri_pairs __attribute__((ext_vector_type(32)));
#define tri_add_pairs(sums, trits, x) \
	((sums) + __builtin_astype(__builtin_ia32_pmaddubsw512(__builtin_astype(trits, tri_bytes), __builtin_astype(x, tri_bytes)), tri_pairs))
#define tri_add_neighbours(sums) __builtin_astype(__builtin_ia32_pmaddwd512((sums), (tri_pairs)((short)1)), tri_ints)
#else
typedef char tri_bytes __attribute__((ext_vector_type(32)));
typedef short tri_pairs __attribute__((ext_vector_type(16)));
#define tri_add_pairs(sums, trits, x) \
	((sums) + __builtin_astype(__builtin_ia32_pmaddubsw256(__builtin_astype(trits, tri_bytes), __builtin_astype(x, tri_bytes)), tri_pairs))
#define tri_add_neighbours(sums) __builtin_astype(__builtin_ia32_pmaddwd256((sums), (tri_pairs)((short)1)), tri_ints)
#endif

/* The self-check, for 64 items. gpu/runtime/fast_forms.c knows the results. */
kernel void tri_check_pairs(global int *y)
{
	uint a[TRI_LANES], b[TRI_LANES];
	const int n = get_global_id(0);
	for (int l = 0; l < TRI_LANES; l++) {
		const uint i = n / TRI_LANES * TRI_LANES + l;
		a[l] = (i + 1) * 0x9e3779b9u & 0x03030303u;
		b[l] = (i + 7) * 0x85ebca6bu;
	}
	const tri_ints sums = tri_add_neighbours(tri_add_pairs((tri_pairs)(short)0, *(tri_words *)a, *(tri_words *)b));
	const tri_floats trits = tri_trits_at(*(tri_words *)a, 8);
	y[n] = ((const int *)&sums)[n % TRI_LANES] + (int)((const float *)&trits)[n % TRI_LANES] * 1000033 + n * 1000003;
}

#define TRI_DOTS_BEGIN(r) tri_pairs a##r = 0, b##r = 0;
#define TRI_DOTS_ADD(r)                                                            \
	{                                                                          \
		const tri_words v = (tri_words)(x[r * TRI_TERMS / 4 + 4 * s + f]); \
		a##r = tri_add_pairs(a##r, p, v);                                  \
		b##r = tri_add_pairs(b##r, q, v);                                  \
	}
#define TRI_DOTS_END(r)                                          \
	y[r * TRI_ACROSS] += tri_add_neighbours(a##r) - less[r]; \
	y[r * TRI_ACROSS + 1] += tri_add_neighbours(b##r) - less[r];
#define TRI_DOTS(n)                                                                                               \
	void tri_dots##n(const uint *x, const int *less, global const uint *w, const int step, const int second, const int steps, \
			 tri_ints *y)                                                                             \
	{                                                                                                         \
		TRI_EACH##n(TRI_DOTS_BEGIN)                                                                       \
		for (int s = 0; s < steps; s++, w += step)                                                        \
			__attribute__((opencl_unroll_hint(4))) for (int f = 0; f < 4; f++) {                      \
				const tri_words p = tri_load_words(0, w) >> (uint)(2 * f) & 0x03030303u;          \
				const tri_words q = tri_load_words(0, w + second) >> (uint)(2 * f) & 0x03030303u; \
				TRI_EACH##n(TRI_DOTS_ADD)                                                         \
			}                                                                                         \
		TRI_EACH##n(TRI_DOTS_END)                                                                         \
	}
TRI_DOTS(1)
TRI_DOTS(2)
TRI_DOTS(3)
TRI_DOTS(4)

void tri_dots_vectors(const uint *x, const int *less, global const uint *w, const int step, const int second, const int rows, const int steps, tri_ints *y)
{
	int r = 0;
	for (; r + 4 <= rows; r += 4)
		tri_dots4(x + r * TRI_TERMS / 4, less + r, w, step, second, steps, y + r * TRI_ACROSS);
	switch (rows - r) {
	case 1: tri_dots1(x + r * TRI_TERMS / 4, less + r, w, step, second, steps, y + r * TRI_ACROSS); break;
	case 2: tri_dots2(x + r * TRI_TERMS / 4, less + r, w, step, second, steps, y + r * TRI_ACROSS); break;
	case 3: tri_dots3(x + r * TRI_TERMS / 4, less + r, w, step, second, steps, y + r * TRI_ACROSS); break;
	}
}

/* Returns the sum of the bytes of so many steps of a block. */
int tri_sum_bytes(const char *x, const int steps)
{
	short16 sums = 0;
	for (int s = 0; s < steps; s++)
		sums += convert_short16(*(const tri_char16 *)(x + 16 * s));
	const short8 of8 = sums.lo + sums.hi;
	const short4 of4 = of8.lo + of8.hi;
	return of4.s0 + of4.s1 + of4.s2 + of4.s3;
}

/* Writes zeros behind the terms of x. */
void tri_add_window_i8_trits(char *x, global const uint *w, const long K, const long N, const long n, const long from, const int rows, const int terms,
		      const float16 odd, int16 *y)
{
	const long all = (K + 15) / 16;
	const int steps = (terms + 15) / 16;
	int less[TRI_ROWS];
	for (int r = 0; r < rows; r++) {
		for (int k = terms; k < 16 * steps; k++)
			x[r * TRI_TERMS + k] = 0;
		less[r] = tri_sum_bytes(x + r * TRI_TERMS, steps);
	}
	for (int p = 0; p < TRI_PANELS && n + p * 32 < N; p++) {
		const int width = N - n - p * 32 > 16 ? 32 : 16;
		global const uint *words = w + (n + p * 32) * all + from / 16 * width;
		for (int v = 0; v < TRI_ACROSS && v * TRI_LANES < width; v += 2)
			tri_dots_vectors((const uint *)x, less, words + v * TRI_LANES, width, width > TRI_LANES ? TRI_LANES : 0, rows, steps,
					 (tri_ints *)(y + p * 2 * TRI_ROWS) + v);
	}
}
#else
/* By the tiles of floats, whose sums of a block are exact. */
void tri_add_window_i8_trits(const float *x, global const uint *w, const long K, const long N, const long n, const long from, const int rows, const int terms,
		      const float16 odd, int16 *y)
{
	float16 ws[TRI_W], sums[TRI_Y];
	tri_clear_float(sums, rows, TRI_COLUMNS);
	tri_copy_trits(w, K, N, n, from, terms, ws);
	tri_tiles_copied(x, TRI_TERMS, ws, rows, N - n, terms, sums);
	for (int p = 0; p < TRI_PANELS; p++)
		for (int i = p * TRI_ROWS * 2; i < (p * TRI_ROWS + rows) * 2; i++)
			y[i] += convert_int16(sums[i]);
}
#endif

/* Copy rows of x first. */
#define TRI_ADD_TRITS(name, type, term, sum)                                                                                         \
	void tri_add_##name##_trits(global const type *x, global const uint *w, const long K, const long N, const long n, const long from, \
				    const int rows, const int terms, sum##16 *y)                                                     \
	{                                                                                                                            \
		term xs[TRI_X] __attribute__((aligned(64)));                                                                         \
		float16 odd = 0;                                                                                                     \
		for (int r = 0; r < rows; r++)                                                                                       \
			odd += tri_copy_##type(x + r * K, terms, xs + r * TRI_TERMS);                                                \
		tri_add_window_##name##_trits(xs, w, K, N, n, from, rows, terms, odd, y);                                            \
	}
TRI_ADD_TRITS(f32, float, float, float)
TRI_ADD_TRITS(i8, char, tri_term, int)

/* Stores sums of this type as columns n … n+15 of a row of the result, which has N. */
#define TRI_STORE_LANES(type, batch, row, n, N, sums)                   \
	if ((n) + 16 <= (N)) {                                          \
		TRI_STORE16(batch, row, n, sums);                       \
	} else {                                                        \
		type lanes[16];                                         \
		vstore16(sums, 0, lanes);                               \
		for (int lane = 0; (n) + lane < (N); lane++)            \
			TRI_STORE(batch, row, (n) + lane, lanes[lane]); \
	}

/* Stores the sums of row r of a tile as elements of this type of a row of the result, from column n of N on. */
#define TRI_STORE_ROW(type, batch, row, n, N, y, r)                                                      \
	for (int h = 0; h < 2 * TRI_PANELS && (n) + 16 * h < (N); h++) {                                 \
		const type##16 sums16 = convert_##type##16((y)[h / 2 * 2 * TRI_ROWS + 2 * (r) + h % 2]); \
		const long column16 = (n) + 16 * h;                                                      \
		TRI_STORE_LANES(type, batch, row, column16, N, sums16)                                   \
	}

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
	const long i = g / blocks % across, j = g / blocks / across % down;
	at->image = g / blocks / across / down;
	at->channel = g % blocks * TRI_COLUMNS;
	at->top = tri_part(height, down, j);
	at->bottom = tri_part(height, down, j + 1);
	at->left = tri_part(width, across, i);
	at->right = tri_part(width, across, i + 1);
	return true;
}

/* ---- windows of convolutions: rows of x are positions, terms are a run of elements for each row of the window ---- */

struct tri_window {
	int height, width, channels, kernel_width, stride_height, stride_width, pad_top, pad_left, dilation_height, dilation_width;
	int used; /* channels that take part: those of a group */
	int run;  /* terms of a row of the window: kernel_width · used, and zeros */
};

/* Copies a block of terms of the windows of all positions; what is outside of the image is 0. Returns as tri_copy_float does. A block consists of runs of
 * elements that are neighbours in the image: a part of a row of the window, or of one of its elements if others lie between them. */
#define TRI_COPY_WINDOWS(type, term)                                                                                                   \
	float16 tri_copy_windows_##type(global const type *x, const struct tri_window *c, const struct tri_positions *at, const int from, \
					const int terms, term *to)                                                                     \
	{                                                                                                                              \
		const bool joined = c->dilation_width == 1 && c->used == c->channels;                                                  \
		const int used = c->kernel_width * c->used, step = c->stride_width * c->channels, end = from + terms;                  \
		float16 odd = 0;                                                                                                       \
		for (int k = from, n; k < end; k += n, to += n) {                                                                      \
			const int a = k % c->run, kw = joined ? 0 : a / c->used, first = joined ? a : a % c->used;                     \
			n = min((a >= used ? c->run : joined ? used : (kw + 1) * c->used) - a, end - k);                               \
			term *row_to = to;                                                                                             \
			for (int i = at->top; i < at->bottom; i++) {                                                                   \
				const int row = i * c->stride_height - c->pad_top + k / c->run * c->dilation_height;                   \
				const int elements = a < used && row >= 0 && row < c->height ? c->width * c->channels : 0;             \
				global const type *row_x = x + (long)row * c->width * c->channels;                                     \
				int e = (at->left * c->stride_width - c->pad_left + kw * c->dilation_width) * c->channels + first;     \
				for (int j = at->left; j < at->right; j++, e += step, row_to += TRI_TERMS) {                           \
					const bool whole = e >= 0 && e + n <= elements;                                                \
					const int before = whole ? 0 : clamp(-e, 0, n);                                                \
					const int after = whole ? n : clamp(elements - e, before, n);                                  \
					if (!whole) {                                                                                  \
						for (int z = 0; z < before; z++)                                                       \
							row_to[z] = 0;                                                                 \
						for (int z = after; z < n; z++)                                                        \
							row_to[z] = 0;                                                                 \
					}                                                                                              \
					odd += tri_copy_##type(row_x + e + before, after - before, row_to + before);                   \
				}                                                                                                      \
			}                                                                                                              \
		}                                                                                                                      \
		return odd;                                                                                                            \
	}
TRI_COPY_WINDOWS(float, float)
TRI_COPY_WINDOWS(char, tri_term)

/* ---- windows of one channel: 16 channels of neighbouring positions. Taps are unpacked in blocks, of whose products sums fit in int16 ---- */
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
