/* Rules of element-wise builtins and reductions that are composed of others. */
#include <float.h>
#include <math.h>
#include "frontend/rules/builtin.h"

static bool composed_elementwise_is_float(struct emitter *e, struct value x)
{
	return is_tensor(x) && dtype_class(type_of(e, x.u.t)->elem) == DTC_FLOAT;
}
static struct value composed_elementwise_operand(const struct builtin_call *c, uint32_t i) { return value_tensor(c->operand[i]); }

struct value rule_square(struct emitter *e, struct builtin_call *c)
{
	return COMPOSE(BI_MUL, composed_elementwise_operand(c, 0), composed_elementwise_operand(c, 0));
}

struct value rule_reciprocal(struct emitter *e, struct builtin_call *c)
{
	return COMPOSE(BI_DIV, value_float(1), composed_elementwise_operand(c, 0));
}

/* trunc, frac. Integers have no fraction. */
struct value rule_trunc(struct emitter *e, struct builtin_call *c)
{
	struct value x = composed_elementwise_operand(c, 0);
	if (!composed_elementwise_is_float(e, x))
		return x;
	struct value whole = COMPOSE(BI_WHERE, COMPOSE(BI_LT, x, value_float(0)), COMPOSE(BI_CEIL, x), COMPOSE(BI_FLOOR, x));
	return c->bi == BI_TRUNC ? whole : COMPOSE(BI_SUB, x, whole);
}

struct value rule_degrees(struct emitter *e, struct builtin_call *c)
{
	const double degree = 3.14159265358979323846 / 180;
	return COMPOSE(BI_MUL, composed_elementwise_operand(c, 0), value_float(c->bi == BI_DEG2RAD ? degree : 1 / degree));
}

/* asinh(x) = ±log(|x| + √(x² + 1)), exact near 0. Beyond 10⁴ the root is |x|, so that squares stay finite. */
struct value rule_asinh(struct emitter *e, struct builtin_call *c)
{
	struct value x = composed_elementwise_operand(c, 0), a = COMPOSE(BI_ABS, x), square = COMPOSE(BI_MUL, a, a), one = value_float(1);
	struct value root = COMPOSE(BI_SQRT, COMPOSE(BI_ADD, square, one));
	struct value near = COMPOSE(BI_LOG1P, COMPOSE(BI_ADD, a, COMPOSE(BI_DIV, square, COMPOSE(BI_ADD, root, one))));
	struct value far = COMPOSE(BI_ADD, COMPOSE(BI_LOG, a), value_float(log(2)));
	return COMPOSE(BI_MUL, COMPOSE(BI_SIGN, x), COMPOSE(BI_WHERE, COMPOSE(BI_LT, a, value_float(1e4)), near, far));
}

/* acosh(1 + t) = log(1 + t + √(2t + t²)), exact near 1. */
struct value rule_acosh(struct emitter *e, struct builtin_call *c)
{
	struct value x = composed_elementwise_operand(c, 0), t = COMPOSE(BI_SUB, x, value_float(1));
	struct value root = COMPOSE(BI_SQRT, COMPOSE(BI_MUL, t, COMPOSE(BI_ADD, t, value_float(2))));
	struct value near = COMPOSE(BI_LOG1P, COMPOSE(BI_ADD, t, root)), far = COMPOSE(BI_ADD, COMPOSE(BI_LOG, x), value_float(log(2)));
	return COMPOSE(BI_WHERE, COMPOSE(BI_LT, x, value_float(1e4)), near, far);
}

struct value rule_atanh(struct emitter *e, struct builtin_call *c)
{
	struct value x = composed_elementwise_operand(c, 0),
		     two = COMPOSE(BI_SUB, COMPOSE(BI_LOG1P, x), COMPOSE(BI_LOG1P, COMPOSE(BI_NEG, x)));
	return COMPOSE(BI_MUL, two, value_float(0.5));
}

struct value rule_logit(struct emitter *e, struct builtin_call *c)
{
	double eps;
	struct value x = composed_elementwise_operand(c, 0);
	if (c->v[1].kind != V_NONE) {
		if (!need_float_value(e, c, 1, &eps))
			return VALUE_POISON;
		struct value low = value_float(eps), high = value_float(1 - eps);
		struct value most = COMPOSE(BI_WHERE, COMPOSE(BI_GT, x, high), high, x);
		x = COMPOSE(BI_WHERE, COMPOSE(BI_LT, x, low), low, most);
	}
	return COMPOSE(BI_SUB, COMPOSE(BI_LOG, x), COMPOSE(BI_LOG1P, COMPOSE(BI_NEG, x)));
}

/* 0 where x is 0, whatever the logarithm. */
struct value rule_xlogy(struct emitter *e, struct builtin_call *c)
{
	struct value x = composed_elementwise_operand(c, 0), y = composed_elementwise_operand(c, 1);
	struct value zero = COMPOSE(BI_LOGICAL_AND, COMPOSE(BI_EQ, x, value_float(0)), COMPOSE(BI_EQ, y, y));
	return COMPOSE(BI_WHERE, zero, value_float(0), COMPOSE(BI_MUL, x, COMPOSE(BI_LOG, y)));
}

