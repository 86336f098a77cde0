/* Functions of one or two numbers. float16 and bfloat16 are computed in float32 and rounded once. */
#include <math.h>
#include "backend/lower/state.h"

static ir_ref function_operand(struct lower *l) { return ir_build_widen(l->b, lower_tensor(l, 0)); }
static ir_ref function_number(struct lower *l, ir_ref x, double v) { return ir_build_const_float(l->b, ir_type_of(l->f, x)->elem, v); }
static ir_ref function_multiply(struct lower *l, ir_ref x, double v) { return ir_build_op2c(l->b, OP_MUL, x, v); }
static ir_ref function_add(struct lower *l, ir_ref x, double v) { return ir_build_op2c(l->b, OP_ADD, x, v); }
static ir_ref is_negative(struct lower *l, ir_ref x) { return ir_build_op2c(l->b, OP_LT, x, 0); }

/* x + x²/2 + x³/6 … if |x| is small, because exp(x) - 1 cancels. */
static ir_ref expm1_of(struct lower *l, ir_ref x)
{
	ir_ref sum = function_number(l, x, 1);
	for (int k = ir_type_of(l->f, x)->elem == DT_FLOAT64 ? 14 : 9; k > 1; k--)
		sum = function_add(l, function_multiply(l, ir_build_op2(l->b, OP_MUL, x, sum), 1.0 / k), 1);
	ir_ref small = ir_build_op2c(l->b, OP_LT, ir_build_op1(l->b, OP_ABS, x), 0.25);
	return ir_build_select(l->b, small, ir_build_op2(l->b, OP_MUL, x, sum), function_add(l, ir_build_op1(l->b, OP_EXP, x), -1));
}

/* log(u) · x / (u - 1) with u = 1 + x, so that rounding errors cancel; x if u is 1. */
static ir_ref log1p_of(struct lower *l, ir_ref x)
{
	ir_ref u = function_add(l, x, 1), less = function_add(l, u, -1), log = ir_build_op1(l->b, OP_LOG, u);
	ir_ref none = ir_build_op2c(l->b, OP_EQ, less, 0);
	ir_ref y = ir_build_op2(l->b, OP_MUL, log, ir_build_op2(l->b, OP_DIV, x, less));
	ir_ref large = ir_build_op2(l->b, OP_LT, function_number(l, x, 1e6), ir_build_op1(l->b, OP_ABS, x));
	return ir_build_select(l->b, none, x, ir_build_select(l->b, large, log, y));
}

void lower_bi_expm1(struct lower *l, ir_ref *r) { r[0] = expm1_of(l, function_operand(l)); }
void lower_bi_log1p(struct lower *l, ir_ref *r) { r[0] = log1p_of(l, function_operand(l)); }
void lower_bi_exp2(struct lower *l, ir_ref *r)
{
	ir_ref x = function_operand(l);
	r[0] = ir_build_op2(l->b, OP_POW, function_number(l, x, 2), x);
}

/* scale · (x or alpha · (exp(x / width) - 1)) */
static ir_ref elu_of(struct lower *l, double alpha, double width, double scale)
{
	ir_ref x = function_operand(l),
	       low = function_multiply(l, expm1_of(l, ir_build_op2c(l->b, OP_MIN, function_multiply(l, x, 1 / width), 0)), scale * alpha);
	return ir_build_select(l->b, is_negative(l, x), low, scale == 1 ? x : function_multiply(l, x, scale));
}

void lower_bi_elu(struct lower *l, ir_ref *r) { r[0] = elu_of(l, lower_float(l, 1), 1, 1); }
void lower_bi_celu(struct lower *l, ir_ref *r) { r[0] = elu_of(l, lower_float(l, 1), lower_float(l, 1), 1); }
void lower_bi_selu(struct lower *l, ir_ref *r)
{
	r[0] = elu_of(l, 1.6732632423543772848170429916717, 1, 1.0507009873554804934193349852946);
}

/* log(1 + exp(x)) without overflow */
static ir_ref softplus_of(struct lower *l, ir_ref x)
{
	ir_ref small = ir_build_op1(l->b, OP_EXP, ir_build_op1(l->b, OP_NEG, ir_build_op1(l->b, OP_ABS, x)));
	return ir_build_op2(l->b, OP_ADD, ir_build_op2c(l->b, OP_MAX, x, 0), log1p_of(l, small));
}

void lower_bi_mish(struct lower *l, ir_ref *r)
{
	ir_ref x = function_operand(l);
	r[0] = ir_build_op2(l->b, OP_MUL, x, ir_build_op1(l->b, OP_TANH, softplus_of(l, x)));
}

void lower_bi_logsigmoid(struct lower *l, ir_ref *r)
{
	r[0] = ir_build_op1(l->b, OP_NEG, softplus_of(l, ir_build_op1(l->b, OP_NEG, function_operand(l))));
}

void lower_bi_softsign(struct lower *l, ir_ref *r)
{
	ir_ref x = function_operand(l);
	r[0] = ir_build_op2(l->b, OP_DIV, x, function_add(l, ir_build_op1(l->b, OP_ABS, x), 1));
}

