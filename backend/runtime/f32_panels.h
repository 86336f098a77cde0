/* PANELS: a constant matrix [K, N] of float32, or of 16-bit floats, in the order in which the kernels read it, on every instruction set. A panel has 32 columns: for
 * each k its columns, one after the other. The last panel has 16 columns if no more are left. Columns beyond N are 0. */
#ifndef TRI_F32_PANELS_H
#define TRI_F32_PANELS_H
#include <stddef.h>
#include <stdint.h>

enum { TRI_PANEL = 32, TRI_HALF_PANEL = 16 };

static inline int64_t tri_panels(int64_t N) { return N / TRI_PANEL + (N % TRI_PANEL != 0); }
/* Columns of panel p: 32 or 16. */
static inline int64_t tri_panel_width(int64_t N, int64_t p) { return N - p * TRI_PANEL > TRI_HALF_PANEL ? TRI_PANEL : TRI_HALF_PANEL; }
/* Returns the offset of panel p in elements. */
static inline int64_t tri_panel_offset(int64_t K, int64_t p) { return p * TRI_PANEL * K; }

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
