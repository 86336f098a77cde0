/* PANELS: a constant matrix [K, N] of float32, or of 16-bit floats, in the order in which the kernels read it, on every instruction set. A panel has 32 columns: for
 * each k its columns, one after the other. The last panel has 16 columns if no more are left. Columns beyond N are 0. */
#ifndef TRI_F32_PANELS_H
#define TRI_F32_PANELS_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { TRI_PANEL = 32, TRI_HALF_PANEL = 16 };

static inline int64_t tri_panels(int64_t N) { return N / TRI_PANEL + (N % TRI_PANEL != 0); }
/* Columns of panel p: 32 or 16. */
static inline int64_t tri_panel_width(int64_t N, int64_t p) { return N - p * TRI_PANEL > TRI_HALF_PANEL ? TRI_PANEL : TRI_HALF_PANEL; }
/* Returns the offset of panel p in elements. */
static inline int64_t tri_panel_offset(int64_t K, int64_t p) { return p * TRI_PANEL * K; }

/* Copies terms k0 … k0+k-1 of n columns from column `from` on, at most a panel of them, to rows of 16 or 32 elements. What follows the n columns
 * of a row is not set. */
static inline void tri_panels_copy_columns(const float *w, int64_t K, int64_t N, int64_t k0, int64_t k, int64_t from, int64_t n, float *out)
{
	int64_t panel = from / TRI_PANEL, first = from % TRI_PANEL, width = tri_panel_width(N, panel), next = 0;
	int64_t some = n < width - first ? n : width - first, rest = n - some, row = tri_panel_width(n, 0);
	const float *a = w + tri_panel_offset(K, panel) + k0 * width + first, *b = a;
	if (rest) {
		next = tri_panel_width(N, panel + 1);
		b = w + tri_panel_offset(K, panel + 1) + k0 * next;
	}
	for (; k > 1; k--, a += width, b += next, out += row) { /* whole vectors: the rest is overwritten */
		memcpy(out, a, TRI_HALF_PANEL * sizeof *out);
		if (some > TRI_HALF_PANEL)
			memcpy(out + TRI_HALF_PANEL, a + TRI_HALF_PANEL, TRI_HALF_PANEL * sizeof *out);
		if (rest)
			memcpy(out + some, b, TRI_HALF_PANEL * sizeof *out);
		if (rest > TRI_HALF_PANEL)
			memcpy(out + some + TRI_HALF_PANEL, b + TRI_HALF_PANEL, TRI_HALF_PANEL * sizeof *out);
	}
	if (k > 0) {
		memcpy(out, a, (size_t)some * sizeof *out);
		memcpy(out + some, b, (size_t)rest * sizeof *out);
	}
}

/* Where the elements of the matrix are: element [tap * channels + c, n] is w[tap * steps[0] + c * steps[1] + n * steps[2]]. */
struct tri_panels_source {
	const void *w;
	int64_t taps, channels, N; /* K = taps * channels */
	int64_t steps[3];
};

size_t tri_panels_size(int64_t K, int64_t N);
/* Packs the matrix into tri_panels_size bytes, which should be aligned to 64. */
void tri_panels_pack(const struct tri_panels_source *from, float *out);
/* The same of a matrix of 16-bit floats, in half as many bytes. */
void tri_half_panels_pack(const struct tri_panels_source *from, uint16_t *out);
#endif
