/* Functions of one or two numbers. float16 and bfloat16 are computed in float32 and rounded once. */
#include <math.h>
#include "backend/lower/state.h"

static ir_ref operand(struct lower *l) { return lower_widen(l, lower_tensor(l, 0)); }
static ir_ref number(struct lower *l, ir_ref x, double v) { return lower_const_float(l, lower_of(l, x)->elem, v); }
static ir_ref multiply(struct lower *l, ir_ref x, double v) { return lower_op2c(l, OP_MUL, x, v); }
static ir_ref add(struct lower *l, ir_ref x, double v) { return lower_op2c(l, OP_ADD, x, v); }
static ir_ref is_negative(struct lower *l, ir_ref x) { return lower_op2c(l, OP_LT, x, 0); }

/* x + x²/2 + x³/6 … if |x| is small, because exp(x) - 1 cancels. */
static ir_ref expm1_of(struct lower *l, ir_ref x)
{
	ir_ref sum = number(l, x, 1);
	for (int k = lower_of(l, x)->elem == DT_FLOAT64 ? 14 : 9; k > 1; k--)
		sum = add(l, multiply(l, lower_op2(l, OP_MUL, x, sum), 1.0 / k), 1);
	ir_ref small = lower_op2c(l, OP_LT, lower_op1(l, OP_ABS, x), 0.25);
	return lower_select(l, small, lower_op2(l, OP_MUL, x, sum), add(l, lower_op1(l, OP_EXP, x), -1));
}

/* log(u) · x / (u - 1) with u = 1 + x, so that rounding errors cancel; x if u is 1. */
static ir_ref log1p_of(struct lower *l, ir_ref x)
{
	ir_ref u = add(l, x, 1), less = add(l, u, -1), log = lower_op1(l, OP_LOG, u);
	ir_ref none = lower_op2c(l, OP_EQ, less, 0);
	ir_ref y = lower_op2(l, OP_MUL, log, lower_op2(l, OP_DIV, x, less));
	ir_ref large = lower_op2(l, OP_LT, number(l, x, 1e6), lower_op1(l, OP_ABS, x));
	return lower_select(l, none, x, lower_select(l, large, log, y));
}

void lower_bi_expm1(struct lower *l, ir_ref *r) { r[0] = expm1_of(l, operand(l)); }
void lower_bi_log1p(struct lower *l, ir_ref *r) { r[0] = log1p_of(l, operand(l)); }
void lower_bi_exp2(struct lower *l, ir_ref *r)
{
	ir_ref x = operand(l);
	r[0] = lower_op2(l, OP_POW, number(l, x, 2), x);
}

/* scale · (x or alpha · (exp(x / width) - 1)) */
static ir_ref elu_of(struct lower *l, double alpha, double width, double scale)
{
	ir_ref x = operand(l), low = multiply(l, expm1_of(l, lower_op2c(l, OP_MIN, multiply(l, x, 1 / width), 0)), scale * alpha);
	return lower_select(l, is_negative(l, x), low, scale == 1 ? x : multiply(l, x, scale));
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
	ir_ref small = lower_op1(l, OP_EXP, lower_op1(l, OP_NEG, lower_op1(l, OP_ABS, x)));
	return lower_op2(l, OP_ADD, lower_op2c(l, OP_MAX, x, 0), log1p_of(l, small));
}

void lower_bi_mish(struct lower *l, ir_ref *r)
{
	ir_ref x = operand(l);
	r[0] = lower_op2(l, OP_MUL, x, lower_op1(l, OP_TANH, softplus_of(l, x)));
}

void lower_bi_logsigmoid(struct lower *l, ir_ref *r) { r[0] = lower_op1(l, OP_NEG, softplus_of(l, lower_op1(l, OP_NEG, operand(l)))); }

void lower_bi_softsign(struct lower *l, ir_ref *r)
{
	ir_ref x = operand(l);
	r[0] = lower_op2(l, OP_DIV, x, add(l, lower_op1(l, OP_ABS, x), 1));
}

void lower_bi_hardtanh(struct lower *l, ir_ref *r)
{
	r[0] = lower_op2c(l, OP_MIN, lower_op2c(l, OP_MAX, operand(l), lower_float(l, 1)), lower_float(l, 2));
}

void lower_bi_softshrink(struct lower *l, ir_ref *r)
{
	ir_ref x = operand(l);
	double by = lower_float(l, 1);
	ir_ref inside = lower_op2(l, OP_MIN, lower_op2c(l, OP_MAX, x, -by), number(l, x, by));
	r[0] = lower_op2(l, OP_SUB, x, inside);
}

void lower_bi_hardshrink(struct lower *l, ir_ref *r)
{
	ir_ref x = operand(l), inside = lower_op2c(l, OP_LE, lower_op1(l, OP_ABS, x), lower_float(l, 1));
	r[0] = lower_select(l, inside, number(l, x, 0), x);
}

void lower_bi_tanhshrink(struct lower *l, ir_ref *r)
{
	ir_ref x = operand(l);
	r[0] = lower_op2(l, OP_SUB, x, lower_op1(l, OP_TANH, x));
}

/* (e + e/(e + 1)) / 2 with e = exp(x) - 1 */
void lower_bi_sinh(struct lower *l, ir_ref *r)
{
	ir_ref x = operand(l), a = lower_op1(l, OP_ABS, x), e = expm1_of(l, a);
	ir_ref y = multiply(l, lower_op2(l, OP_ADD, e, lower_op2(l, OP_DIV, e, add(l, e, 1))), 0.5);
	ir_ref large = lower_op2(l, OP_LT, number(l, x, 20), a);
	y = lower_select(l, large, multiply(l, lower_op1(l, OP_EXP, a), 0.5), y);
	r[0] = lower_select(l, is_negative(l, x), lower_op1(l, OP_NEG, y), y);
}

