/* Prints element-wise operations, casts and constants. backend/ir/ops.def defines them; templates/helpers.cl has the helpers. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/arena.h"
#include "base/bug.h"
#include "backend/text/printer.h"

const char *text_type(const struct text_printer *e, dtype t)
{
	return e->width > 1 ? arena_printf(e->scratch, e->d->vectors->type, e->d->values[t], e->width) : e->d->values[t];
}

const char *text_helper(const struct text_printer *e, const char *name)
{
	return e->width > 1 ? arena_printf(e->scratch, e->d->vectors->name, name, e->width) : name;
}

/* Rounds the float result of a 16-bit operation. */
static const char *op_rounded(const struct text_printer *e, dtype t, const char *text)
{
	if (t == DT_FLOAT16)
		return arena_printf(e->scratch, "%s(%s)", text_helper(e, "tri_round_f16"), text);
	if (t == DT_BFLOAT16)
		return arena_printf(e->scratch, "%s(%s)", text_helper(e, "tri_round_bf16"), text);
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
		return op_rounded(e, t, literal(a, t, f));
	}
	if (t == DT_INT64)
		return i == INT64_MIN ? arena_printf(a, "(-9223372036854775807%s - 1)", e->d->long_suffix)
				      : arena_printf(a, i < 0 ? "(%lld%s)" : "%lld%s", (long long)i, e->d->long_suffix);
	if (t == DT_INT32 && i == INT32_MIN)
		return "(-2147483647 - 1)";
	return arena_printf(a, i < 0 ? "(%lld)" : "%lld", (long long)i);
}

/* A conversion that wraps integers, and rounds to the nearest float. */
static const char *op_convert(const struct text_printer *e, const char *type, const char *x)
{
	return arena_printf(e->scratch, e->width > 1 ? e->d->vectors->convert : "(%s)%s", type, x);
}

static const char *cast_to_float(const struct text_printer *e, dtype to, dtype from, const char *x)
{
	if (from == DT_FLOAT64 && to != DT_FLOAT32 && to != DT_FLOAT64)
		return op_rounded(e, to, arena_printf(e->scratch, "%s(%s)", text_helper(e, "tri_double_to_odd"), x));
	return op_rounded(e, to, op_convert(e, text_type(e, to), x));
}

static const char *cast_lanes(const struct text_printer *e, dtype to, dtype from, const char *x)
{
	if (to == DT_BOOL || (to == DT_TRIT && dtype_class(from) != DTC_FLOAT))
		return arena_printf(e->scratch, "tri_%s_to_%s(%s)", text_type(e, from), text_helper(e, to == DT_TRIT ? "trit" : "bool"), x);
	return op_convert(e, text_type(e, to), x);
}

static const char *cast_text(const struct text_printer *e, dtype to, dtype from, const char *x)
{
	struct arena *a = e->scratch;
	const char *const *types = e->d->values;
	if (to == from)
		return x;
	if (dtype_class(to) == DTC_FLOAT)
		return cast_to_float(e, to, from, x);
	if (dtype_class(from) == DTC_FLOAT && to != DT_BOOL)
		return arena_printf(a, "tri_%s_to_%s(%s)", text_type(e, from), to == DT_TRIT ? text_helper(e, "trit") : text_type(e, to),
				    x);
	if (e->width > 1)
		return cast_lanes(e, to, from, x);
	if (to == DT_BOOL)
		return arena_printf(a, "(%s)(%s != 0)", types[DT_BOOL], x);
	if (to == DT_TRIT && from == DT_UINT8)
		return arena_printf(a, "(%s)(%s != 0)", types[DT_TRIT], x);
	if (to == DT_TRIT && from != DT_BOOL)
		return arena_printf(a, "(%s)%s(%s, (%s)-1, (%s)1)", types[DT_TRIT], e->d->clamp, x, types[from], types[from]);
	return arena_printf(a, "(%s)%s", types[to], x);
}

/* tri_<op>_<type>(x, y, z) */
static const char *helper_call(const struct text_printer *e, enum ir_op op, dtype t, const char *const *x)
{
	const char *text = arena_printf(e->scratch, "tri_%s_%s(%s", ir_op_text(op), text_type(e, t), x[0]);
	for (int k = 1; k < ir_op_operands(op); k++)
		text = arena_printf(e->scratch, "%s, %s", text, x[k]);
	return arena_printf(e->scratch, "%s)", text);
}

/* Vector functions of device libraries may go lane by lane, or be wrong for some lanes beside others. */
static bool op_has_lanes_helper(enum ir_op op, dtype t)
{
	return op == OP_SIN || op == OP_COS || op == OP_POW || op == OP_ROUND || op == OP_FLOOR || op == OP_CEIL ||
	       (t == DT_FLOAT64 && (op == OP_EXP || op == OP_LOG));
}

static const char *op_float(const struct text_printer *e, enum ir_op op, dtype t, const char *const *x)
{
	struct arena *a = e->scratch;
	const char *suffix = t == DT_FLOAT64 ? "" : e->d->float_suffix;
	if (e->width > 1 && op_has_lanes_helper(op, t))
		return helper_call(e, op, t, x);
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

/* Comparisons of vectors, and what takes their results, have helpers: a bool is 0 or 1 in a lane, too. NULL: other operations. */
static const char *op_bool_lanes(const struct text_printer *e, enum ir_op op, dtype to, dtype from, const char *const *x)
{
	switch (op) {
	case OP_NOT:
		return arena_printf(e->scratch, "%s ^ %s", x[0], arena_printf(e->scratch, e->d->vectors->splat, text_type(e, to), "1"));
	case OP_EQ:
	case OP_NE:
	case OP_LT:
	case OP_LE: return helper_call(e, op, from, x);
	case OP_AND: return arena_printf(e->scratch, "%s & %s", x[0], x[1]);
	case OP_OR: return arena_printf(e->scratch, "%s | %s", x[0], x[1]);
	case OP_SELECT: return helper_call(e, op, to, x);
	default: return NULL;
	}
}

const char *text_op(const struct text_printer *e, enum ir_op op, dtype to, dtype from, const char *const *x)
{
	struct arena *a = e->scratch;
	const char *lanes = e->width > 1 ? op_bool_lanes(e, op, to, from, x) : NULL;
	if (lanes)
		return lanes;
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
		return op_rounded(e, to, op_float(e, op, to, x));
	return op_int(e, op, to, x);
}
