/* Calls that are evaluated at compile time: builtins of numbers, casts, len, range and others. */
#include <math.h>
#include <string.h>
#include "base/arith.h"
#include "frontend/rules/builtin.h"
#include "frontend/unit/text.h"

/* ---- builtins of numbers and lists ---- */

/* log of x to a base; of a power of the base a whole number. */
static double builtin_static_log_of_base(double x, double base, dtype t)
{
	double y = round_float(round_float(log(x), t) / round_float(log(base), t), t), whole = rint(y);
	return round_float(pow(base, whole), t) == x ? whole : y;
}

/* Of x of float type t, step by step as backend/lower does it: 16-bit floats are float32 between the steps of tan and the logarithms. */
static bool evaluate_unary(enum builtin bi, double x, dtype t, double *y)
{
	dtype wide = dtype_size(t) == 2 ? DT_FLOAT32 : t;
	switch (bi) {
	case BI_SIN: *y = sin(x); return true;
	case BI_COS: *y = cos(x); return true;
	case BI_TAN: *y = round_float(round_float(sin(x), wide) / round_float(cos(x), wide), wide); return true;
	case BI_EXP: *y = exp(x); return true;
	case BI_LOG: *y = log(x); return true;
	case BI_LOG2: *y = builtin_static_log_of_base(x, 2, wide); return true;
	case BI_LOG10: *y = builtin_static_log_of_base(x, 10, wide); return true;
	case BI_SQRT: *y = sqrt(x); return true;
	case BI_RSQRT: *y = 1 / round_float(sqrt(x), t); return true;
	case BI_TANH: *y = tanh(x); return true;
	default: return false;
	}
}

/* A function of floats. Of a literal it is a literal. */
static bool evaluate_function(struct emitter *e, enum builtin bi, struct value v, span at, struct value *out)
{
	dtype t = !v.typed ? DT_FLOAT64 : v.kind == V_FLOAT ? scalar_type(v) : DT_FLOAT32;
	double y;
	if (!evaluate_unary(bi, number_as(v, t), t, &y))
		return false;
	*out = v.typed ? convert_number(e, value_float(y), t, at) : value_float(y);
	return true;
}

/* floor, ceil and round of a literal are integers; of a typed float they have its type. abs and sign keep the type. */
static bool evaluate_rounding(struct emitter *e, enum builtin bi, struct value v, span at, struct value *out)
{
	bool whole = v.kind == V_INT, negative = whole && v.u.i < 0;
	double x = number_value(v), y;
	switch (bi) {
	case BI_ABS: *out = negative ? apply_unary(e, TOK_MINUS, v, at) : v; break;
	case BI_SIGN: *out = whole ? value_int((v.u.i > 0) - negative) : value_float((x > 0) - (x < 0)); break;
	case BI_FLOOR:
	case BI_CEIL:
	case BI_ROUND:
		y = bi == BI_FLOOR ? floor(x) : bi == BI_CEIL ? ceil(x) : rint(x);
		*out = whole ? v : !v.typed && fabs(y) < 0x1p63 ? value_int((int64_t)y) : value_float(y);
		break;
	default: return false;
	}
	if (bi == BI_ABS && !whole)
		*out = value_float(fabs(x));
	if (v.typed && !is_poison(*out))
		*out = value_with_type(*out, scalar_type(v));
	return true;
}

static struct value builtin_static_extreme(bool most, struct value a, struct value b)
{
	if (a.kind == V_INT && b.kind == V_INT)
		return (most ? a.u.i < b.u.i : b.u.i < a.u.i) ? b : a;
	double x = number_value(a), y = number_value(b), m = most ? arith_float_max(x, y) : arith_float_min(x, y);
	return memcmp(&m, &x, sizeof m) ? b : a;
}

/* min(3, 1, 2), or of a list */
static bool evaluate_extreme(struct emitter *e, enum builtin bi, struct value *v, uint32_t n, span at, struct value *out)
{
	bool most = bi == BI_MAX || bi == BI_MAXIMUM;
	dtype t = DT_COUNT;
	for (uint32_t i = 0; i < n; i++)
		if (v[i].kind != V_INT && v[i].kind != V_FLOAT)
			return false;
	*out = v[0];
	for (uint32_t i = 1; i < n; i++) {
		struct value one = v[i];
		if (!convert_operands(e, TOK_PLUS, out, &one, &t, at))
			return *out = VALUE_POISON, true;
		*out = builtin_static_extreme(most, *out, one);
	}
	return true;
}

