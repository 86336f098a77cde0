/* Element-wise builtins. */
#include <math.h>
#include "backend/lower/state.h"

void lower_bi_unary(struct lower *l, ir_ref *r) { r[0] = lower_op1(l, l->how->op, lower_tensor(l, 0)); }

void lower_bi_binary(struct lower *l, ir_ref *r) { r[0] = lower_op2(l, l->how->op, lower_tensor(l, 0), lower_tensor(l, 1)); }

void lower_bi_swapped(struct lower *l, ir_ref *r) { r[0] = lower_op2(l, l->how->op, lower_tensor(l, 1), lower_tensor(l, 0)); }

void lower_bi_div(struct lower *l, ir_ref *r)
{
	dtype e = l->n->type.elem;
	r[0] = lower_op2(l, OP_DIV, lower_cast(l, lower_tensor(l, 0), e), lower_cast(l, lower_tensor(l, 1), e));
}

/* Integers need no rounding. */
void lower_bi_round(struct lower *l, ir_ref *r)
{
	ir_ref x = lower_tensor(l, 0);
	r[0] = dtype_class(lower_of(l, x)->elem) == DTC_FLOAT ? lower_op1(l, l->how->op, x) : x;
}

void lower_bi_cast(struct lower *l, ir_ref *r) { r[0] = lower_tensor(l, 0); } /* the caller casts to the node's type */

void lower_bi_tan(struct lower *l, ir_ref *r)
{
	ir_ref x = lower_widen(l, lower_tensor(l, 0));
	r[0] = lower_op2(l, OP_DIV, lower_op1(l, OP_SIN, x), lower_op1(l, OP_COS, x));
}

void lower_bi_log2(struct lower *l, ir_ref *r)
{
	r[0] = lower_op2c(l, OP_DIV, lower_op1(l, OP_LOG, lower_widen(l, lower_tensor(l, 0))), log(2));
}

void lower_bi_log10(struct lower *l, ir_ref *r)
{
	r[0] = lower_op2c(l, OP_DIV, lower_op1(l, OP_LOG, lower_widen(l, lower_tensor(l, 0))), log(10));
}

/* A bound is a tensor or a number. */
static ir_ref clip_bound(struct lower *l, uint32_t k, dtype elem)
{
	ir_ref t = lower_tensor(l, k);
	return t != IR_NONE ? lower_cast(l, t, elem) : lower_const_float(l, elem, lower_float(l, k));
}

void lower_bi_clip(struct lower *l, ir_ref *r)
{
	dtype e = l->n->type.elem;
	r[0] = lower_cast(l, lower_tensor(l, 0), e);
	if (lower_has(l, 1))
		r[0] = lower_op2(l, OP_MAX, r[0], clip_bound(l, 1, e));
	if (lower_has(l, 2))
		r[0] = lower_op2(l, OP_MIN, r[0], clip_bound(l, 2, e));
}

void lower_bi_where(struct lower *l, ir_ref *r) { r[0] = lower_select(l, lower_tensor(l, 0), lower_tensor(l, 1), lower_tensor(l, 2)); }