/* From the greater of both; equal infinities have no difference. */
struct value rule_logaddexp(struct emitter *e, struct builtin_call *c)
{
	struct value x = composed_elementwise_operand(c, 0), y = composed_elementwise_operand(c, 1),
		     away = COMPOSE(BI_ABS, COMPOSE(BI_SUB, x, y));
	away = COMPOSE(BI_WHERE, COMPOSE(BI_EQ, x, y), value_float(0), away);
	return COMPOSE(BI_ADD, COMPOSE(BI_MAXIMUM, x, y), COMPOSE(BI_LOG1P, COMPOSE(BI_EXP, COMPOSE(BI_NEG, away))));
}

/* The greater side is a factor, so that squares stay finite. */
struct value rule_hypot(struct emitter *e, struct builtin_call *c)
{
	struct value x = COMPOSE(BI_ABS, composed_elementwise_operand(c, 0)), y = COMPOSE(BI_ABS, composed_elementwise_operand(c, 1)),
		     most = COMPOSE(BI_MAXIMUM, x, y);
	struct value safe = COMPOSE(BI_WHERE, COMPOSE(BI_GT, most, value_float(0)), most, value_float(1));
	struct value part = COMPOSE(BI_DIV, COMPOSE(BI_MINIMUM, x, y), safe);
	struct value root = COMPOSE(BI_MUL, most, COMPOSE(BI_SQRT, COMPOSE(BI_ADD, COMPOSE(BI_MUL, part, part), value_float(1))));
	struct value inf = value_float(HUGE_VAL), infinite = COMPOSE(BI_LOGICAL_OR, COMPOSE(BI_EQ, x, inf), COMPOSE(BI_EQ, y, inf));
	return COMPOSE(BI_WHERE, infinite, inf, root);
}

/* fmax, fmin: the other one, if one is not a number. */
struct value rule_fextreme(struct emitter *e, struct builtin_call *c)
{
	struct value x = composed_elementwise_operand(c, 0), y = composed_elementwise_operand(c, 1),
		     both = COMPOSE(c->bi == BI_FMAX ? BI_MAXIMUM : BI_MINIMUM, x, y);
	if (!composed_elementwise_is_float(e, both))
		return both;
	struct value other = COMPOSE(BI_WHERE, COMPOSE(BI_NE, y, y), x, both);
	return COMPOSE(BI_WHERE, COMPOSE(BI_NE, x, x), y, other);
}

static double composed_elementwise_greatest(dtype t)
{
	switch (t) {
	case DT_FLOAT16: return 65504;
	case DT_BFLOAT16: return 0x1.fep127;
	case DT_FLOAT64: return DBL_MAX;
	default: return FLT_MAX;
	}
}

struct value rule_nan_to_num(struct emitter *e, struct builtin_call *c)
{
	struct value x = composed_elementwise_operand(c, 0);
	if (!composed_elementwise_is_float(e, x))
		return x;
	double most = composed_elementwise_greatest(type_of(e, x.u.t)->elem), with[3] = {0, most, -most};
	for (uint32_t k = 0; k < 3; k++)
		if (c->v[k + 1].kind != V_NONE && !need_float_value(e, c, k + 1, &with[k]))
			return VALUE_POISON;
	struct value y = COMPOSE(BI_WHERE, COMPOSE(BI_NE, x, x), value_float(with[0]), x);
	y = COMPOSE(BI_WHERE, COMPOSE(BI_EQ, x, value_float(HUGE_VAL)), value_float(with[1]), y);
	return COMPOSE(BI_WHERE, COMPOSE(BI_EQ, x, value_float(-HUGE_VAL)), value_float(with[2]), y);
}

struct value rule_isclose(struct emitter *e, struct builtin_call *c)
{
	bool nan;
	struct value x = composed_elementwise_operand(c, 0), y = composed_elementwise_operand(c, 1), size = COMPOSE(BI_ABS, y);
	if (!need_bool(e, c, 4, &nan))
		return VALUE_POISON;
	struct value room = COMPOSE(BI_ADD, c->v[3], COMPOSE(BI_MUL, c->v[2], size));
	struct value near = COMPOSE(BI_LE, COMPOSE(BI_ABS, COMPOSE(BI_SUB, x, y)), room);
	near = COMPOSE(BI_LOGICAL_AND, near, COMPOSE(BI_LT, size, value_float(HUGE_VAL)));
	near = COMPOSE(BI_LOGICAL_OR, near, COMPOSE(BI_EQ, x, y));
	return nan ? COMPOSE(BI_LOGICAL_OR, near, COMPOSE(BI_LOGICAL_AND, COMPOSE(BI_NE, x, x), COMPOSE(BI_NE, y, y))) : near;
}

