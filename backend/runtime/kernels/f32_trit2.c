#include "backend/runtime/kernels/f32_trit2.h"
#include <string.h>
#include "backend/runtime/pack/f32_panels.h"
#include "backend/runtime/kernels/f32_rows.h"

#if defined(__AVX512F__) && defined(__AVX512DQ__)
#include "backend/runtime/kernels/f32_trit2_avx512.h"
#elif defined(__AVX2__)
#include "backend/runtime/kernels/f32_trit2_avx2.h"
#else
#include "backend/runtime/kernels/f32_trit2_portable.h"
#endif
_Static_assert((int)TRI_TRIT2_PANEL == (int)TRI_PANEL && (int)TRI_TRIT2_LANES == (int)TRI_HALF_PANEL, "panels of trits and of float32");

enum { BLOCK_STEPS = TRI_F32_BLOCK / TRI_TRIT2_STEP };

_Bool tri_is_finite(const float *x, int64_t n)
{
	uint32_t bad = 0;
	for (int64_t i = 0; i < n; i++) {
		uint32_t bits;
		memcpy(&bits, x + i, sizeof bits);
		bad |= (bits & 0x7f800000u) == 0x7f800000u;
	}
	return !bad;
}

static void expand_step(const uint8_t *w, int halves, float *out)
{
	for (int h = 0; h < halves; h++)
		expand_half(w + h * TRI_TRIT2_BLOCK, halves * TRI_TRIT2_LANES, out + h * TRI_TRIT2_LANES);
}

void tri_trit2_expand(const struct tri_trits *t, int64_t panel, int64_t k0, int64_t k, float *out)
{
	_Alignas(64) float step[TRI_TRIT2_STEP * TRI_TRIT2_PANEL];
	int halves = tri_trit2_halves(t->N, panel), width = halves * TRI_TRIT2_LANES;
	const uint8_t *w = t->w + tri_trit2_offset(t->K, panel);
	for (int64_t end = k0 + k, n; k0 < end; k0 += n, out += n * width) {
		int64_t at = k0 / t->line * t->run + k0 % t->line, from = at % TRI_TRIT2_STEP, left = t->line - k0 % t->line;
		const uint8_t *packed = w + at / TRI_TRIT2_STEP * halves * TRI_TRIT2_BLOCK;
		n = left < end - k0 ? left : end - k0;
		if (from == 0 && n >= TRI_TRIT2_STEP) {
			n = TRI_TRIT2_STEP;
			expand_step(packed, halves, out);
			continue;
		}
		n = n < TRI_TRIT2_STEP - from ? n : TRI_TRIT2_STEP - from;
		expand_step(packed, halves, step);
		memcpy(out, step + from * width, (size_t)(n * width) * sizeof(float));
	}
}

/* Adds the blocks of up to MOST_PRODUCTS halves, or MOST_HALVES if x is not finite; half h belongs to panel + h / 2. */
static void sum_panels(const struct tri_trits *t, const float *x, _Bool finite, int64_t panel, int halves, float *y)
{
	const uint8_t *w[MOST_PRODUCTS];
	int64_t strides[MOST_PRODUCTS], steps = tri_trit2_steps(t->K);
	float block[MOST_PRODUCTS][TRI_TRIT2_LANES], last[TRI_F32_BLOCK];
	for (int h = 0; h < halves; h++) {
		strides[h] = tri_trit2_halves(t->N, panel + h / 2) * TRI_TRIT2_BLOCK;
		w[h] = t->w + tri_trit2_offset(t->K, panel + h / 2) + h % 2 * TRI_TRIT2_BLOCK;
	}
	memset(y, 0, (size_t)halves * sizeof block[0]);
	for (int64_t s = 0; s < steps; s += BLOCK_STEPS) {
		int64_t n = steps - s < BLOCK_STEPS ? steps - s : BLOCK_STEPS, left = t->K - s * TRI_TRIT2_STEP;
		const float *from = x + s * TRI_TRIT2_STEP;
		if (left < n * TRI_TRIT2_STEP) { /* a part of a step is left */
			memset(last, 0, sizeof last);
			from = memcpy(last, from, (size_t)left * sizeof(float));
		}
		switch (finite ? halves : -halves) {
		case -1: sum_halves(w, strides, from, n, 1, block); break;
		case -2: sum_halves(w, strides, from, n, 2, block); break;
		case 1: multiply_halves(w, strides, from, n, 1, block); break;
		case 2: multiply_halves(w, strides, from, n, 2, block); break;
#if defined(__AVX512F__) && defined(__AVX512DQ__)
		case 3: multiply_halves(w, strides, from, n, 3, block); break;
		case 4: multiply_halves(w, strides, from, n, 4, block); break;
#endif
		}
		for (int h = 0; h < halves; h++) {
			w[h] += n * strides[h];
			for (int l = 0; l < TRI_TRIT2_LANES; l++)
				y[h * TRI_TRIT2_LANES + l] = s ? y[h * TRI_TRIT2_LANES + l] + block[h][l] : block[h][l];
		}
	}
}

void tri_trit2_sum_row(const struct tri_trits *t, const float *x, _Bool finite, int64_t panel, int64_t n, float *y)
{
	for (int64_t end = panel + n, p; panel < end; panel += p, y += p * TRI_TRIT2_PANEL) {
		int64_t most = (finite ? MOST_PRODUCTS : MOST_HALVES) / 2;
		p = end - panel < most ? end - panel : most;
		sum_panels(t, x, finite, panel, (int)(2 * (p - 1)) + tri_trit2_halves(t->N, panel + p - 1), y);
	}
}
