/* Reductions. */
#include "backend/lower/state.h"

static bool has_float(const struct lower *l, ir_ref x) { return dtype_class(lower_of(l, x)->elem) == DTC_FLOAT; }

/* sum and prod: integers are computed in the result's type, half floats in float32. */
void lower_bi_sum(struct lower *l, ir_ref *r)
{
	ir_ref x = lower_tensor(l, 0);
	uint32_t mask = lower_mask(l, 1, lower_of(l, x)->rank);
	x = has_float(l, x) ? lower_widen(l, x) : lower_cast(l, x, l->n->type.elem);
	r[0] = lower_reduce(l, l->how->op, x, mask, lower_int(l, 2) != 0);
}

void lower_bi_mean(struct lower *l, ir_ref *r)
{
	ir_ref x = lower_tensor(l, 0);
	uint32_t mask = lower_mask(l, 1, lower_of(l, x)->rank);
	x = has_float(l, x) ? lower_widen(l, x) : lower_cast(l, x, l->n->type.elem);
	r[0] = lower_mean(l, x, mask, lower_int(l, 2) != 0);
}

static ir_ref variance(struct lower *l)
{
	ir_ref x = lower_widen(l, lower_tensor(l, 0));
	uint32_t mask = lower_mask(l, 1, lower_of(l, x)->rank);
	ir_ref away = lower_op2(l, OP_SUB, x, lower_mean(l, x, mask, true));
	ir_ref sum = lower_reduce(l, OP_REDUCE_SUM, lower_op2(l, OP_MUL, away, away), mask, lower_int(l, 3) != 0);
	ir_ref n = lower_op2c(l, OP_SUB, lower_count(l, x, mask, lower_of(l, x)->elem), lower_float(l, 2));
	return lower_op2(l, OP_DIV, sum, lower_op2c(l, OP_MAX, n, 0));
}

void lower_bi_var(struct lower *l, ir_ref *r) { r[0] = variance(l); }
void lower_bi_std(struct lower *l, ir_ref *r) { r[0] = lower_op1(l, OP_SQRT, variance(l)); }

/* With dim: the values and their first positions. */
void lower_bi_minmax(struct lower *l, ir_ref *r)
{
	ir_ref x = lower_tensor(l, 0);
	uint32_t mask = lower_mask(l, 1, lower_of(l, x)->rank);
	bool keep = lower_int(l, 2) != 0;
	r[0] = lower_reduce(l, l->how->op, x, mask, keep);
	if (lower_has(l, 1) && mask && !(mask & (mask - 1)))
		r[1] = lower_reduce(l, l->how->op == OP_REDUCE_MAX ? OP_ARGMAX : OP_ARGMIN, x, mask, keep);
}

/* Without dim: of the flattened tensor. */
void lower_bi_arg(struct lower *l, ir_ref *r)
{
	ir_ref x = lower_tensor(l, 0);
	struct hir_type t = lower_node_type(l), in = *lower_of(l, x);
	uint32_t mask = lower_mask(l, 1, in.rank);
	if (!lower_has(l, 1)) {
		x = lower_flatten(l, x);
		mask = 1;
	}
	r[0] = lower_reshape(l, lower_reduce(l, l->how->op, x, mask, false), t.dims, t.rank);
}

void lower_bi_bool(struct lower *l, ir_ref *r)
{
	ir_ref x = lower_tensor(l, 0);
	uint32_t mask = lower_mask(l, 1, lower_of(l, x)->rank);
	r[0] = lower_reduce(l, l->how->op, lower_cast(l, x, DT_BOOL), mask, lower_int(l, 2) != 0);
}
