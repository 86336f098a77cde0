/* Element-wise builtins. */
#include <math.h>
#include "backend/lower/state.h"

void lower_bi_unary(struct lower *l, ir_ref *r) { r[0] = ir_build_op1(l->b, l->how->op, lower_tensor(l, 0)); }

void lower_bi_binary(struct lower *l, ir_ref *r) { r[0] = ir_build_op2(l->b, l->how->op, lower_tensor(l, 0), lower_tensor(l, 1)); }

void lower_bi_swapped(struct lower *l, ir_ref *r) { r[0] = ir_build_op2(l->b, l->how->op, lower_tensor(l, 1), lower_tensor(l, 0)); }

void lower_bi_bitwise_not(struct lower *l, ir_ref *r)
{
	ir_ref x = lower_tensor(l, 0);
	bool is_bool = ir_type_of(l->f, x)->elem == DT_BOOL;
	r[0] = is_bool ? ir_build_op1(l->b, OP_NOT, x)
		       : ir_build_op2(l->b, OP_XOR, x, ir_build_const_int(l->b, ir_type_of(l->f, x)->elem, -1));
}

void lower_bi_div(struct lower *l, ir_ref *r)
{
	dtype e = l->n->type.elem;
	r[0] = ir_build_op2(l->b, OP_DIV, ir_build_cast(l->b, lower_tensor(l, 0), e), ir_build_cast(l->b, lower_tensor(l, 1), e));
}

/* Integers need no rounding. */
void lower_bi_round(struct lower *l, ir_ref *r)
{
	ir_ref x = lower_tensor(l, 0);
	r[0] = dtype_class(ir_type_of(l->f, x)->elem) == DTC_FLOAT ? ir_build_op1(l->b, l->how->op, x) : x;
}

void lower_bi_cast(struct lower *l, ir_ref *r) { r[0] = lower_tensor(l, 0); } /* the caller casts to the node's type */

void lower_bi_tan(struct lower *l, ir_ref *r)
{
	ir_ref x = ir_build_widen(l->b, lower_tensor(l, 0));
	r[0] = ir_build_op2(l->b, OP_DIV, ir_build_op1(l->b, OP_SIN, x), ir_build_op1(l->b, OP_COS, x));
}

/* Of a power of the base it is a whole number, which the quotient of two rounded logarithms may miss: log10(1000) is 3. */
static ir_ref ewise_log_of_base(struct lower *l, double base)
{
	ir_ref x = ir_build_widen(l->b, lower_tensor(l, 0)), y = ir_build_op2c(l->b, OP_DIV, ir_build_op1(l->b, OP_LOG, x), log(base));
	ir_ref whole = ir_build_op1(l->b, OP_ROUND, y);
	ir_ref power = ir_build_op2(l->b, OP_POW, ir_build_const_float(l->b, ir_type_of(l->f, x)->elem, base), whole);
	return ir_build_select(l->b, ir_build_op2(l->b, OP_EQ, power, x), whole, y);
}

void lower_bi_log2(struct lower *l, ir_ref *r) { r[0] = ewise_log_of_base(l, 2); }
void lower_bi_log10(struct lower *l, ir_ref *r) { r[0] = ewise_log_of_base(l, 10); }

/* A bound is a tensor or a number. */
static ir_ref clip_bound(struct lower *l, uint32_t k, dtype elem)
{
	ir_ref t = lower_tensor(l, k);
	return t != IR_NONE ? ir_build_cast(l->b, t, elem) : ir_build_const_float(l->b, elem, lower_float(l, k));
}

void lower_bi_clip(struct lower *l, ir_ref *r)
{
	dtype e = l->n->type.elem;
	r[0] = ir_build_cast(l->b, lower_tensor(l, 0), e);
	if (lower_has(l, 1))
		r[0] = ir_build_op2(l->b, OP_MAX, r[0], clip_bound(l, 1, e));
	if (lower_has(l, 2))
		r[0] = ir_build_op2(l->b, OP_MIN, r[0], clip_bound(l, 2, e));
}

void lower_bi_where(struct lower *l, ir_ref *r)
{
	r[0] = ir_build_select(l->b, lower_tensor(l, 0), lower_tensor(l, 1), lower_tensor(l, 2));
}
