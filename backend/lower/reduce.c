/* Reductions. */
#include "backend/lower/state.h"

static bool has_float(const struct lower *l, ir_ref x) { return dtype_class(ir_type_of(l->f, x)->elem) == DTC_FLOAT; }

/* sum and prod: integers are computed in the result's type, half floats in float32. */
void lower_bi_sum(struct lower *l, ir_ref *r)
{
	ir_ref x = lower_tensor(l, 0);
	uint32_t mask = lower_mask(l, 1, ir_type_of(l->f, x)->rank);
	x = has_float(l, x) ? ir_build_widen(l->b, x) : ir_build_cast(l->b, x, l->n->type.elem);
	r[0] = ir_build_reduce(l->b, l->how->op, x, mask, lower_int(l, 2) != 0);
}

void lower_bi_mean(struct lower *l, ir_ref *r)
{
	ir_ref x = lower_tensor(l, 0);
	uint32_t mask = lower_mask(l, 1, ir_type_of(l->f, x)->rank);
	x = has_float(l, x) ? ir_build_widen(l->b, x) : ir_build_cast(l->b, x, l->n->type.elem);
	r[0] = ir_build_mean(l->b, x, mask, lower_int(l, 2) != 0);
}

static ir_ref variance(struct lower *l)
{
	ir_ref x = ir_build_widen(l->b, lower_tensor(l, 0));
	uint32_t mask = lower_mask(l, 1, ir_type_of(l->f, x)->rank);
	ir_ref away = ir_build_op2(l->b, OP_SUB, x, ir_build_mean(l->b, x, mask, true));
	ir_ref sum = ir_build_reduce(l->b, OP_REDUCE_SUM, ir_build_op2(l->b, OP_MUL, away, away), mask, lower_int(l, 3) != 0);
	ir_ref n = ir_build_op2c(l->b, OP_SUB, ir_build_count(l->b, x, mask, ir_type_of(l->f, x)->elem), lower_float(l, 2));
	return ir_build_op2(l->b, OP_DIV, sum, ir_build_op2c(l->b, OP_MAX, n, 0));
}

void lower_bi_var(struct lower *l, ir_ref *r) { r[0] = variance(l); }
void lower_bi_std(struct lower *l, ir_ref *r) { r[0] = ir_build_op1(l->b, OP_SQRT, variance(l)); }

/* With dim: the values and their first positions. */
void lower_bi_minmax(struct lower *l, ir_ref *r)
{
	ir_ref x = lower_tensor(l, 0);
	uint32_t mask = lower_mask(l, 1, ir_type_of(l->f, x)->rank);
	bool keep = lower_int(l, 2) != 0;
	r[0] = ir_build_reduce(l->b, l->how->op, x, mask, keep);
	if (lower_has(l, 1) && mask && !(mask & (mask - 1)))
		r[1] = ir_build_reduce(l->b, l->how->op == OP_REDUCE_MAX ? OP_ARGMAX : OP_ARGMIN, x, mask, keep);
}

/* Without dim: of the flattened tensor. */
void lower_bi_arg(struct lower *l, ir_ref *r)
{
	ir_ref x = lower_tensor(l, 0);
	struct hir_type t = lower_node_type(l), in = *ir_type_of(l->f, x);
	uint32_t mask = lower_mask(l, 1, in.rank);
	if (!lower_has(l, 1)) {
		x = ir_build_flatten(l->b, x);
		mask = 1;
	}
	r[0] = ir_build_reshape(l->b, ir_build_reduce(l->b, l->how->op, x, mask, false), t.dims, t.rank);
}

void lower_bi_bool(struct lower *l, ir_ref *r)
{
	ir_ref x = lower_tensor(l, 0);
	uint32_t mask = lower_mask(l, 1, ir_type_of(l->f, x)->rank);
	r[0] = ir_build_reduce(l->b, l->how->op, ir_build_cast(l->b, x, DT_BOOL), mask, lower_int(l, 2) != 0);
}
