/* Floats are computed in double; rounded once to their type, + - * / and sqrt equal the operation in that type. Integers are computed in
 * 64 bits. */
#include "backend/interp/element.h"
#include <math.h>
#include "base/bug.h"

static double float_mod(double x, double y)
{
	double m = fmod(x, y);
	return m != 0 && (m < 0) != (y < 0) ? m + y : m;
}

static double float_floordiv(double x, double y) { return y == 0 ? x / y : rint((x - float_mod(x, y)) / y); }

static double float_min(double x, double y) { return isnan(x) || x < y ? x : isnan(y) ? y : y; }
static double float_max(double x, double y) { return isnan(x) || x > y ? x : isnan(y) ? y : y; }

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
	case OP_FLOORDIV: return float_floordiv(x, y);
	case OP_MOD: return float_mod(x, y);
	case OP_POW: return pow(x, y);
	case OP_MIN: return float_min(x, y);
	case OP_MAX: return float_max(x, y);
	default: BUG("not a float operation");
	}
}

static int64_t int_pow(int64_t x, int64_t n)
{
	if (n < 0)
		return x == 1 ? 1 : x == -1 ? (n & 1 ? -1 : 1) : 0;
	uint64_t result = 1, square = (uint64_t)x;
	for (; n; n >>= 1, square *= square)
		if (n & 1)
			result *= square;
	return (int64_t)result;
}

static int64_t int_mod(int64_t x, int64_t y)
{
	if (y == 0 || y == -1)
		return 0;
	int64_t m = x % y;
	return m && (m < 0) != (y < 0) ? m + y : m;
}

static int64_t int_floordiv(int64_t x, int64_t y)
{
	if (y == 0)
		return 0;
	if (y == -1)
		return (int64_t)(0 - (uint64_t)x);
	return x / y - (x % y && (x < 0) != (y < 0));
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
	case OP_FLOORDIV: return int_floordiv(x, y);
	case OP_MOD: return int_mod(x, y);
	case OP_POW: return int_pow(x, y);
	case OP_MIN: return x < y ? x : y;
	case OP_MAX: return x > y ? x : y;
	case OP_AND: return x && y;
	case OP_OR: return x || y;
	default: BUG("not an integer operation");
	}
}

static int64_t int_limit(dtype t, bool high)
{
	if (t == DT_BOOL)
		return high;
	if (t == DT_TRIT)
		return high ? 1 : -1;
	int64_t top = (int64_t)(UINT64_MAX >> (65 - 8 * (int)dtype_size(t)));
	return high ? top : -top - 1;
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
		a.i = int_limit(elem, highest);
	return a;
}

/* A NaN is better than all numbers, and of equals the first, in whatever order they come. */
static bool is_better(bool most, double v, int64_t at, const struct accumulator *a)
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
	else if (is_better(op == OP_REDUCE_MAX || op == OP_ARGMAX, v, at, a))
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
