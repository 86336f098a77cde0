/* Element-wise operations. Floats are computed in double and rounded once to their type; for + - * / and sqrt this equals the operation
 * in that type. Integers are computed in 64 bits and wrapped. */
#include <math.h>
#include "backend/interp/state.h"
#include "backend/ir/tensor.h"
#include "base/bug.h"

static double float_mod(double x, double y)
{
	double m = fmod(x, y);
	return m != 0 && (m < 0) != (y < 0) ? m + y : m;
}

static double float_floordiv(double x, double y) { return y == 0 ? x / y : rint((x - float_mod(x, y)) / y); }

static double float_min(double x, double y) { return isnan(x) || x < y ? x : isnan(y) ? y : y; }
static double float_max(double x, double y) { return isnan(x) || x > y ? x : isnan(y) ? y : y; }

static double float_op(enum ir_op op, double x, double y)
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

static int64_t int_op(enum ir_op op, int64_t x, int64_t y)
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

#define COMPARE(op, x, y) ((op) == OP_EQ ? (x) == (y) : (op) == OP_NE ? (x) != (y) : (op) == OP_LT ? (x) < (y) : (x) <= (y))

static bool is_compare(enum ir_op op) { return op == OP_EQ || op == OP_NE || op == OP_LT || op == OP_LE; }

/* 1/sqrt(x): both correctly rounded in the type. */
static void rsqrt_at(dtype e, void *data, int64_t k, double x)
{
	elem_put_float(e, data, k, sqrt(x));
	elem_put_float(e, data, k, 1 / elem_float(e, data, k));
}

static void select_at(dtype e, const struct tensor *from, int64_t k, void *data)
{
	if (dtype_class(e) == DTC_FLOAT)
		elem_put_float(e, data, k, elem_float(e, from->data, k));
	else
		elem_put_int(e, data, k, elem_int(e, from->data, k));
}

static void float_at(enum ir_op op, const struct tensor *const *x, bool two, struct tensor *out, int64_t k)
{
	dtype e = x[0]->elem;
	double a = elem_float(e, x[0]->data, k), b = two ? elem_float(e, x[1]->data, k) : 0;
	if (is_compare(op))
		elem_put_int(DT_BOOL, out->data, k, COMPARE(op, a, b));
	else if (op == OP_RSQRT)
		rsqrt_at(e, out->data, k, a);
	else
		elem_put_float(e, out->data, k, float_op(op, a, b));
}

static void int_at(enum ir_op op, const struct tensor *const *x, bool two, struct tensor *out, int64_t k)
{
	dtype e = x[0]->elem;
	int64_t a = elem_int(e, x[0]->data, k), b = two ? elem_int(e, x[1]->data, k) : 0;
	elem_put_int(out->elem, out->data, k, is_compare(op) ? COMPARE(op, a, b) : int_op(op, a, b));
}

void interp_ewise(struct interp *in, const struct ir_inst *i, const struct tensor *const *x, struct tensor *out)
{
	int64_t n = tensor_count(out);
	for (uint32_t o = 0; o < i->n_operands; o++)
		if (tensor_count(x[o]) != n) {
			interp_fail(in, "operands of %s have different sizes", ir_op_text(i->op));
			return;
		}
	if (interp_ewise_float32(i, x, out))
		return;
	bool two = i->n_operands == 2, floats = dtype_class(x[0]->elem) == DTC_FLOAT;
	for (int64_t k = 0; k < n; k++) {
		if (i->op == OP_CAST)
			elem_cast(out->elem, out->data, k, x[0]->elem, x[0]->data, k);
		else if (i->op == OP_SELECT)
			select_at(out->elem, elem_int(DT_BOOL, x[0]->data, k) ? x[1] : x[2], k, out->data);
		else if (floats)
			float_at(i->op, x, two, out, k);
		else
			int_at(i->op, x, two, out, k);
	}
}
