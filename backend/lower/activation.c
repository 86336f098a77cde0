/* Activation functions. float16 and bfloat16 are computed in float32 and rounded once. */
#include <math.h>
#include "backend/lower/state.h"

static ir_ref operand(struct lower *l) { return lower_widen(l, lower_tensor(l, 0)); }
static ir_ref clip(struct lower *l, ir_ref x, double low, double high)
{
	return lower_op2c(l, OP_MIN, lower_op2c(l, OP_MAX, x, low), high);
}

void lower_bi_relu(struct lower *l, ir_ref *r) { r[0] = lower_op2c(l, OP_MAX, lower_tensor(l, 0), 0); }
void lower_bi_relu6(struct lower *l, ir_ref *r) { r[0] = clip(l, lower_tensor(l, 0), 0, 6); }

void lower_bi_relu2(struct lower *l, ir_ref *r)
{
	ir_ref x = lower_op2c(l, OP_MAX, operand(l), 0);
	r[0] = lower_op2(l, OP_MUL, x, x);
}

void lower_bi_leaky_relu(struct lower *l, ir_ref *r)
{
	ir_ref x = operand(l), zero = lower_const_float(l, lower_of(l, x)->elem, 0);
	r[0] = lower_select(l, lower_op2(l, OP_LT, zero, x), x, lower_op2c(l, OP_MUL, x, lower_float(l, 1)));
}

/* 1 + exp(-x) */
static ir_ref one_plus_exp(struct lower *l, ir_ref x) { return lower_op2c(l, OP_ADD, lower_op1(l, OP_EXP, lower_op1(l, OP_NEG, x)), 1); }

void lower_bi_sigmoid(struct lower *l, ir_ref *r)
{
	ir_ref x = operand(l);
	r[0] = lower_op2(l, OP_DIV, lower_const_float(l, lower_of(l, x)->elem, 1), one_plus_exp(l, x));
}

void lower_bi_silu(struct lower *l, ir_ref *r)
{
	ir_ref x = operand(l);
	r[0] = lower_op2(l, OP_DIV, x, one_plus_exp(l, x));
}

/* sqrt(2/pi) * (x + 0.044715 x^3) */
static ir_ref gelu_tanh(struct lower *l, ir_ref x)
{
	ir_ref cube = lower_op2(l, OP_MUL, lower_op2(l, OP_MUL, x, x), x);
	ir_ref sum = lower_op2(l, OP_ADD, x, lower_op2c(l, OP_MUL, cube, 0.044715));
	return lower_op1(l, OP_TANH, lower_op2c(l, OP_MUL, sum, sqrt(2 / acos(-1))));
}

void lower_bi_gelu(struct lower *l, ir_ref *r)
{
	ir_ref x = operand(l);
	bool approximate = lower_str_is(l, 1, "tanh");
	ir_ref y = approximate ? gelu_tanh(l, x) : lower_op1(l, OP_ERF, lower_op2c(l, OP_MUL, x, sqrt(0.5)));
	r[0] = lower_op2(l, OP_MUL, lower_op2c(l, OP_MUL, x, 0.5), lower_op2c(l, OP_ADD, y, 1));
}

void lower_bi_hardsigmoid(struct lower *l, ir_ref *r)
{
	r[0] = lower_op2c(l, OP_DIV, clip(l, lower_op2c(l, OP_ADD, operand(l), 3), 0, 6), 6);
}

void lower_bi_hardswish(struct lower *l, ir_ref *r)
{
	ir_ref x = operand(l);
	r[0] = lower_op2c(l, OP_DIV, lower_op2(l, OP_MUL, x, clip(l, lower_op2c(l, OP_ADD, x, 3), 0, 6)), 6);
}

/* max(z, 0) + log(1 + exp(-|z|)) with z = beta*x does not overflow; above the threshold x itself. */
void lower_bi_softplus(struct lower *l, ir_ref *r)
{
	ir_ref x = operand(l);
	double beta = lower_float(l, 1);
	ir_ref z = lower_op2c(l, OP_MUL, x, beta);
	ir_ref tail = lower_op1(l, OP_LOG, one_plus_exp(l, lower_op1(l, OP_ABS, z)));
	ir_ref y = lower_op2c(l, OP_DIV, lower_op2(l, OP_ADD, lower_op2c(l, OP_MAX, z, 0), tail), beta);
	ir_ref limit = lower_const_float(l, lower_of(l, x)->elem, lower_float(l, 2));
	r[0] = lower_select(l, lower_op2(l, OP_LT, limit, z), x, y);
}
