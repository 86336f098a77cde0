#include "backend/loops/ir/grow.h"

bool loops_begins_with(const struct loop_fn *f, uint32_t k, uint32_t part)
{
	while (k != part && f->buffers[k].grows != LOOP_NONE)
		k = f->buffers[k].grows;
	return k == part;
}

void loops_mark_grown(const struct loop_fn *f, bool *grown)
{
	for (uint32_t k = 0; k < f->n_buffers; k++)
		if (f->buffers[k].grows != LOOP_NONE)
			grown[f->buffers[k].grows] = true;
}

bool loops_can_grow(const struct loop_fn *f, const struct loop_buffer *a, const struct loop_buffer *b)
{
	uint32_t order[HIR_MAX_RANK];
	int64_t have, want;
	if (a->type.elem != b->type.elem || a->layout != b->layout || a->type.rank != b->type.rank || a->type.rank < 1 ||
	    ir_layout_is_packed(a->layout) || a->layout == LAYOUT_CHANNELS_LAST)
		return false;
	ir_layout_order(a->layout, a->type.rank, order);
	for (uint32_t k = 1; k < a->type.rank; k++)
		if (!dim_eq(a->type.dims[order[k]], b->type.dims[order[k]]))
			return false;
	return !dim_is_const(f->dims, a->type.dims[order[0]], &have) || !dim_is_const(f->dims, b->type.dims[order[0]], &want) ||
	       have <= want;
}