/* addcmul, addcdiv */
struct value rule_addc(struct emitter *e, struct builtin_call *c)
{
	struct value y = COMPOSE(c->bi == BI_ADDCMUL ? BI_MUL : BI_DIV, c->v[1], c->v[2]);
	return COMPOSE(BI_ADD, c->v[0], c->given[3] ? COMPOSE(BI_MUL, y, c->v[3]) : y);
}

/* Integers stay integers, as do their limits. */
struct value rule_hardtanh(struct emitter *e, struct builtin_call *c)
{
	double low, high;
	if (!need_float_value(e, c, 1, &low) || !need_float_value(e, c, 2, &high))
		return VALUE_POISON;
	if (dtype_class(type_of(e, c->operand[0])->elem) == DTC_INT)
		return COMPOSE(BI_CLIP, composed_elementwise_operand(c, 0), value_int((int64_t)low), value_int((int64_t)high));
	c->operand[0] = need_float(e, c, 0);
	return c->operand[0] == HIR_NONE ? VALUE_POISON : rule_float_same(e, c);
}

struct value rule_softmin(struct emitter *e, struct builtin_call *c)
{
	return COMPOSE(BI_SOFTMAX, COMPOSE(BI_NEG, composed_elementwise_operand(c, 0)), c->v[1]);
}

/* ---- reductions ---- */

struct value rule_count_nonzero(struct emitter *e, struct builtin_call *c)
{
	struct value x = composed_elementwise_operand(c, 0);
	bool is_bool = type_of(e, x.u.t)->elem == DT_BOOL;
	return COMPOSE(BI_SUM, is_bool ? x : COMPOSE(BI_NE, x, value_int(0)), c->v[1]);
}

/* nansum, nanmean */
struct value rule_nansum(struct emitter *e, struct builtin_call *c)
{
	struct value x = composed_elementwise_operand(c, 0), real = COMPOSE(BI_EQ, x, x);
	if (!composed_elementwise_is_float(e, x))
		return COMPOSE(BI_SUM, x, c->v[1], c->v[2]);
	struct value sum = COMPOSE(BI_SUM, COMPOSE(BI_WHERE, real, x, value_float(0)), c->v[1], c->v[2]);
	return c->bi == BI_NANSUM ? sum : COMPOSE(BI_DIV, sum, COMPOSE(BI_SUM, real, c->v[1], c->v[2]));
}

struct value rule_aminmax(struct emitter *e, struct builtin_call *c)
{
	struct value least = COMPOSE(BI_AMIN, c->v[0], c->v[1], c->v[2]), most = COMPOSE(BI_AMAX, c->v[0], c->v[1], c->v[2]);
	return is_poison(least) || is_poison(most) ? VALUE_POISON : TUPLE(least, most);
}

struct value rule_diff(struct emitter *e, struct builtin_call *c)
{
	int64_t n;
	struct value x = composed_elementwise_operand(c, 0), one = value_int(1);
	if (!need_int(e, c, 1, &n))
		return VALUE_POISON;
	bool is_bool = type_of(e, x.u.t)->elem == DT_BOOL;
	if (n && c->v[3].kind != V_NONE)
		x = COMPOSE(BI_CONCAT, LIST(c->v[3], x), c->v[2]);
	if (n && c->v[4].kind != V_NONE)
		x = COMPOSE(BI_CONCAT, LIST(x, c->v[4]), c->v[2]);
	for (; n > 0 && is_tensor(x); n--) {
		struct value after = COMPOSE(BI_SLICE, x, c->v[2], one), before = COMPOSE(BI_SLICE, x, c->v[2], VALUE_NONE, value_int(-1));
		x = COMPOSE(is_bool ? BI_NE : BI_SUB, after, before);
	}
	return x;
}

/* searchsorted, bucketize: how many elements of the sorted line are less, or not greater. */
struct value rule_searchsorted(struct emitter *e, struct builtin_call *c)
{
	bool right, narrow, bucketize = c->bi == BI_BUCKETIZE;
	struct value line = composed_elementwise_operand(c, bucketize), x = composed_elementwise_operand(c, !bucketize);
	if (!need_bool(e, c, 2, &right) || !need_bool(e, c, 3, &narrow))
		return VALUE_POISON;
	if (!rank_of(e, line) || (rank_of(e, line) > 1 && (bucketize || rank_of(e, line) != rank_of(e, x))))
		return rule_error(e, c, DIAG_RANK, c->ats[bucketize], "needs a sorted line, or one for each line of the values, not %s",
				  type_text(e, line.u.t));
	if (rank_of(e, line) > 1)
		line = COMPOSE(BI_UNSQUEEZE, line, value_int(-2));
	struct value n = COMPOSE(BI_SUM, COMPOSE(right ? BI_LE : BI_LT, line, COMPOSE(BI_UNSQUEEZE, x, value_int(-1))), value_int(-1));
	return narrow ? as_elem(e, n, DT_INT32, c->at) : n;
}
