/* Emits operations with the constants, broadcasts and casts that they need. */
#include "backend/ir/build.h"
#include "backend/ir/tensor.h"
#include "base/arena.h"
#include "base/bug.h"

ir_ref ir_build(struct ir_builder *b, enum ir_op op, const struct hir_type *t, const ir_ref *operands, uint32_t n)
{
	return ir_emit(b->f, op, t, operands, n, b->origin);
}

ir_ref ir_build_as(struct ir_builder *b, enum ir_op op, const void *attributes, const ir_ref *operands, uint32_t n)
{
	struct hir_type t = {.elem = DT_COUNT};
	BUG_ON(!ir_infer(b->f, op, attributes, operands, n, &t));
	ir_ref r = ir_build(b, op, &t, operands, n);
	if (attributes)
		ir_set_attributes(b->f, r, ir_op_record(op), attributes);
	return r;
}

static ir_ref build_constant(struct ir_builder *b, dtype elem, dtype from, const void *v)
{
	struct hir_type t = ir_scalar(elem);
	void *data = arena_alloc(b->f->unit, 8, 8);
	elem_cast(elem, data, 0, from, v, 0);
	ir_ref r = ir_build(b, OP_CONST, &t, NULL, 0);
	ir_set_const(b->f, r, data);
	return r;
}

ir_ref ir_build_const_float(struct ir_builder *b, dtype elem, double v) { return build_constant(b, elem, DT_FLOAT64, &v); }

ir_ref ir_build_const_int(struct ir_builder *b, dtype elem, int64_t v) { return build_constant(b, elem, DT_INT64, &v); }

ir_ref ir_build_cast(struct ir_builder *b, ir_ref x, dtype elem)
{
	struct hir_type t = *ir_type_of(b->f, x);
	if (t.elem == elem)
		return x;
	t.elem = elem;
	return ir_build(b, OP_CAST, &t, &x, 1);
}

ir_ref ir_build_widen(struct ir_builder *b, ir_ref x)
{
	dtype e = ir_type_of(b->f, x)->elem;
	return e == DT_FLOAT16 || e == DT_BFLOAT16 ? ir_build_cast(b, x, DT_FLOAT32) : x;
}

ir_ref ir_build_broadcast(struct ir_builder *b, ir_ref x, const struct hir_type *shape)
{
	struct hir_type t = *shape;
	t.elem = ir_type_of(b->f, x)->elem;
	return ir_type_same(&t, ir_type_of(b->f, x)) ? x : ir_build(b, OP_BROADCAST, &t, &x, 1);
}

ir_ref ir_build_op1(struct ir_builder *b, enum ir_op op, ir_ref x) { return ir_build_as(b, op, NULL, &x, 1); }

struct hir_type ir_common_shape(struct ir_builder *b, const struct hir_type *x, const struct hir_type *y)
{
	struct hir_type t = x->rank >= y->rank ? *x : *y;
	const struct hir_type *low = x->rank >= y->rank ? y : x;
	for (uint32_t k = 0; k < low->rank; k++) {
		dim *have = &t.dims[t.rank - low->rank + k], other = low->dims[k];
		int64_t v;
		bool one = dim_is_const(b->f->dims, *have, &v) && v == 1;
		bool known = dim_is_const(b->f->dims, *have, NULL);
		if (one || (!known && dim_is_const(b->f->dims, other, &v) && v != 1))
			*have = other;
	}
	return t;
}

ir_ref ir_build_op2(struct ir_builder *b, enum ir_op op, ir_ref x, ir_ref y)
{
	struct hir_type t = ir_common_shape(b, ir_type_of(b->f, x), ir_type_of(b->f, y));
	ir_ref operands[2] = {ir_build_broadcast(b, x, &t), ir_build_broadcast(b, y, &t)};
	return ir_build_as(b, op, NULL, operands, 2);
}

ir_ref ir_build_op2c(struct ir_builder *b, enum ir_op op, ir_ref x, double c)
{
	return ir_build_op2(b, op, x, ir_build_const_float(b, ir_type_of(b->f, x)->elem, c));
}

ir_ref ir_build_select(struct ir_builder *b, ir_ref c, ir_ref x, ir_ref y)
{
	struct hir_type t = ir_common_shape(b, ir_type_of(b->f, x), ir_type_of(b->f, y));
	t = ir_common_shape(b, &t, ir_type_of(b->f, c));
	ir_ref operands[3] = {ir_build_broadcast(b, c, &t), ir_build_broadcast(b, x, &t), ir_build_broadcast(b, y, &t)};
	return ir_build_as(b, OP_SELECT, NULL, operands, 3);
}

ir_ref ir_build_reduce(struct ir_builder *b, enum ir_op op, ir_ref x, uint32_t mask, bool keep)
{
	struct hir_type kept = *ir_type_of(b->f, x);
	for (uint32_t k = 0; k < kept.rank; k++)
		if (mask >> k & 1)
			kept.dims[k] = dim_const(b->f->dims, 1);
	ir_ref r = mask ? ir_build_as(b, op, &(struct ir_axes){mask}, &x, 1) : x;
	return keep ? ir_build_reshape(b, r, kept.dims, kept.rank) : r;
}

ir_ref ir_build_extent(struct ir_builder *b, dim d, dtype elem)
{
	int64_t v;
	if (dim_is_const(b->f->dims, d, &v))
		return ir_build_const_int(b, elem, v);
	struct hir_type t = ir_scalar(DT_INT64);
	ir_ref r = ir_build(b, OP_DIM, &t, NULL, 0);
	ir_set_extent(b->f, r, (struct ir_extent){d});
	return ir_build_cast(b, r, elem);
}

ir_ref ir_build_count(struct ir_builder *b, ir_ref x, uint32_t mask, dtype elem)
{
	const struct hir_type in = *ir_type_of(b->f, x);
	dim n = dim_const(b->f->dims, 1);
	for (uint32_t k = 0; k < in.rank; k++)
		if (mask >> k & 1)
			n = dim_mul(b->f->dims, n, in.dims[k]);
	return ir_build_extent(b, n, elem);
}

ir_ref ir_build_iota(struct ir_builder *b, const struct hir_type *shape, dtype elem, uint32_t axis)
{
	struct hir_type t = *shape;
	t.elem = elem;
	ir_ref r = ir_build(b, OP_IOTA, &t, NULL, 0);
	ir_set_axis(b->f, r, (struct ir_axis){axis});
	return r;
}

ir_ref ir_build_mean(struct ir_builder *b, ir_ref x, uint32_t mask, bool keep)
{
	ir_ref sum = ir_build_reduce(b, OP_REDUCE_SUM, x, mask, keep);
	return ir_build_op2(b, OP_DIV, sum, ir_build_count(b, x, mask, ir_type_of(b->f, x)->elem));
}
