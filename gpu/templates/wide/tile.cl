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