static bool fold_list(struct emitter *e, enum token_kind op, struct value from, const struct seq *seq, span at, struct value *out)
{
	*out = from;
	for (uint32_t i = 0; i < seq->n; i++)
		if (seq->at[i].kind != V_INT && seq->at[i].kind != V_FLOAT && seq->at[i].kind != V_DIM)
			return false;
	for (uint32_t i = 0; i < seq->n; i++)
		*out = apply_binary(e, op, *out, seq->at[i], at, at, at);
	return true;
}

static bool any_or_all(const struct seq *seq, bool any, struct value *out)
{
	*out = value_bool(!any);
	for (uint32_t i = 0; i < seq->n; i++) {
		if (seq->at[i].kind != V_BOOL)
			return false;
		if (seq->at[i].u.b == any)
			*out = value_bool(any);
	}
	return true;
}

/* sum, prod, min, max, any, all of a compile-time list. */
static bool evaluate_on_list(struct emitter *e, enum builtin bi, const struct seq *seq, span at, struct value *out)
{
	e->report.steps += seq->n;
	switch (bi) {
	case BI_SUM: return fold_list(e, TOK_PLUS, value_int(0), seq, at, out);
	case BI_PROD: return fold_list(e, TOK_STAR, value_int(1), seq, at, out);
	case BI_MIN:
	case BI_MAX: return seq->n && evaluate_extreme(e, bi, seq->at, seq->n, at, out);
	case BI_ANY:
	case BI_ALL: return any_or_all(seq, bi == BI_ANY, out);
	default: return false;
	}
}

bool evaluate_builtin(struct emitter *e, enum builtin bi, struct args *args, span at, struct value *out)
{
	if (args->n == 1 && !args->at[0].name && value_is_seq(args->at[0].v))
		return evaluate_on_list(e, bi, args->at[0].v.u.seq, at, out);
	for (uint32_t i = 0; i < args->n; i++)
		if (args->at[i].name || (args->at[i].v.kind != V_INT && args->at[i].v.kind != V_FLOAT))
			return false;
	if (args->n == 1)
		return evaluate_function(e, bi, args->at[0].v, at, out) || evaluate_rounding(e, bi, args->at[0].v, at, out);
	if (args->n < 2 || args->n > ELAB_MAX_ARGS)
		return false;
	struct value a = args->at[0].v, b = args->at[1].v, all[ELAB_MAX_ARGS];
	for (uint32_t i = 0; i < args->n; i++)
		all[i] = args->at[i].v;
	if (bi == BI_MAX || bi == BI_MIN || ((bi == BI_MAXIMUM || bi == BI_MINIMUM) && args->n == 2))
		return evaluate_extreme(e, bi, all, args->n, at, out);
	if (args->n != 2)
		return false;
	if (bi == BI_POW)
		return *out = apply_binary(e, TOK_STAR2, a, b, at, args->at[0].at, args->at[1].at), true;
	return false;
}

/* ---- casts ---- */

static struct value cast_float(struct emitter *e, dtype to, double x, span at)
{
	if (dtype_class(to) == DTC_FLOAT)
		return value_float(x);
	if (to == DT_BOOL)
		return value_bool(x != 0);
	if (to == DT_TRIT || !(x >= -0x1p63 && x < 0x1p63))
		return report_poison(e, DIAG_LITERAL_RANGE, at, "%g is not a value of type %s", x, dtype_text(to));
	return value_int((int64_t)x);
}

