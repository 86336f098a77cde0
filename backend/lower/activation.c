/* Activation functions. float16 and bfloat16 are computed in float32 and rounded once. */
#include <math.h>
#include "backend/lower/state.h"

static ir_ref activation_operand(struct lower *l) { return ir_build_widen(l->b, lower_tensor(l, 0)); }
static ir_ref clip(struct lower *l, ir_ref x, double low, double high)
{
	return ir_build_op2c(l->b, OP_MIN, ir_build_op2c(l->b, OP_MAX, x, low), high);
}

void lower_bi_relu(struct lower *l, ir_ref *r) { r[0] = ir_build_op2c(l->b, OP_MAX, lower_tensor(l, 0), 0); }
void lower_bi_relu6(struct lower *l, ir_ref *r) { r[0] = clip(l, lower_tensor(l, 0), 0, 6); }

void lower_bi_relu2(struct lower *l, ir_ref *r)
{
	ir_ref x = ir_build_op2c(l->b, OP_MAX, activation_operand(l), 0);
	r[0] = ir_build_op2(l->b, OP_MUL, x, x);
}

void lower_bi_leaky_relu(struct lower *l, ir_ref *r)
{
	ir_ref x = activation_operand(l), zero = ir_build_const_float(l->b, ir_type_of(l->f, x)->elem, 0);
	r[0] = ir_build_select(l->b, ir_build_op2(l->b, OP_LT, zero, x), x, ir_build_op2c(l->b, OP_MUL, x, lower_float(l, 1)));
}

/* 1 + exp(-x) */
static ir_ref one_plus_exp(struct lower *l, ir_ref x)
{
	return ir_build_op2c(l->b, OP_ADD, ir_build_op1(l->b, OP_EXP, ir_build_op1(l->b, OP_NEG, x)), 1);
}

void lower_bi_sigmoid(struct lower *l, ir_ref *r)
{
	ir_ref x = activation_operand(l);
	r[0] = ir_build_op2(l->b, OP_DIV, ir_build_const_float(l->b, ir_type_of(l->f, x)->elem, 1), one_plus_exp(l, x));
}

void lower_bi_silu(struct lower *l, ir_ref *r)
{
	ir_ref x = activation_operand(l);
	r[0] = ir_build_op2(l->b, OP_DIV, x, one_plus_exp(l, x));
}

/* sqrt(2/pi) * (x + 0.044715 x^3) */
static ir_ref gelu_tanh(struct lower *l, ir_ref x)
{
	ir_ref cube = ir_build_op2(l->b, OP_MUL, ir_build_op2(l->b, OP_MUL, x, x), x);
	ir_ref sum = ir_build_op2(l->b, OP_ADD, x, ir_build_op2c(l->b, OP_MUL, cube, 0.044715));
	return ir_build_op1(l->b, OP_TANH, ir_build_op2c(l->b, OP_MUL, sum, sqrt(2 / acos(-1))));
}

void lower_bi_gelu(struct lower *l, ir_ref *r)
{
	ir_ref x = activation_operand(l);
	bool approximate = lower_str_is(l, 1, "tanh");
	ir_ref y = approximate ? gelu_tanh(l, x) : ir_build_op1(l->b, OP_ERF, ir_build_op2c(l->b, OP_MUL, x, sqrt(0.5)));
	r[0] = ir_build_op2(l->b, OP_MUL, ir_build_op2c(l->b, OP_MUL, x, 0.5), ir_build_op2c(l->b, OP_ADD, y, 1));
}

void lower_bi_hardsigmoid(struct lower *l, ir_ref *r)
{
	r[0] = ir_build_op2c(l->b, OP_DIV, clip(l, ir_build_op2c(l->b, OP_ADD, activation_operand(l), 3), 0, 6), 6);
}

void lower_bi_hardswish(struct lower *l, ir_ref *r)
{
	ir_ref x = activation_operand(l);
	r[0] = ir_build_op2c(l->b, OP_DIV, ir_build_op2(l->b, OP_MUL, x, clip(l, ir_build_op2c(l->b, OP_ADD, x, 3), 0, 6)), 6);
}

/* max(z, 0) + log(1 + exp(-|z|)) with z = beta*x does not overflow; above the threshold x itself. */
void lower_bi_softplus(struct lower *l, ir_ref *r)
{
	ir_ref x = activation_operand(l);
	double beta = lower_float(l, 1);
	ir_ref z = ir_build_op2c(l->b, OP_MUL, x, beta);
	ir_ref tail = ir_build_op1(l->b, OP_LOG, one_plus_exp(l, ir_build_op1(l->b, OP_ABS, z)));
	ir_ref y = ir_build_op2c(l->b, OP_DIV, ir_build_op2(l->b, OP_ADD, ir_build_op2c(l->b, OP_MAX, z, 0), tail), beta);
	ir_ref limit = ir_build_const_float(l->b, ir_type_of(l->f, x)->elem, lower_float(l, 2));
	r[0] = ir_build_select(l->b, ir_build_op2(l->b, OP_LT, limit, z), x, y);
}
