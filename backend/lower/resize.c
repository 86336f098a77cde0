/* Padding and resizing. Except for constant padding, new elements are gathered from the input. */
#include "backend/lower/state.h"

/* ---- pad ---- */

static int64_t constant(struct lower *l, dim d)
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
		if (constant(l, before[k]) < 0) {
			start = dim_sub(d, zero, before[k]);
			size = dim_sub(d, size, start);
			before[k] = zero;
		}
		if (constant(l, after[k]) < 0) {
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

/* ---- upsample2d: as PyTorch computes it, in float32 ---- */

/* Returns the distance of result elements in the input. */
static ir_ref ratio(struct lower *l, uint32_t k, dim size, dim n, bool corners)
{
	const struct hir_arg *scales = NULL;
	int64_t one;
	if (corners && dim_is_const(l->f->dims, n, &one) && one == 1)
		return ir_build_const_float(l->b, DT_FLOAT32, 0);
	if (corners) {
		ir_ref steps = ir_build_op2c(l->b, OP_SUB, ir_build_extent(l->b, n, DT_FLOAT32), 1);
		return ir_build_op2(l->b, OP_DIV, ir_build_op2c(l->b, OP_SUB, ir_build_extent(l->b, size, DT_FLOAT32), 1), steps);
	}
	if (lower_list(l, 1, &scales))
		return ir_build_const_float(l->b, DT_FLOAT32, 1 / scales[k].u.f);
	return ir_build_op2(l->b, OP_DIV, ir_build_extent(l->b, size, DT_FLOAT32), ir_build_extent(l->b, n, DT_FLOAT32));
}

static ir_ref source_positions(struct lower *l, dim n)
{
	struct hir_type t = {.elem = DT_FLOAT32, .rank = 1, .dims = {n}};
	return ir_build_iota(l->b, &t, DT_FLOAT32, 0);
}

static ir_ref last_element(struct lower *l, dim size) { return ir_build_op2c(l->b, OP_SUB, ir_build_extent(l->b, size, DT_INT64), 1); }

static ir_ref resize_nearest(struct lower *l, ir_ref x, uint32_t k, dim n)
{
	dim size = ir_type_of(l->f, x)->dims[2 + k];
	ir_ref at = ir_build_op1(l->b, OP_FLOOR, ir_build_op2(l->b, OP_MUL, source_positions(l, n), ratio(l, k, size, n, false)));
	return ir_build_take(l->b, x, ir_build_op2(l->b, OP_MIN, ir_build_cast(l->b, at, DT_INT64), last_element(l, size)), 2 + k);
}

static ir_ref linear(struct lower *l, ir_ref x, uint32_t k, dim n, bool corners)
{
	struct hir_type t = *ir_type_of(l->f, x);
	dim size = t.dims[2 + k];
	ir_ref step = ratio(l, k, size, n, corners), at = source_positions(l, n);
	if (corners)
		at = ir_build_op2(l->b, OP_MUL, at, step);
	else
		at = ir_build_op2c(l->b, OP_MAX,
				   ir_build_op2c(l->b, OP_SUB, ir_build_op2(l->b, OP_MUL, ir_build_op2c(l->b, OP_ADD, at, 0.5), step), 0.5),
				   0);
	ir_ref low = ir_build_op2(l->b, OP_MIN, ir_build_cast(l->b, at, DT_INT64), last_element(l, size));
	ir_ref high = ir_build_op2(l->b, OP_MIN, ir_build_op2c(l->b, OP_ADD, low, 1), last_element(l, size));
	ir_ref part = ir_build_cast(l->b, ir_build_op2(l->b, OP_SUB, at, ir_build_cast(l->b, low, DT_FLOAT32)), t.elem);
	part = ir_build_along(l->b, part, 2 + k, t.rank);
	ir_ref rest = ir_build_op2(l->b, OP_SUB, ir_build_const_float(l->b, t.elem, 1), part);
	return ir_build_op2(l->b, OP_ADD, ir_build_op2(l->b, OP_MUL, ir_build_take(l->b, x, low, 2 + k), rest),
			    ir_build_op2(l->b, OP_MUL, ir_build_take(l->b, x, high, 2 + k), part));
}

void lower_bi_upsample2d(struct lower *l, ir_ref *r)
{
	struct hir_type t = lower_node_type(l);
	bool smooth = lower_str_is(l, 3, "bilinear"), corners = lower_int(l, 4) != 0;
	ir_ref x = lower_tensor(l, 0);
	if (smooth)
		x = ir_build_widen(l->b, x);
	for (uint32_t k = 0; k < 2; k++)
		x = smooth ? linear(l, x, k, t.dims[2 + k], corners) : resize_nearest(l, x, k, t.dims[2 + k]);
	r[0] = x;
}
