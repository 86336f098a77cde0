/* Host tensors in the layouts of the weight table. */
#include <stdlib.h>
#include <string.h>
#include "backend/ir/tensor.h"
#include "backend/plan/plan.h"
#include "backend/plan/trits.h"
#include "backend/runtime/pack/f32_panels.h"
#include "base/bug.h"

enum { TILE = 64 }; /* rows and columns of a matrix that are in the cache together */

static inline __attribute__((always_inline)) void swap_tile(const char *from, int64_t b, int64_t c, int64_t j0, int64_t k0, size_t size,
							    char *to)
{
	for (int64_t k = k0; k < c && k < k0 + TILE; k++)
		for (int64_t j = j0; j < b && j < j0 + TILE; j++)
			memcpy(to + (size_t)(k * b + j) * size, from + (size_t)(j * c + k) * size, size);
}

/* memcpy of a size that is not constant is a call. */
static void swap_tile_of(const char *from, int64_t b, int64_t c, int64_t j0, int64_t k0, size_t size, char *to)
{
	switch (size) {
	case 1: swap_tile(from, b, c, j0, k0, 1, to); return;
	case 2: swap_tile(from, b, c, j0, k0, 2, to); return;
	case 4: swap_tile(from, b, c, j0, k0, 4, to); return;
	case 8: swap_tile(from, b, c, j0, k0, 8, to); return;
	default: swap_tile(from, b, c, j0, k0, size, to);
	}
}

void layout_swap(const char *from, int64_t a, int64_t b, int64_t c, size_t size, char *to)
{
	size_t matrix = (size_t)(b * c) * size;
	for (int64_t i = 0; i < a; i++, from += matrix, to += matrix)
		for (int64_t k0 = 0; k0 < c; k0 += TILE)
			for (int64_t j0 = 0; j0 < b; j0 += TILE)
				swap_tile_of(from, b, c, j0, k0, size, to);
}

size_t layout_packed_size(enum layout layout, const struct tensor *t)
{
	switch (layout) {
	case LAYOUT_PLAIN:
	case LAYOUT_DIM1_FIRST:
	case LAYOUT_DIM2_FIRST:
	case LAYOUT_DIM3_FIRST:
	case LAYOUT_CHANNELS_LAST: return (size_t)tensor_bytes(t);
	case LAYOUT_TRIT2:
	case LAYOUT_TRIT1_6:
	case LAYOUT_TRIT2_WINDOWS:
	case LAYOUT_TRIT_BLOCKS:
	case LAYOUT_TRIT_LISTS:
	case LAYOUT_PLANES: return trits_packed_size(layout, t);
	case LAYOUT_PANELS: return tri_panels_size(t->dims[0], t->dims[1]) / (sizeof(float) / dtype_size(t->elem));
	case LAYOUT_WINDOW_PANELS: return tri_panels_size(t->dims[1] * t->dims[2] * t->dims[3], t->dims[0]);
	case LAYOUT_COUNT: break;
	}
	BUG("layout");
}

static int64_t layout_product(const int64_t *dims, uint32_t n)
{
	int64_t p = 1;
	for (uint32_t k = 0; k < n; k++)
		p *= dims[k];
	return p;
}

/* Stores dim k first. */
static void move_first(const struct tensor *t, uint32_t k, void *out)
{
	size_t row = (size_t)layout_product(t->dims + k + 1, t->rank - k - 1) * dtype_size(t->elem);
	layout_swap(t->data, 1, layout_product(t->dims, k), t->dims[k], row, out);
}

static void pack_window_panels(const struct tensor *t, void *out)
{
	int64_t taps = t->dims[2] * t->dims[3];
	struct tri_panels_source from = {t->data, taps, t->dims[1], t->dims[0], {1, taps, taps * t->dims[1]}};
	tri_panels_pack(&from, out);
}

static void pack_panels(const struct tensor *t, struct tri_panels_source from, void *out)
{
	if (t->elem == DT_FLOAT32)
		tri_panels_pack(&from, out);
	else
		tri_half_panels_pack(&from, out);
}

void layout_pack(enum layout layout, const struct tensor *t, void *out)
{
	if (!layout_packed_size(layout, t))
		return;
	switch (layout) {
	case LAYOUT_PLAIN: memcpy(out, t->data, (size_t)tensor_bytes(t)); return;
	case LAYOUT_CHANNELS_LAST:
		layout_swap(t->data, t->dims[0], t->dims[1], layout_product(t->dims + 2, t->rank - 2u), dtype_size(t->elem), out);
		return;
	case LAYOUT_DIM1_FIRST:
	case LAYOUT_DIM2_FIRST:
	case LAYOUT_DIM3_FIRST: move_first(t, (uint32_t)(layout - LAYOUT_DIM1_FIRST) + 1, out); return;
	case LAYOUT_TRIT2:
	case LAYOUT_TRIT1_6:
	case LAYOUT_TRIT2_WINDOWS:
	case LAYOUT_TRIT_BLOCKS:
	case LAYOUT_TRIT_LISTS:
	case LAYOUT_PLANES: trits_pack(layout, t, false, out); return;
	case LAYOUT_PANELS: pack_panels(t, (struct tri_panels_source){t->data, t->dims[0], 1, t->dims[1], {t->dims[1], 0, 1}}, out); return;
	case LAYOUT_WINDOW_PANELS: pack_window_panels(t, out); return;
	case LAYOUT_COUNT: break;
	}
	BUG("layout");
}

int64_t layout_part_rows(enum layout layout, bool is_transposed)
{
	if (layout == LAYOUT_PLAIN && !is_transposed)
		return 1;
	bool has_columns_first = layout == LAYOUT_WINDOW_PANELS || (layout == LAYOUT_PANELS && is_transposed);
	return has_columns_first ? TRI_PANEL : 0;
}

void layout_pack_transposed(enum layout layout, const struct tensor *t, void *out)
{
	struct tensor straight = tensor_transposed(t);
	if (trits_are_matrix(layout) && tensor_count(t)) {
		trits_pack(layout, t, true, out);
		return;
	}
	if (layout == LAYOUT_PANELS && tensor_count(t)) {
		pack_panels(t, (struct tri_panels_source){t->data, 1, t->dims[1], t->dims[0], {0, 1, t->dims[1]}}, out);
		return;
	}
	straight.data = malloc((size_t)tensor_bytes(t) + 1);
	BUG_ON(!straight.data);
	layout_swap(t->data, 1, t->dims[0], t->dims[1], dtype_size(t->elem), straight.data);
	layout_pack(layout, &straight, out);
	free(straight.data);
}