struct value call_cast(struct emitter *e, dtype to, struct args *args, span at)
{
	uint64_t scratch;
	struct diag *g;
	if (args->n != 1 || args->at[0].name) {
		g = report_error(e, DIAG_ARG_COUNT, at, "a cast takes one argument: `%s(x)`", dtype_text(to));
		if (!args->n)
			diag_help(e->report.out, g, "the element type of a tensor is `x.dtype`, without `()`");
		return VALUE_POISON;
	}
	struct value v = args->at[0].v;
	span sat = args->at[0].at;
	switch (v.kind) {
	case V_POISON: return v;
	case V_TENSOR: return value_tensor(emit_cast(e, v.u.t, to, at));
	case V_DIM: return dtype_class(to) == DTC_INT ? value_with_type(v, to) : value_tensor(emit_scalar(e, v, to, at));
	case V_FLOAT: v = cast_float(e, to, number_value(v), sat); break;
	case V_BOOL:
	case V_TRIT:
	case V_INT: {
		int64_t i = v.kind == V_BOOL ? v.u.b : v.u.i;
		v = to == DT_BOOL ? value_bool(i != 0) : value_int(i);
		break;
	}
	default:
		g = report_error(e, DIAG_TYPE_MISMATCH, sat, "%s cannot be cast to %s", value_text(e, v), dtype_text(to));
		if (v.kind == V_LIST)
			diag_help(e->report.out, g, "convert the list with `tensor([…], dtype=%s)`", dtype_text(to));
		return VALUE_POISON;
	}
	if (v.kind == V_INT && dtype_class(to) != DTC_FLOAT && !scalar_bytes(e, v, to, &scratch, sat))
		return VALUE_POISON;
	if (v.kind == V_INT && to == DT_TRIT)
		v.kind = V_TRIT;
	return value_with_type(v, to);
}

/* ---- len, range, … ---- */

