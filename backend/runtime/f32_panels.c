#include "f32_panels.h"
#include <string.h>

size_t tri_panels_size(int64_t K, int64_t N)
{
	int64_t last = tri_panels(N) - 1;
	return last < 0 ? 0 : (size_t)(tri_panel_offset(K, last) + K * tri_panel_width(N, last)) * sizeof(float);
}

void tri_panels_pack(const float *w, int64_t K, int64_t N, int64_t step_k, int64_t step_n, float *out)
{
	for (int64_t p = 0; p < tri_panels(N); p++) {
		int64_t n = p * TRI_PANEL, width = tri_panel_width(N, p), columns = N - n < width ? N - n : width;
		for (int64_t k = 0; k < K; k++, out += width) {
			for (int64_t c = 0; c < columns; c++)
				out[c] = w[k * step_k + (n + c) * step_n];
			memset(out + columns, 0, (size_t)(width - columns) * sizeof *out);
		}
	}
}