void lower_bi_cosh(struct lower *l, ir_ref *r)
{
	ir_ref e = lower_op1(l, OP_EXP, lower_op1(l, OP_ABS, operand(l)));
	r[0] = multiply(l, lower_op2(l, OP_ADD, e, lower_op2(l, OP_DIV, number(l, e, 1), e)), 0.5);
}

/* ---- inverse functions: the rational approximation of Cephes, Moshier 1984, on [0, tan(π/8)] ---- */

static ir_ref polynomial(struct lower *l, ir_ref z, const double *c, int n)
{
	ir_ref y = number(l, z, c[0]);
	for (int k = 1; k < n; k++)
		y = add(l, lower_op2(l, OP_MUL, y, z), c[k]);
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
	ir_ref a = lower_op1(l, OP_ABS, x), one = number(l, x, 1);
	ir_ref far = lower_op2(l, OP_LT, number(l, x, 2.41421356237309504880), a), middle = lower_op2(l, OP_LT, number(l, x, 0.66), a);
	ir_ref at = lower_select(l, middle, lower_op2(l, OP_DIV, add(l, a, -1), add(l, a, 1)), a);
	at = lower_select(l, far, lower_op1(l, OP_NEG, lower_op2(l, OP_DIV, one, a)), at);
	ir_ref start = lower_select(l, far, number(l, x, pi / 2), lower_select(l, middle, number(l, x, pi / 4), number(l, x, 0)));
	ir_ref z = lower_op2(l, OP_MUL, at, at), part = lower_op2(l, OP_DIV, polynomial(l, z, p, 5), polynomial(l, z, q, 6));
	ir_ref y = lower_op2(l, OP_ADD, at, lower_op2(l, OP_MUL, at, lower_op2(l, OP_MUL, z, part)));
	y = lower_op2(l, OP_ADD, start, y);
	return lower_select(l, is_negative(l, x), lower_op1(l, OP_NEG, y), y);
}

void lower_bi_atan(struct lower *l, ir_ref *r) { r[0] = atan_of(l, operand(l)); }

/* 2 · atan(x / (1 + sqrt(1 - x²))) */
void lower_bi_asin(struct lower *l, ir_ref *r)
{
	ir_ref x = operand(l), one = number(l, x, 1);
	ir_ref rest = lower_op1(l, OP_SQRT, lower_op2(l, OP_MUL, lower_op2(l, OP_SUB, one, x), add(l, x, 1)));
	r[0] = multiply(l, atan_of(l, lower_op2(l, OP_DIV, x, add(l, rest, 1))), 2);
}

/* 2 · atan(sqrt((1 - x) / (1 + x))) */
void lower_bi_acos(struct lower *l, ir_ref *r)
{
	ir_ref x = operand(l), ratio = lower_op2(l, OP_DIV, lower_op2(l, OP_SUB, number(l, x, 1), x), add(l, x, 1));
	r[0] = multiply(l, atan_of(l, lower_op1(l, OP_SQRT, ratio)), 2);
}

/* atan(y / x), plus or minus π in the left half-plane; 0 at the origin. */
void lower_bi_atan2(struct lower *l, ir_ref *r)
{
	const double pi = acos(-1);
	ir_ref y = operand(l), x = lower_widen(l, lower_tensor(l, 1)), angle = atan_of(l, lower_op2(l, OP_DIV, y, x));
	ir_ref turn = lower_select(l, is_negative(l, y), number(l, y, -pi), number(l, y, pi));
	angle = lower_select(l, is_negative(l, x), lower_op2(l, OP_ADD, angle, turn), angle);
	ir_ref zero = lower_op2(l, OP_AND, lower_op2c(l, OP_EQ, y, 0), lower_op2c(l, OP_EQ, x, 0));
	r[0] = lower_select(l, zero, number(l, y, 0), angle);
}

/* |x| mod |y| with the sign of x */
void lower_bi_fmod(struct lower *l, ir_ref *r)
{
	ir_ref x = lower_tensor(l, 0), y = lower_tensor(l, 1);
	ir_ref m = lower_op2(l, OP_MOD, lower_op1(l, OP_ABS, x), lower_op1(l, OP_ABS, y));
	r[0] = lower_select(l, is_negative(l, x), lower_op1(l, OP_NEG, m), m);
}

/* ---- reductions ---- */

void lower_bi_extreme(struct lower *l, ir_ref *r)
{
	ir_ref x = lower_tensor(l, 0);
	r[0] = lower_reduce(l, l->how->op, x, lower_mask(l, 1, lower_of(l, x)->rank), lower_int(l, 2) != 0);
}

/* log(sum(exp(x - m))) + m with the maximum m, or 0 if that is infinite */
void lower_bi_logsumexp(struct lower *l, ir_ref *r)
{
	ir_ref x = operand(l);
	uint32_t mask = lower_mask(l, 1, lower_of(l, x)->rank);
	ir_ref m = lower_reduce(l, OP_REDUCE_MAX, x, mask, true);
	ir_ref finite = lower_op2(l, OP_LT, lower_op1(l, OP_ABS, m), number(l, x, INFINITY));
	m = lower_select(l, finite, m, number(l, x, 0));
	ir_ref sum = lower_reduce(l, OP_REDUCE_SUM, lower_op1(l, OP_EXP, lower_op2(l, OP_SUB, x, m)), mask, true);
	struct hir_type t = lower_node_type(l);
	r[0] = lower_reshape(l, lower_op2(l, OP_ADD, lower_op1(l, OP_LOG, sum), m), t.dims, t.rank);
}