void lower_bi_hardtanh(struct lower *l, ir_ref *r)
{
	r[0] = ir_build_op2c(l->b, OP_MIN, ir_build_op2c(l->b, OP_MAX, function_operand(l), lower_float(l, 1)), lower_float(l, 2));
}

void lower_bi_softshrink(struct lower *l, ir_ref *r)
{
	ir_ref x = function_operand(l);
	double by = lower_float(l, 1);
	ir_ref inside = ir_build_op2(l->b, OP_MIN, ir_build_op2c(l->b, OP_MAX, x, -by), function_number(l, x, by));
	r[0] = ir_build_op2(l->b, OP_SUB, x, inside);
}

void lower_bi_hardshrink(struct lower *l, ir_ref *r)
{
	ir_ref x = function_operand(l), inside = ir_build_op2c(l->b, OP_LE, ir_build_op1(l->b, OP_ABS, x), lower_float(l, 1));
	r[0] = ir_build_select(l->b, inside, function_number(l, x, 0), x);
}

void lower_bi_tanhshrink(struct lower *l, ir_ref *r)
{
	ir_ref x = function_operand(l);
	r[0] = ir_build_op2(l->b, OP_SUB, x, ir_build_op1(l->b, OP_TANH, x));
}

/* exp(a) / 2, by the square of exp(a / 2), which does not overflow before the result does. */
static ir_ref half_exp(struct lower *l, ir_ref a)
{
	ir_ref root = ir_build_op1(l->b, OP_EXP, function_multiply(l, a, 0.5));
	return ir_build_op2(l->b, OP_MUL, function_multiply(l, root, 0.5), root);
}

static ir_ref is_beyond(struct lower *l, ir_ref a, double limit) { return ir_build_op2(l->b, OP_LT, function_number(l, a, limit), a); }

/* (e + e/(e + 1)) / 2 with e = exp(x) - 1 */
void lower_bi_sinh(struct lower *l, ir_ref *r)
{
	ir_ref x = function_operand(l), a = ir_build_op1(l->b, OP_ABS, x), e = expm1_of(l, a);
	ir_ref y = function_multiply(l, ir_build_op2(l->b, OP_ADD, e, ir_build_op2(l->b, OP_DIV, e, function_add(l, e, 1))), 0.5);
	y = ir_build_select(l->b, is_beyond(l, a, 20), half_exp(l, a), y);
	r[0] = ir_build_select(l->b, is_negative(l, x), ir_build_op1(l->b, OP_NEG, y), y);
}

void lower_bi_cosh(struct lower *l, ir_ref *r)
{
	ir_ref a = ir_build_op1(l->b, OP_ABS, function_operand(l)), e = ir_build_op1(l->b, OP_EXP, a);
	ir_ref y = function_multiply(l, ir_build_op2(l->b, OP_ADD, e, ir_build_op2(l->b, OP_DIV, function_number(l, e, 1), e)), 0.5);
	r[0] = ir_build_select(l->b, is_beyond(l, a, 20), half_exp(l, a), y);
}

/* ---- inverse functions: the rational approximation of Cephes, Moshier 1984, on [0, tan(π/8)] ---- */

static ir_ref polynomial(struct lower *l, ir_ref z, const double *c, int n)
{
	ir_ref y = function_number(l, z, c[0]);
	for (int k = 1; k < n; k++)
		y = function_add(l, ir_build_op2(l->b, OP_MUL, y, z), c[k]);
	return y;
}

static ir_ref atan_of(struct lower *l, ir_ref x)
{
	static const double p[] = {-8.750608600031904122785E-1, -1.615753718733365076637E1, -7.500855792314704667340E1,
				   -1.228866684490136173410E2, -6.485021904942025371773E1};
	static const double q[] = {1,
				   2.485846490142306297962E1,
				   1.650270098316988542046E2,
				   4.328810604912902668951E2,
				   4.853903996359136964868E2,
				   1.945506571482613964425E2};
	const double pi = acos(-1);
	ir_ref a = ir_build_op1(l->b, OP_ABS, x), one = function_number(l, x, 1);
	ir_ref far = ir_build_op2(l->b, OP_LT, function_number(l, x, 2.41421356237309504880), a),
	       middle = ir_build_op2(l->b, OP_LT, function_number(l, x, 0.66), a);
	ir_ref at = ir_build_select(l->b, middle, ir_build_op2(l->b, OP_DIV, function_add(l, a, -1), function_add(l, a, 1)), a);
	at = ir_build_select(l->b, far, ir_build_op1(l->b, OP_NEG, ir_build_op2(l->b, OP_DIV, one, a)), at);
	ir_ref start = ir_build_select(l->b, far, function_number(l, x, pi / 2),
				       ir_build_select(l->b, middle, function_number(l, x, pi / 4), function_number(l, x, 0)));
	ir_ref z = ir_build_op2(l->b, OP_MUL, at, at), part = ir_build_op2(l->b, OP_DIV, polynomial(l, z, p, 5), polynomial(l, z, q, 6));
	ir_ref y = ir_build_op2(l->b, OP_ADD, at, ir_build_op2(l->b, OP_MUL, at, ir_build_op2(l->b, OP_MUL, z, part)));
	y = ir_build_op2(l->b, OP_ADD, start, y);
	return ir_build_select(l->b, is_negative(l, x), ir_build_op1(l->b, OP_NEG, y), y);
}

