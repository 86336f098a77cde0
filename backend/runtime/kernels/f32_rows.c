/* The register tile of float32 products. All accumulators are in registers; one load of the panel serves all rows of the tile. */
#include "backend/runtime/kernels/f32_rows.h"
#include <stdbool.h>
#include <string.h>
#include "backend/runtime/pack/f32_panels.h"

#if defined(__AVX512F__)
enum { LANES = 16, VECS = 2, ROWS = TRI_F32_TILE };
#elif defined(__AVX2__)
enum { LANES = 8, VECS = 2, ROWS = 6 };
#else
enum { LANES = 4, VECS = 2, ROWS = 4 };
#endif
enum { MOST_VECS = TRI_PANEL / LANES, LINE = 16 };

typedef float vec __attribute__((vector_size(LANES * 4)));

TRI_INLINE vec load(const float *from)
{
	vec v;
	memcpy(&v, from, sizeof v);
	return v;
}

/* Computes R rows and V vectors. `ahead`: brings near what is so many elements after w. */
TRI_INLINE void micro(const struct tri_f32_rows *x, int64_t at, const float *w, int64_t ldw, const int R, const int V, float *y,
		      int64_t ldy, bool first, const bool brings, int64_t ahead)
{
	vec acc[ROWS][MOST_VECS];
#pragma GCC unroll 12
	for (int r = 0; r < R; r++)
#pragma GCC unroll 8
		for (int v = 0; v < V; v++)
			acc[r][v] = (vec){0};
	for (int64_t s = 0; s < x->segments; s++) {
		const float *row[ROWS];
#pragma GCC unroll 12
		for (int r = 0; r < R; r++)
			row[r] = x->rows[s * x->stride + at + r] + x->offset;
		for (int64_t i = 0; i < x->length; i++, w += ldw) {
			vec b[MOST_VECS];
			for (int v = 0; brings && v < V * LANES; v += LINE)
				__builtin_prefetch(w + ahead + v, 0, 2);
#pragma GCC unroll 8
			for (int v = 0; v < V; v++)
				b[v] = load(w + v * LANES);
#pragma GCC unroll 12
			for (int r = 0; r < R; r++) {
				vec a = row[r][i] - (vec){0}; /* not + 0, which would be computed for -0 */
#pragma GCC unroll 8
				for (int v = 0; v < V; v++)
					acc[r][v] += a * b[v];
			}
		}
	}
#pragma GCC unroll 12
	for (int r = 0; r < R; r++)
#pragma GCC unroll 8
		for (int v = 0; v < V; v++) {
			float *to = y + r * ldy + v * LANES;
			vec sum = first ? acc[r][v] : load(to) + acc[r][v];
			memcpy(to, &sum, sizeof sum);
		}
}

#define MICRO(R, V) \
	case R: micro(x, at, w, ldw, R, V, y, ldy, first, 0, 0); break;
#if defined(__AVX512F__)
#define MORE(V) MICRO(5, V) MICRO(6, V) MICRO(7, V) MICRO(8, V) MICRO(9, V) MICRO(10, V) MICRO(11, V) MICRO(12, V)
#elif defined(__AVX2__)
#define MORE(V) MICRO(5, V) MICRO(6, V)
#else
#define MORE(V)
#endif

static void strip(const struct tri_f32_rows *x, int64_t at, int64_t rows, const float *w, int64_t ldw, float *y, int64_t ldy, bool first)
{
	switch (rows) {
		MICRO(1, VECS) MICRO(2, VECS) MICRO(3, VECS) MICRO(4, VECS) MORE(VECS)
	}
}

#if defined(__AVX512F__)
static void half_strip(const struct tri_f32_rows *x, int64_t at, int64_t rows, const float *w, int64_t ldw, float *y, int64_t ldy,
		       bool first)
{
	switch (rows) {
		MICRO(1, 1) MICRO(2, 1) MICRO(3, 1) MICRO(4, 1) MORE(1)
	}
}
#endif

/* A whole strip of a whole panel, or of VECS vectors of it. */
static void last_strip(const struct tri_f32_rows *x, int64_t at, const float *w, int64_t ldw, float *y, int64_t ldy, bool first,
		       int64_t ahead)
{
	micro(x, at, w, ldw, ROWS, VECS, y, ldy, first, 1, ahead);
}

void tri_f32_rows(const struct tri_f32_rows *x, int64_t n, const float *w, int64_t width, float *y, int64_t ldy, bool first)
{
	for (int64_t r = 0; r < n; r += ROWS, y += ROWS * ldy) {
		int64_t rows = n - r < ROWS ? n - r : ROWS;
		if (rows == 1 && width == TRI_PANEL && TRI_PANEL > LANES * VECS) { /* the panel is read in sequence */
			micro(x, r, w, width, 1, MOST_VECS, y, ldy, first, 0, 0);
			continue;
		}
		bool brings = x->next && rows == ROWS && r + 2 * ROWS > n;
		int64_t c = 0;
		for (; c + LANES * VECS <= width; c += LANES * VECS)
			if (brings)
				last_strip(x, r, w + c, width, y + c, ldy, first, x->next - w);
			else
				strip(x, r, rows, w + c, width, y + c, ldy, first);
#if defined(__AVX512F__)
		if (c < width)
			half_strip(x, r, rows, w, width, y, ldy, first);
#endif
	}
}
