/* Floats are computed in double; rounded once to their type, + - * / and sqrt equal the operation in that type. Integers are computed in
 * 64 bits. */
#include "backend/interp/element.h"
#include <math.h>
#include "base/arith.h"
#include "base/bug.h"

double element_float(enum ir_op op, double x, double y)
{
	switch (op) {
	case OP_NEG: return -x;
	case OP_ABS: return fabs(x);
	case OP_SIGN: return (x > 0) - (x < 0);
	case OP_CEIL: return ceil(x);
	case OP_FLOOR: return floor(x);
	case OP_ROUND: return rint(x);
	case OP_SQRT: return sqrt(x);
	case OP_EXP: return exp(x);
	case OP_LOG: return log(x);
	case OP_SIN: return sin(x);
	case OP_COS: return cos(x);
	case OP_TANH: return tanh(x);
	case OP_ERF: return erf(x);
	case OP_ADD: return x + y;
	case OP_SUB: return x - y;
	case OP_MUL: return x * y;
	case OP_DIV: return x / y;
	case OP_FLOORDIV: return arith_float_floordiv(x, y);
	case OP_MOD: return arith_float_mod(x, y);
	case OP_POW: return pow(x, y);
	case OP_MIN: return arith_float_min(x, y);
	case OP_MAX: return arith_float_max(x, y);
	default: BUG("not a float operation");
	}
}

int64_t element_int(enum ir_op op, int64_t x, int64_t y)
{
	switch (op) {
	case OP_NEG: return (int64_t)(0 - (uint64_t)x);
	case OP_ABS: return x < 0 ? (int64_t)(0 - (uint64_t)x) : x;
	case OP_SIGN: return (x > 0) - (x < 0);
	case OP_CEIL:
	case OP_FLOOR:
	case OP_ROUND: return x;
	case OP_NOT: return !x;
	case OP_ADD: return (int64_t)((uint64_t)x + (uint64_t)y);
	case OP_SUB: return (int64_t)((uint64_t)x - (uint64_t)y);
	case OP_MUL: return (int64_t)((uint64_t)x * (uint64_t)y);
	case OP_FLOORDIV: return arith_int_floordiv(x, y);
	case OP_MOD: return arith_int_mod(x, y);
	case OP_POW: return arith_int_pow(x, y);
	case OP_MIN: return x < y ? x : y;
	case OP_MAX: return x > y ? x : y;
	case OP_AND: return x & y;
	case OP_OR: return x | y;
	case OP_XOR: return x ^ y;
	case OP_SHL: return arith_int_shl(x, y);
	case OP_SHR: return arith_int_shr(x, y);
	default: BUG("not an integer operation");
	}
}

struct accumulator accumulator_start(enum ir_op op, dtype elem)
{
	bool lowest = op == OP_REDUCE_MAX || op == OP_ARGMAX, highest = op == OP_REDUCE_MIN || op == OP_ARGMIN;
	struct accumulator a = {0, 0, 0};
	if (op == OP_REDUCE_PROD)
		a.f = 1, a.i = 1;
	if (!lowest && !highest)
		return a;
	a.f = lowest ? -INFINITY : INFINITY;
	if (dtype_class(elem) != DTC_FLOAT)
		a.i = highest ? dtype_largest_int(elem) : dtype_least_int(elem);
	return a;
}

/* A NaN is better than all numbers, and of equals the first, in whatever order they come. */
static bool element_is_better(bool most, double v, int64_t at, const struct accumulator *a)
{
	if (isnan(a->f) || isnan(v))
		return isnan(v) && (!isnan(a->f) || at < a->at);
	return (most ? v > a->f : v < a->f) || (v == a->f && at < a->at);
}

void accumulate_float(enum ir_op op, struct accumulator *a, double v, int64_t at)
{
	if (op == OP_REDUCE_SUM)
		a->f += v;
	else if (op == OP_REDUCE_PROD)
		a->f *= v;
	else if (element_is_better(op == OP_REDUCE_MAX || op == OP_ARGMAX, v, at, a))
		a->f = v, a->at = at;
}

void accumulate_int(enum ir_op op, struct accumulator *a, int64_t v, int64_t at)
{
	bool most = op == OP_REDUCE_MAX || op == OP_ARGMAX;
	if (op == OP_REDUCE_SUM)
		a->i = (int64_t)((uint64_t)a->i + (uint64_t)v);
	else if (op == OP_REDUCE_PROD)
		a->i = (int64_t)((uint64_t)a->i * (uint64_t)v);
	else if ((most ? v > a->i : v < a->i) || (v == a->i && at < a->at))
		a->i = v, a->at = at;
}