static int64_t string_length(const char *s)
{
	int64_t n = 0;
	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

static struct value special_len(struct emitter *e, struct value v, span at)
{
	if (v.kind == V_STACKED)
		return value_dim(e->b->dims, type_of(e, v.u.t)->dims[0]);
	if (value_is_seq(v) && value_contains(v, V_COLLECTED))
		return report_poison(e, DIAG_RUNTIME_LOOP, at, "the length of a list that this loop collects is unknown inside the loop");
	if (value_is_seq(v) && !value_is_partial(v))
		return value_int(v.u.seq->n);
	if (v.kind == V_STR)
		return value_int(string_length(v.u.s));
	if (v.kind == V_TENSOR && type_of(e, v.u.t)->rank)
		return value_dim(e->b->dims, type_of(e, v.u.t)->dims[0]);
	struct value list;
	bool unknown;
	if (v.kind == V_RANGE)
		return list_elements(e, v, at, &list, &unknown) ? value_int(list.u.seq->n) : VALUE_POISON;
	return report_poison(e, DIAG_TYPE_MISMATCH, at, "%s has no length", value_text(e, v));
}

static struct value special_range(struct emitter *e, struct args *args, span at)
{
	struct range *r = ARENA_NEW(e->f->arena, struct range);
	bool ok = args->n >= 1 && args->n <= 3;
	for (uint32_t i = 0; i < args->n; i++)
		ok = ok && !args->at[i].name && is_integer_scalar(e, args->at[i].v);
	if (ok && args->n == 3)
		ok = args->at[2].v.kind == V_INT && args->at[2].v.u.i;
	if (!ok) {
		struct diag *g =
			report_error(e, DIAG_ARG_VALUE, at, "range takes one to three integers, the third known at compile time and not 0");
		if (args->n == 1 && args->at[0].v.kind == V_TENSOR)
			diag_help(e->report.out, g, "iterate over the indices of a tensor: `range(x.shape[0])`");
		return VALUE_POISON;
	}
	r->from = args->n > 1 ? args->at[0].v : value_int(0);
	r->to = args->at[args->n > 1].v;
	r->step = args->n == 3 ? args->at[2].v.u.i : 1;
	return (struct value){.kind = V_RANGE, .u.range = r};
}

static struct value special_lists(struct emitter *e, enum special sp, struct args *args, span at)
{
	struct value lists[8], out;
	bool unknown;
	uint32_t n = UINT32_MAX;
	int64_t start = 0;
	if (sp == SP_ENUMERATE && args->n == 2 && args->at[1].v.kind == V_INT) { /* enumerate(list, 1) or start=1 */
		start = args->at[1].v.u.i;
		args->n = 1;
	}
	if (!args->n || args->n > 8 || (sp != SP_ZIP && args->n > 1))
		return report_poison(e, DIAG_ARG_COUNT, at, "`%s` takes %s",
				     sp == SP_ZIP        ? "zip"
				     : sp == SP_REVERSED ? "reversed"
							 : "enumerate",
				     sp == SP_ZIP ? "1 to 8 lists" : "one list");
	for (uint32_t i = 0; i < args->n; i++) {
		if (!list_elements(e, args->at[i].v, args->at[i].at, &lists[i], &unknown))
			return VALUE_POISON;
		n = lists[i].u.seq->n < n ? lists[i].u.seq->n : n;
	}
	out = value_seq(e->f->arena, V_LIST, n);
	for (uint32_t i = 0; i < n; i++) {
		if (sp == SP_REVERSED) {
			out.u.seq->at[i] = lists[0].u.seq->at[n - 1 - i];
			continue;
		}
		struct value t = value_seq(e->f->arena, V_TUPLE, sp == SP_ZIP ? args->n : 2);
		for (uint32_t k = 0; sp == SP_ZIP && k < args->n; k++)
			t.u.seq->at[k] = lists[k].u.seq->at[i];
		if (sp == SP_ENUMERATE)
			t.u.seq->at[0] = value_int(start + i), t.u.seq->at[1] = lists[0].u.seq->at[i];
		out.u.seq->at[i] = t;
	}
	return checked_list(e, out, at);
}

/* ntuple(x, n): a list or tuple of n values as a tuple; another value n times. */
static struct value special_ntuple(struct emitter *e, struct args *args, span at)
{
	bool ok = args->n == 2 && !args->at[0].name && !args->at[1].name && args->at[1].v.kind == V_INT && args->at[1].v.u.i > 0 &&
		  args->at[1].v.u.i <= HIR_MAX_RANK;
	if (!ok)
		return report_poison(e, DIAG_ARG_VALUE, at, "`ntuple` takes a value and a length from 1 to %d: `ntuple(x, 2)`",
				     HIR_MAX_RANK);
	struct value x = args->at[0].v, out = value_seq(e->f->arena, V_TUPLE, (uint32_t)args->at[1].v.u.i);
	if (value_is_seq(x) && x.u.seq->n != out.u.seq->n)
		return report_poison(e, DIAG_ARG_VALUE, args->at[0].at, "`ntuple` needs one value or a list of %u, not %s", out.u.seq->n,
				     value_text(e, x));
	for (uint32_t i = 0; i < out.u.seq->n; i++)
		out.u.seq->at[i] = item_of(x, i);
	return checked_list(e, out, at);
}

static struct value special_of_one(struct emitter *e, enum special sp, struct arg *a, span at)
{
	if (sp == SP_LEN)
		return special_len(e, a->v, a->at);
	if (sp == SP_STR)
		return values_to_text(e, &a->v, 1, a->at);
	if (a->v.kind != V_TENSOR)
		return report_poison(e, DIAG_TYPE_MISMATCH, at, "%s has no shape", value_text(e, a->v));
	return list_of_sizes(e, type_of(e, a->v.u.t));
}

struct value call_special(struct emitter *e, enum special sp, struct args *args, span at)
{
	if (sp == SP_PRINT)
		return call_print(e, args, at);
	for (uint32_t i = 0; i < args->n; i++)
		if (is_poison(args->at[i].v))
			return VALUE_POISON;
	switch (sp) {
	case SP_RANGE: return special_range(e, args, at);
	case SP_ENUMERATE:
	case SP_ZIP:
	case SP_REVERSED: return special_lists(e, sp, args, at);
	case SP_NTUPLE: return special_ntuple(e, args, at);
	case SP_LEN:
	case SP_SHAPE:
	case SP_STR: break;
	case SP_PRINT:
	case SP_COUNT: return VALUE_POISON;
	}
	if (args->n == 1 && !args->at[0].name)
		return special_of_one(e, sp, &args->at[0], at);
	return report_poison(e, DIAG_ARG_COUNT, at, "expected one argument, not %u", args->n);
}
