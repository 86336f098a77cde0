/* Sums of a block by packed trits: rows of x, of which `odd` is what copying returned, times columns n … of packed w [K, N] from term `from` on. */

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
