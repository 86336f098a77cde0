/* Resizing of the last two dims, as PyTorch computes it: positions in float32. */
#include "backend/expand/state.h"

/* Returns the distance of result elements in the input. */
static ir_ref ratio(struct ir_builder *b, const struct ir_resize *a, uint32_t k, dim size, dim n)
{
	int64_t one;
	if (a->corners && dim_is_const(b->f->dims, n, &one) && one == 1)
		return ir_build_const_float(b, DT_FLOAT32, 0);
	if (a->corners) {
		ir_ref steps = ir_build_op2c(b, OP_SUB, ir_build_extent(b, n, DT_FLOAT32), 1);
		return ir_build_op2(b, OP_DIV, ir_build_op2c(b, OP_SUB, ir_build_extent(b, size, DT_FLOAT32), 1), steps);
	}
	if (a->scaled)
		return ir_build_const_float(b, DT_FLOAT32, 1 / a->scale[k]);
	return ir_build_op2(b, OP_DIV, ir_build_extent(b, size, DT_FLOAT32), ir_build_extent(b, n, DT_FLOAT32));
}

static ir_ref source_positions(struct ir_builder *b, dim n)
{
	struct hir_type t = {.elem = DT_FLOAT32, .rank = 1, .dims = {n}};
	return ir_build_iota(b, &t, DT_FLOAT32, 0);
}

static ir_ref last_element(struct ir_builder *b, dim size) { return ir_build_op2c(b, OP_SUB, ir_build_extent(b, size, DT_INT64), 1); }

static ir_ref resize_nearest(struct ir_builder *b, const struct ir_resize *a, ir_ref x, uint32_t k, dim n)
{
	dim size = ir_type_of(b->f, x)->dims[2 + k];
	ir_ref at = ir_build_op1(b, OP_FLOOR, ir_build_op2(b, OP_MUL, source_positions(b, n), ratio(b, a, k, size, n)));
	return ir_build_take(b, x, ir_build_op2(b, OP_MIN, ir_build_cast(b, at, DT_INT64), last_element(b, size)), 2 + k);
}

static ir_ref linear(struct ir_builder *b, const struct ir_resize *a, ir_ref x, uint32_t k, dim n)
{
	struct hir_type t = *ir_type_of(b->f, x);
	dim size = t.dims[2 + k];
	ir_ref step = ratio(b, a, k, size, n), at = source_positions(b, n);
	if (a->corners)
		at = ir_build_op2(b, OP_MUL, at, step);
	else
		at = ir_build_op2c(b, OP_MAX,
				   ir_build_op2c(b, OP_SUB, ir_build_op2(b, OP_MUL, ir_build_op2c(b, OP_ADD, at, 0.5), step), 0.5), 0);
	ir_ref low = ir_build_op2(b, OP_MIN, ir_build_cast(b, at, DT_INT64), last_element(b, size));
	ir_ref high = ir_build_op2(b, OP_MIN, ir_build_op2c(b, OP_ADD, low, 1), last_element(b, size));
	ir_ref part = ir_build_cast(b, ir_build_op2(b, OP_SUB, at, ir_build_cast(b, low, DT_FLOAT32)), t.elem);
	part = ir_build_along(b, part, 2 + k, t.rank);
	ir_ref rest = ir_build_op2(b, OP_SUB, ir_build_const_float(b, t.elem, 1), part);
	return ir_build_op2(b, OP_ADD, ir_build_op2(b, OP_MUL, ir_build_take(b, x, low, 2 + k), rest),
			    ir_build_op2(b, OP_MUL, ir_build_take(b, x, high, 2 + k), part));
}

void expand_resize(struct ir_builder *b, const struct ir_inst *i, const ir_ref *operands, ir_ref *results)
{
	const struct ir_resize *a = ir_resize(i);
	ir_ref x = operands[0];
	for (uint32_t k = 0; k < 2; k++)
		x = a->mode == RESIZE_LINEAR ? linear(b, a, x, k, i->type.dims[2 + k]) : resize_nearest(b, a, x, k, i->type.dims[2 + k]);
	results[0] = x;
}
