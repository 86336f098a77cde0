/* Quantisation. */
#include "backend/lower_state.h"

static ir_ref rounded(struct lower *l, ir_ref x, ir_ref scale, double limit)
{
	ir_ref q = lower_op1(l, OP_ROUND, lower_op2(l, OP_DIV, x, scale));
	return lower_op2c(l, OP_MIN, lower_op2c(l, OP_MAX, q, -limit), limit);
}

/* x > t: 1; x < -t: -1; else 0 */
void lower_bi_to_trit(struct lower *l, ir_ref *r)
{
	ir_ref x = lower_widen(l, lower_tensor(l, 0)), t = lower_tensor(l, 1);
	dtype e = lower_of(l, x)->elem;
	t = t == IR_NONE ? lower_const_float(l, e, lower_float(l, 1)) : lower_cast(l, t, e);
	ir_ref low = lower_op2(l, OP_LT, x, lower_op1(l, OP_NEG, t)), high = lower_op2(l, OP_LT, t, x);
	ir_ref below = lower_select(l, low, lower_const_float(l, DT_TRIT, -1), lower_const_float(l, DT_TRIT, 0));
	r[0] = lower_select(l, high, lower_const_float(l, DT_TRIT, 1), below);
}

void lower_bi_absmean_quantize(struct lower *l, ir_ref *r)
{
	ir_ref w = lower_widen(l, lower_tensor(l, 0));
	uint32_t all = (1u << lower_of(l, w)->rank) - 1;
	ir_ref scale = lower_op2c(l, OP_MAX, lower_mean(l, lower_op1(l, OP_ABS, w), all, false), 1e-5);
	r[0] = lower_cast(l, rounded(l, w, scale, 1), DT_TRIT);
	r[1] = scale;
}

void lower_bi_absmax_quantize(struct lower *l, ir_ref *r)
{
	ir_ref x = lower_widen(l, lower_tensor(l, 0));
	uint32_t mask = lower_mask(l, 1, lower_of(l, x)->rank);
	ir_ref most = lower_reduce(l, OP_REDUCE_MAX, lower_op1(l, OP_ABS, x), mask, true);
	ir_ref scale = lower_op2c(l, OP_DIV, lower_op2c(l, OP_MAX, most, 1e-5), 127);
	r[0] = lower_cast(l, rounded(l, x, scale, 127), DT_INT8);
	r[1] = scale;
}

void lower_bi_ternary_dequantize(struct lower *l, ir_ref *r)
{
	dtype e = l->n->type.elem;
	ir_ref scale = lower_tensor(l, 1);
	scale = scale == IR_NONE ? lower_const_float(l, e, lower_float(l, 1)) : lower_cast(l, scale, e);
	r[0] = lower_op2(l, OP_MUL, lower_cast(l, lower_tensor(l, 0), e), scale);
}