void lower_bi_atan(struct lower *l, ir_ref *r) { r[0] = atan_of(l, function_operand(l)); }

/* 2 · atan(x / (1 + sqrt(1 - x²))) */
void lower_bi_asin(struct lower *l, ir_ref *r)
{
	ir_ref x = function_operand(l), one = function_number(l, x, 1);
	ir_ref rest = ir_build_op1(l->b, OP_SQRT, ir_build_op2(l->b, OP_MUL, ir_build_op2(l->b, OP_SUB, one, x), function_add(l, x, 1)));
	r[0] = function_multiply(l, atan_of(l, ir_build_op2(l->b, OP_DIV, x, function_add(l, rest, 1))), 2);
}

/* 2 · atan(sqrt((1 - x) / (1 + x))) */
void lower_bi_acos(struct lower *l, ir_ref *r)
{
	ir_ref x = function_operand(l),
	       ratio = ir_build_op2(l->b, OP_DIV, ir_build_op2(l->b, OP_SUB, function_number(l, x, 1), x), function_add(l, x, 1));
	r[0] = function_multiply(l, atan_of(l, ir_build_op1(l->b, OP_SQRT, ratio)), 2);
}

/* True for negative numbers and for -0, whose reciprocal is -∞. */
static ir_ref has_sign(struct lower *l, ir_ref x)
{
	return ir_build_op2(l->b, OP_OR, is_negative(l, x), is_negative(l, ir_build_op2(l->b, OP_DIV, function_number(l, x, 1), x)));
}

static ir_ref both_are(struct lower *l, ir_ref x, ir_ref y, double v)
{
	return ir_build_op2(l->b, OP_AND, ir_build_op2c(l->b, OP_EQ, x, v), ir_build_op2c(l->b, OP_EQ, y, v));
}

/* The angle of (|x|, |y|), mirrored by the signs of x and y. Two infinities are as far as each other; the origin has the angle 0. */
void lower_bi_atan2(struct lower *l, ir_ref *r)
{
	ir_ref y = function_operand(l), x = ir_build_widen(l->b, lower_tensor(l, 1));
	ir_ref up = ir_build_op1(l->b, OP_ABS, y), right = ir_build_op1(l->b, OP_ABS, x), slope = ir_build_op2(l->b, OP_DIV, up, right);
	slope = ir_build_select(l->b, both_are(l, right, up, INFINITY), function_number(l, slope, 1), slope);
	ir_ref angle = atan_of(l, ir_build_select(l->b, both_are(l, right, up, 0), function_number(l, slope, 0), slope));
	ir_ref mirrored = ir_build_op2(l->b, OP_SUB, function_number(l, angle, acos(-1)), angle);
	angle = ir_build_select(l->b, has_sign(l, x), mirrored, angle);
	r[0] = ir_build_select(l->b, has_sign(l, y), ir_build_op1(l->b, OP_NEG, angle), angle);
}

/* |x| mod |y| with the sign of x */
void lower_bi_fmod(struct lower *l, ir_ref *r)
{
	ir_ref x = lower_tensor(l, 0), y = lower_tensor(l, 1);
	ir_ref m = ir_build_op2(l->b, OP_MOD, ir_build_op1(l->b, OP_ABS, x), ir_build_op1(l->b, OP_ABS, y));
	r[0] = ir_build_select(l->b, is_negative(l, x), ir_build_op1(l->b, OP_NEG, m), m);
}

/* ---- reductions ---- */

void lower_bi_extreme(struct lower *l, ir_ref *r)
{
	ir_ref x = lower_tensor(l, 0);
	r[0] = ir_build_reduce(l->b, l->how->op, x, lower_mask(l, 1, ir_type_of(l->f, x)->rank), lower_int(l, 2) != 0);
}

/* log(sum(exp(x - m))) + m with the maximum m, or 0 if that is infinite */
void lower_bi_logsumexp(struct lower *l, ir_ref *r)
{
	ir_ref x = function_operand(l);
	uint32_t mask = lower_mask(l, 1, ir_type_of(l->f, x)->rank);
	ir_ref m = ir_build_reduce(l->b, OP_REDUCE_MAX, x, mask, true);
	ir_ref finite = ir_build_op2(l->b, OP_LT, ir_build_op1(l->b, OP_ABS, m), function_number(l, x, INFINITY));
	m = ir_build_select(l->b, finite, m, function_number(l, x, 0));
	ir_ref sum = ir_build_reduce(l->b, OP_REDUCE_SUM, ir_build_op1(l->b, OP_EXP, ir_build_op2(l->b, OP_SUB, x, m)), mask, true);
	struct hir_type t = lower_node_type(l);
	r[0] = ir_build_reshape(l->b, ir_build_op2(l->b, OP_ADD, ir_build_op1(l->b, OP_LOG, sum), m), t.dims, t.rank);
}
