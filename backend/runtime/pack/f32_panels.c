#include "backend/runtime/pack/f32_panels.h"
#include <string.h>

size_t tri_panels_size(int64_t K, int64_t N)
{
	int64_t last = tri_panels(N) - 1;
	return last < 0 ? 0 : (size_t)(tri_panel_offset(K, last) + K * tri_panel_width(N, last)) * sizeof(float);
}

#define PACK(name, type)                                                                                     \
	/* Packs the rows of one tap and one panel. */                                                       \
	static type *name##_tap(const struct tri_panels_source *from, int64_t tap, int64_t panel, type *out) \
	{                                                                                                    \
		int64_t n = panel * TRI_PANEL, width = tri_panel_width(from->N, panel);                      \
		int64_t columns = from->N - n < width ? from->N - n : width;                                 \
		const type *w = (const type *)from->w + tap * from->steps[0] + n * from->steps[2];           \
		for (int64_t k = 0; k < from->channels; k++, w += from->steps[1], out += width) {            \
			for (int64_t c = 0; c < columns; c++)                                                \
				out[c] = w[c * from->steps[2]];                                              \
			memset(out + columns, 0, (size_t)(width - columns) * sizeof *out);                   \
		}                                                                                            \
		return out;                                                                                  \
	}                                                                                                    \
	void name(const struct tri_panels_source *from, type *out)                                           \
	{                                                                                                    \
		for (int64_t p = 0; p < tri_panels(from->N); p++)                                            \
			for (int64_t t = 0; t < from->taps; t++)                                             \
				out = name##_tap(from, t, p, out);                                           \
	}
PACK(tri_panels_pack, float)
PACK(tri_half_panels_pack, uint16_t)
