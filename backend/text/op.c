/* Prints element-wise operations, casts and constants. backend/ir/ops.def defines them; templates/helpers.cl has the helpers. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/arena.h"
#include "base/bug.h"
#include "backend/text/printer.h"

/* Rounds the float result of a 16-bit operation. */
static const char *op_rounded(struct arena *a, dtype t, const char *text)
{
	if (t == DT_FLOAT16)
		return arena_printf(a, "tri_round_f16(%s)", text);
	if (t == DT_BFLOAT16)
		return arena_printf(a, "tri_round_bf16(%s)", text);
	return text;
}

static const char *literal(struct arena *a, dtype t, double f)
{
	char digits[40];
	snprintf(digits, sizeof digits, t == DT_FLOAT64 ? "%.17g" : "%.9g", t == DT_FLOAT64 ? f : (double)(float)f);
	const char *point = strpbrk(digits, ".e") ? "" : ".0";
	return arena_printf(a, digits[0] == '-' ? "(%s%s%s)" : "%s%s%s", digits, point, t == DT_FLOAT64 ? "" : "f");
}

const char *text_const(const struct text_printer *e, dtype t, int64_t i, double f)
{
	struct arena *a = e->scratch;
	if (dtype_class(t) == DTC_FLOAT) {
		double v = t == DT_FLOAT64 ? f : (double)(float)f;
		if (isnan(v))
			return e->d->nan[t == DT_FLOAT64];
		if (isinf(v))
			return v < 0 ? "(-INFINITY)" : "INFINITY";
		return op_rounded(a, t, literal(a, t, f));
	}
	if (t == DT_INT64)
		return i == INT64_MIN ? arena_printf(a, "(-9223372036854775807%s - 1)", e->d->long_suffix)
				      : arena_printf(a, i < 0 ? "(%lld%s)" : "%lld%s", (long long)i, e->d->long_suffix);
	if (t == DT_INT32 && i == INT32_MIN)
		return "(-2147483647 - 1)";
	return arena_printf(a, i < 0 ? "(%lld)" : "%lld", (long long)i);
}

static const char *cast_to_float(struct arena *a, dtype to, dtype from, const char *x)
{
	if (to == DT_FLOAT64)
		return arena_printf(a, "(double)%s", x);
	if (from == DT_FLOAT64 && to != DT_FLOAT32)
		return op_rounded(a, to, arena_printf(a, "tri_double_to_odd(%s)", x));
	return op_rounded(a, to, arena_printf(a, "(float)%s", x));
}

static const char *cast_text(const struct text_printer *e, dtype to, dtype from, const char *x)
{
	struct arena *a = e->scratch;
	const char *const *types = e->d->values;
	if (to == from)
		return x;
	if (to == DT_BOOL)
		return arena_printf(a, "(%s)(%s != 0)", types[DT_BOOL], x);
	if (dtype_class(to) == DTC_FLOAT)
		return cast_to_float(a, to, from, x);
	if (dtype_class(from) == DTC_FLOAT)
		return arena_printf(a, "tri_%s_to_%s(%s)", types[from], to == DT_TRIT ? "trit" : types[to], x);
	if (to == DT_TRIT && from == DT_UINT8)
		return arena_printf(a, "(%s)(%s != 0)", types[DT_TRIT], x);
	if (to == DT_TRIT && from != DT_BOOL)
		return arena_printf(a, "(%s)%s(%s, (%s)-1, (%s)1)", types[DT_TRIT], e->d->clamp, x, types[from], types[from]);
	return arena_printf(a, "(%s)%s", types[to], x);
}

/* tri_<op>_<type>(x, y) */
static const char *helper_call(const struct text_printer *e, enum ir_op op, dtype t, const char *const *x)
{
	if (ir_op_operands(op) == 1)
		return arena_printf(e->scratch, "tri_%s_%s(%s)", ir_op_text(op), e->d->values[t], x[0]);
	return arena_printf(e->scratch, "tri_%s_%s(%s, %s)", ir_op_text(op), e->d->values[t], x[0], x[1]);
}

static const char *op_float(const struct text_printer *e, enum ir_op op, dtype t, const char *const *x)
{
	struct arena *a = e->scratch;
	const char *suffix = t == DT_FLOAT64 ? "" : e->d->float_suffix;
	switch (op) {
	case OP_NEG: return arena_printf(a, "-%s", x[0]);
	case OP_ABS: return arena_printf(a, "fabs%s(%s)", suffix, x[0]);
	case OP_ROUND: return arena_printf(a, "rint%s(%s)", suffix, x[0]);
	case OP_RSQRT: return arena_printf(a, "1.0%s / sqrt%s(%s)", t == DT_FLOAT64 ? "" : "f", suffix, x[0]);
	case OP_CEIL:
	case OP_FLOOR:
	case OP_SQRT:
	case OP_EXP:
	case OP_LOG:
	case OP_SIN:
	case OP_COS: return arena_printf(a, "%s%s(%s)", ir_op_text(op), suffix, x[0]);
	case OP_ADD: return arena_printf(a, "%s + %s", x[0], x[1]);
	case OP_SUB: return arena_printf(a, "%s - %s", x[0], x[1]);
	case OP_MUL: return arena_printf(a, "%s * %s", x[0], x[1]);
	case OP_DIV: return arena_printf(a, "%s / %s", x[0], x[1]);
	case OP_POW: return arena_printf(a, "pow%s(%s, %s)", suffix, x[0], x[1]);
	default: return helper_call(e, op, t, x);
	}
}

static const char *op_int(const struct text_printer *e, enum ir_op op, dtype t, const char *const *x)
{
	switch (op) {
	case OP_CEIL:
	case OP_FLOOR:
	case OP_ROUND: return x[0];
	default: return helper_call(e, op, t, x);
	}
}

const char *text_op(const struct text_printer *e, enum ir_op op, dtype to, dtype from, const char *const *x)
{
	struct arena *a = e->scratch;
	switch (op) {
	case OP_CAST: return cast_text(e, to, from, x[0]);
	case OP_NOT: return arena_printf(a, "!%s", x[0]);
	case OP_EQ: return arena_printf(a, "%s == %s", x[0], x[1]);
	case OP_NE: return arena_printf(a, "%s != %s", x[0], x[1]);
	case OP_LT: return arena_printf(a, "%s < %s", x[0], x[1]);
	case OP_LE: return arena_printf(a, "%s <= %s", x[0], x[1]);
	case OP_AND: return arena_printf(a, "%s %s %s", x[0], to == DT_BOOL ? "&&" : "&", x[1]);
	case OP_OR: return arena_printf(a, "%s %s %s", x[0], to == DT_BOOL ? "||" : "|", x[1]);
	case OP_XOR: return arena_printf(a, "%s ^ %s", x[0], x[1]);
	case OP_SELECT: return arena_printf(a, "%s ? %s : %s", x[0], x[1], x[2]);
	default: break;
	}
	if (dtype_class(to) == DTC_FLOAT)
		return op_rounded(a, to, op_float(e, op, to, x));
	return op_int(e, op, to, x);
}
