/* Host tensors in the layouts of the weight table. */
#include <stdlib.h>
#include <string.h>
#include "backend/ir/tensor.h"
#include "backend/plan/plan.h"
#include "backend/runtime/conv.h"
#include "backend/runtime/f32_panels.h"
#include "backend/runtime/trit1_6.h"
#include "backend/runtime/trit2.h"
#include "backend/runtime/trit_blocks.h"
#include "backend/runtime/trit_planes.h"
#include "base/bug.h"

/* Rows of the matrix that the weights [O, C, KH, KW] of a convolution are packed as: KH runs. */
static int64_t window_run(const struct tensor *t) { return tri_conv_run(t->dims[1], t->dims[3]); }
static int64_t window_terms(const struct tensor *t) { return t->dims[2] * window_run(t); }

size_t layout_packed_size(enum layout layout, const struct tensor *t)
{
	switch (layout) {
	case LAYOUT_PLAIN:
	case LAYOUT_DIM1_FIRST:
	case LAYOUT_DIM2_FIRST:
	case LAYOUT_DIM3_FIRST:
	case LAYOUT_CHANNELS_LAST: return (size_t)tensor_bytes(t);
	case LAYOUT_TRIT2: return tri_trit2_packed_size(t->dims[0], t->dims[1]);
	case LAYOUT_TRIT1_6: return tri_trit1_6_packed_size(t->dims[0], t->dims[1]);
	case LAYOUT_TRIT2_WINDOWS: return tri_trit2_packed_size(window_terms(t), t->dims[0]);
	case LAYOUT_TRIT_BLOCKS: return tri_blocks_size(t->dims[0], t->dims[1]);
	case LAYOUT_PLANES: return tri_planes_size(t->dims[0], t->dims[1]);
	case LAYOUT_PANELS: return tri_panels_size(t->dims[0], t->dims[1]) / (sizeof(float) / dtype_size(t->elem));
	case LAYOUT_WINDOW_PANELS: return tri_panels_size(t->dims[1] * t->dims[2] * t->dims[3], t->dims[0]);
	case LAYOUT_COUNT: break;
	}
	BUG("layout");
}

/* Copies [A, B, C] to [A, C, B]; `size` bytes for each element. */
static void swap_inner(const char *from, int64_t a, int64_t b, int64_t c, size_t size, char *to)
{
	for (int64_t i = 0; i < a; i++)
		for (int64_t k = 0; k < c; k++)
			for (int64_t j = 0; j < b; j++, to += size)
				memcpy(to, from + (size_t)((i * b + j) * c + k) * size, size);
}

static int64_t product(const int64_t *dims, uint32_t n)
{
	int64_t p = 1;
	for (uint32_t k = 0; k < n; k++)
		p *= dims[k];
	return p;
}

/* Stores dim k first. */
static void move_first(const struct tensor *t, uint32_t k, void *out)
{
	size_t row = (size_t)product(t->dims + k + 1, t->rank - k - 1) * dtype_size(t->elem);
	swap_inner(t->data, 1, product(t->dims, k), t->dims[k], row, out);
}

static void pack_trit1_6(const struct tensor *t, bool is_transposed, void *out)
{
	int64_t K = t->dims[is_transposed], N = t->dims[!is_transposed];
	void *trit2 = malloc(tri_trit2_packed_size(K, N) + 1);
	BUG_ON(!trit2);
	(is_transposed ? tri_trit2_pack_transposed : tri_trit2_pack)(t->data, K, N, trit2);
	tri_trit1_6_pack(trit2, K, N, out);
	free(trit2);
}

static void pack_windows(const struct tensor *t, void *out)
{
	int64_t n = t->dims[0], terms = window_terms(t), run = window_run(t), size = t->dims[1] * t->dims[3], lines = n * t->dims[2];
	int8_t *last = malloc((size_t)(lines * size) + 1), *padded = calloc((size_t)(lines * run) + 1, 1),
	       *matrix = malloc((size_t)(n * terms) + 1);
	BUG_ON(!last || !padded || !matrix);
	swap_inner(t->data, n, t->dims[1], t->dims[2] * t->dims[3], 1, (char *)last);
	for (int64_t l = 0; l < lines; l++)
		memcpy(padded + l * run, last + l * size, (size_t)size);
	swap_inner((const char *)padded, 1, n, terms, 1, (char *)matrix);
	tri_trit2_pack(matrix, terms, n, out);
	free(last);
	free(padded);
	free(matrix);
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
		swap_inner(t->data, t->dims[0], t->dims[1], product(t->dims + 2, t->rank - 2u), dtype_size(t->elem), out);
		return;
	case LAYOUT_DIM1_FIRST:
	case LAYOUT_DIM2_FIRST:
	case LAYOUT_DIM3_FIRST: move_first(t, (uint32_t)(layout - LAYOUT_DIM1_FIRST) + 1, out); return;
	case LAYOUT_TRIT2: tri_trit2_pack(t->data, t->dims[0], t->dims[1], out); return;
	case LAYOUT_TRIT1_6: pack_trit1_6(t, false, out); return;
	case LAYOUT_TRIT2_WINDOWS: pack_windows(t, out); return;
	case LAYOUT_TRIT_BLOCKS: tri_blocks_pack(&(struct tri_blocks_source){t->data, t->dims[0], t->dims[1], t->dims[1], 1}, out); return;
	case LAYOUT_PLANES: tri_planes_pack(&(struct tri_planes_source){t->data, t->dims[0], t->dims[1], t->dims[1], 1}, out); return;
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
	return layout == LAYOUT_PANELS && is_transposed ? TRI_PANEL : 0;
}

void layout_pack_transposed(enum layout layout, const struct tensor *t, void *out)
{
	struct tensor straight = tensor_transposed(t);
	if (layout == LAYOUT_TRIT2 && tensor_count(t)) {
		tri_trit2_pack_transposed(t->data, straight.dims[0], straight.dims[1], out);
		return;
	}
	if (layout == LAYOUT_TRIT_BLOCKS && tensor_count(t)) {
		tri_blocks_pack(&(struct tri_blocks_source){t->data, t->dims[1], t->dims[0], 1, t->dims[1]}, out);
		return;
	}
	if (layout == LAYOUT_PLANES && tensor_count(t)) {
		tri_planes_pack(&(struct tri_planes_source){t->data, t->dims[1], t->dims[0], 1, t->dims[1]}, out);
		return;
	}
	if (layout == LAYOUT_TRIT1_6 && tensor_count(t)) {
		pack_trit1_6(t, true, out);
		return;
	}
	if (layout == LAYOUT_PANELS && tensor_count(t)) {
		pack_panels(t, (struct tri_panels_source){t->data, 1, t->dims[1], t->dims[0], {0, 1, t->dims[1]}}, out);
		return;
	}
	straight.data = malloc((size_t)tensor_bytes(t) + 1);
	BUG_ON(!straight.data);
	swap_inner(t->data, 1, t->dims[0], t->dims[1], dtype_size(t->elem), straight.data);
	layout_pack(layout, &straight, out);
	free(straight.data);
}
