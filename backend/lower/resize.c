/* Padding and resizing. Except for constant padding, new elements are gathered from the input. */
#include "backend/lower/state.h"

/* ---- pad ---- */

static int64_t resize_constant(struct lower *l, dim d)
{
	int64_t v = 0;
	dim_is_const(l->f->dims, d, &v);
	return v;
}

/* Slices x where padding is negative, and sets that padding to 0. */
static ir_ref crop(struct lower *l, ir_ref x, dim *before, dim *after)
{
	struct dims *d = l->f->dims;
	dim zero = dim_const(d, 0);
	for (uint32_t k = 0; k < ir_type_of(l->f, x)->rank; k++) {
		dim size = ir_type_of(l->f, x)->dims[k], start = zero;
		if (resize_constant(l, before[k]) < 0) {
			start = dim_sub(d, zero, before[k]);
			size = dim_sub(d, size, start);
			before[k] = zero;
		}
		if (resize_constant(l, after[k]) < 0) {
			size = dim_add(d, size, after[k]);
			after[k] = zero;
		}
		if (!dim_eq(size, ir_type_of(l->f, x)->dims[k]))
			x = ir_build_slice(l->b, x, k, start, 1, size);
	}
	return x;
}

/* Returns the index of the element at each position of a padded dim. */
static ir_ref padded_index(struct lower *l, dim size, dim before, dim padded)
{
	struct hir_type t = {.elem = DT_INT64, .rank = 1, .dims = {padded}};
	ir_ref i = ir_build_op2(l->b, OP_SUB, ir_build_iota(l->b, &t, DT_INT64, 0), ir_build_extent(l->b, before, DT_INT64));
	ir_ref last = ir_build_op2c(l->b, OP_SUB, ir_build_extent(l->b, size, DT_INT64), 1);
	if (lower_str_is(l, 2, "circular"))
		return ir_build_op2(l->b, OP_MOD, i, ir_build_extent(l->b, size, DT_INT64));
	if (lower_str_is(l, 2, "replicate"))
		return ir_build_op2(l->b, OP_MIN, ir_build_op2c(l->b, OP_MAX, i, 0), last);
	return ir_build_op2(l->b, OP_SUB, last,
			    ir_build_op1(l->b, OP_ABS, ir_build_op2(l->b, OP_SUB, last, ir_build_op1(l->b, OP_ABS, i))));
}

void lower_bi_pad(struct lower *l, ir_ref *r)
{
	const struct hir_arg *items = NULL;
	ir_ref x = lower_tensor(l, 0);
	struct hir_type t = lower_node_type(l);
	dim before[HIR_MAX_RANK], after[HIR_MAX_RANK];
	lower_list(l, 1, &items);
	for (uint32_t k = 0; k < t.rank; k++) {
		before[k] = lower_translate(l, items[2 * k].u.d);
		after[k] = lower_translate(l, items[2 * k + 1].u.d);
	}
	if (lower_str_is(l, 2, "constant")) {
		x = crop(l, x, before, after);
		r[0] = ir_build_pad(l->b, x, before, after, lower_tensor(l, 3));
		return;
	}
	for (uint32_t k = 0; k < t.rank; k++)
		if (!dim_eq(t.dims[k], ir_type_of(l->f, x)->dims[k]))
			x = ir_build_take(l->b, x, padded_index(l, ir_type_of(l->f, x)->dims[k], before[k], t.dims[k]), k);
	r[0] = x;
}

/* ---- upsample2d ---- */

void lower_bi_upsample2d(struct lower *l, ir_ref *r)
{
	struct hir_type t = lower_node_type(l);
	const struct hir_arg *scales = NULL;
	struct ir_resize a = {.mode = lower_str_is(l, 3, "bilinear") ? RESIZE_LINEAR : RESIZE_NEAREST};
	ir_ref x = lower_tensor(l, 0);
	if (a.mode == RESIZE_LINEAR)
		x = ir_build_widen(l->b, x);
	a.corners = a.mode == RESIZE_LINEAR && lower_int(l, 4);
	a.scaled = lower_list(l, 1, &scales) != 0;
	for (uint32_t k = 0; a.scaled && k < 2; k++)
		a.scale[k] = scales[k].u.f;
	t.elem = ir_type_of(l->f, x)->elem;
	r[0] = ir_build(l->b, OP_RESIZE, &t, &x, 1);
	ir_set_resize(l->f, r[0], a);
}
