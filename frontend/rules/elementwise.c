/* Rules of the element-wise builtins. */
#include <string.h>
#include "frontend/rules/builtin.h"

struct operands {
	hir_ref a, b;
	struct hir_type type; /* broadcast shape, common element type */
};

static bool elementwise_is_bitwise(enum builtin bi) { return bi >= BI_BIT_AND && bi <= BI_SHR; }

static const char *bitwise_help(enum builtin bi)
{
	if (bi == BI_BIT_XOR)
		return "bits are those of integers and bools; a power is written `**`";
	if (bi == BI_BIT_AND || bi == BI_BIT_OR)
		return "bits are those of integers and bools; comparisons beside it need parentheses: `(a > 0) & (b > 0)`";
	return "bits are those of integers: convert with a cast, `int32(…)`";
}

static bool report_mixed_types(struct emitter *e, struct builtin_call *c, uint32_t ia, uint32_t ib)
{
	struct diag *g = report_error(e, DIAG_OPERANDS, c->at, "`%s` does not accept %s and %s together", builtin_text(c->bi),
				      value_text(e, c->v[ia]), value_text(e, c->v[ib]));
	diag_secondary(e->report.out, g, c->ats[ia], "%s", value_text(e, c->v[ia]));
	diag_secondary(e->report.out, g, c->ats[ib], "%s", value_text(e, c->v[ib]));
	struct value a = c->v[ia], b = c->v[ib];
	bool product = (c->bi == BI_MUL || c->bi == BI_POW) && a.kind == V_TENSOR && b.kind == V_TENSOR && type_of(e, b.u.t)->rank == 2,
	     negation = (c->bi == BI_EQ || c->bi == BI_NE) && a.kind == V_TENSOR && type_of(e, a.u.t)->elem == DT_BOOL && b.kind == V_INT;
	if (negation)
		diag_help(e->report.out, g, "a bool can be compared only with a bool; write `!x` to test for false");
	else
		diag_help(
			e->report.out, g,
			product ? "write `a @ b` for a matrix product; for an element-wise product convert with a cast such as `float32(…)`"
			: elementwise_is_bitwise(c->bi) ? "convert one of them with a cast such as `int32(…)` or `bool(…)`"
							: "convert one of them with a cast such as `float32(…)`");
	return false;
}

/* How two operands that may be trits are joined. */
enum join_mode {
	JOIN_NUMBERS, /* arithmetic: the result is not a trit */
	JOIN_VALUES,  /* a choice or a comparison: trits stay trits, and literals -1, 0 and 1 become trits */
};

static dtype literal_type(struct value v, dtype beside, enum join_mode mode)
{
	if (mode == JOIN_VALUES && beside == DT_TRIT && v.kind == V_INT && v.u.i >= -1 && v.u.i <= 1)
		return DT_TRIT;
	return literal_type_beside(v, beside);
}

/* Finds the common element type of arguments ia and ib. */
static bool common_type(struct emitter *e, struct builtin_call *c, uint32_t ia, uint32_t ib, enum join_mode mode, dtype *out)
{
	struct value a = c->v[ia], b = c->v[ib];
	bool ta = a.kind == V_TENSOR, tb = b.kind == V_TENSOR;
	if ((!ta && !value_is_scalar(a)) || (!tb && !value_is_scalar(b)))
		return need_tensor(e, c, ta || value_is_scalar(a) ? ib : ia), false;
	dtype da = ta ? type_of(e, a.u.t)->elem : scalar_type(a), db = tb ? type_of(e, b.u.t)->elem : scalar_type(b);
	bool la = value_is_literal(a), lb = value_is_literal(b);
	if (la != lb)
		*out = la ? literal_type(a, db, mode) : literal_type(b, da, mode);
	else
		*out = mode == JOIN_VALUES && da == db ? da : dtype_join_operands(da, db);
	return *out != DT_COUNT || report_mixed_types(e, c, ia, ib);
}

static hir_ref as_type(struct emitter *e, struct builtin_call *c, uint32_t i, dtype t)
{
	struct value v = c->v[i];
	if (v.kind == V_TENSOR)
		return emit_cast(e, v.u.t, t, c->ats[i]);
	if (v.kind == V_TRIT && t != DT_TRIT)
		v = value_int(v.u.i);
	return emit_scalar(e, v, t, c->ats[i]);
}

static bool elementwise_load_operands(struct emitter *e, struct builtin_call *c, uint32_t ia, uint32_t ib, dtype t, struct operands *o)
{
	o->a = as_type(e, c, ia, t);
	o->b = as_type(e, c, ib, t);
	if (o->a == HIR_NONE || o->b == HIR_NONE)
		return false;
	if (!broadcast_or_report(e, c, o->a, o->b, c->ats[ia], c->ats[ib], &o->type))
		return false;
	o->type.elem = t;
	return true;
}

static struct value emit2(struct emitter *e, struct builtin_call *c, enum builtin bi, const struct operands *o)
{
	return EMIT(bi, &o->type, arg_tensor(o->a), arg_tensor(o->b));
}

static bool report_no_arithmetic(struct emitter *e, struct builtin_call *c, dtype t)
{
	struct diag *g =
		report_error(e, DIAG_OPERANDS, c->at, "`%s` does not accept elements of type %s", builtin_text(c->bi), dtype_text(t));
	diag_help(e->report.out, g,
		  elementwise_is_bitwise(c->bi)     ? bitwise_help(c->bi)
		  : t == DT_BOOL && c->bi == BI_MUL ? "write `a && b` if both are bools, or `int32(a) * b` for a number"
		  : t == DT_TRIT                    ? "convert with a cast: `int8(…)`, `float32(…)`"
						    : "convert with a cast: `int32(…)`, `float32(…)`");
	return false;
}

static struct value arith(struct emitter *e, struct builtin_call *c, enum join_mode mode, bool floats)
{
	struct operands o;
	dtype t;
	if (!common_type(e, c, 0, 1, mode, &t))
		return VALUE_POISON;
	if (t == DT_BOOL)
		return report_no_arithmetic(e, c, t), VALUE_POISON;
	if (floats && dtype_class(t) == DTC_INT)
		t = DT_FLOAT32;
	return elementwise_load_operands(e, c, 0, 1, t, &o) ? emit2(e, c, c->bi, &o) : VALUE_POISON;
}

/* True if the divisor is a constant 0, which is reported. */
static bool is_zero_divisor(struct emitter *e, struct builtin_call *c)
{
	struct value d = c->v[1];
	if ((d.kind != V_INT || d.u.i) && (d.kind != V_FLOAT || d.u.f != 0))
		return false;
	report_error(e, DIAG_CONST_ARITH, c->ats[1], "division by a constant zero");
	return true;
}

struct value rule_arith(struct emitter *e, struct builtin_call *c)
{
	if ((c->bi == BI_FLOORDIV || c->bi == BI_MOD || c->bi == BI_FMOD) && is_zero_divisor(e, c))
		return VALUE_POISON;
	return arith(e, c, c->bi == BI_MINIMUM || c->bi == BI_MAXIMUM ? JOIN_VALUES : JOIN_NUMBERS, false);
}

static dtype operand_type(struct emitter *e, struct value v)
{
	return v.kind == V_TENSOR ? type_of(e, v.u.t)->elem : value_is_scalar(v) ? scalar_type(v) : DT_COUNT;
}

/* A bool times a number is the number or 0. */
static struct value elementwise_multiply_by_bool(struct emitter *e, struct builtin_call *c, uint32_t condition)
{
	struct operands o;
	dtype t = operand_type(e, c->v[!condition]);
	uint64_t *zero = ARENA_NEW(e->f->arena, uint64_t);
	t = t == DT_TRIT ? DT_INT8 : t;
	o.a = as_type(e, c, condition, DT_BOOL);
	o.b = as_type(e, c, !condition, t);
	if (o.a == HIR_NONE || o.b == HIR_NONE || !broadcast_or_report(e, c, o.a, o.b, c->ats[condition], c->ats[!condition], &o.type))
		return VALUE_POISON;
	o.type.elem = t;
	struct hir_type scalar = {.elem = t};
	return EMIT(BI_WHERE, &o.type, arg_tensor(o.a), arg_tensor(o.b), arg_tensor(emit_const(e, &scalar, zero, c->at)));
}

struct value rule_arc(struct emitter *e, struct builtin_call *c) { return arith(e, c, JOIN_NUMBERS, true); }
struct value rule_mul(struct emitter *e, struct builtin_call *c)
{
	dtype a = operand_type(e, c->v[0]), b = operand_type(e, c->v[1]);
	if ((a == DT_BOOL) != (b == DT_BOOL) && a != DT_COUNT && b != DT_COUNT)
		return elementwise_multiply_by_bool(e, c, a != DT_BOOL);
	return arith(e, c, JOIN_NUMBERS, false);
}

struct value rule_div(struct emitter *e, struct builtin_call *c)
{
	return is_zero_divisor(e, c) ? VALUE_POISON : arith(e, c, JOIN_NUMBERS, true);
}

struct value rule_compare(struct emitter *e, struct builtin_call *c)
{
	struct operands o;
	dtype t;
	if (!common_type(e, c, 0, 1, JOIN_VALUES, &t) || !elementwise_load_operands(e, c, 0, 1, t, &o))
		return VALUE_POISON;
	o.type.elem = DT_BOOL;
	return emit2(e, c, c->bi, &o);
}

/* Returns argument i as bools: numbers are true unless they are 0. HIR_NONE: reported. */
static hir_ref need_condition(struct emitter *e, struct builtin_call *c, uint32_t i)
{
	hir_ref r = need_tensor(e, c, i);
	if (r == HIR_NONE || type_of(e, r)->elem == DT_BOOL)
		return r;
	struct value v = COMPOSE_AT(c->ats[i], BI_NE, value_tensor(r), value_int(0));
	return is_poison(v) ? HIR_NONE : v.u.t;
}

struct value rule_logical(struct emitter *e, struct builtin_call *c)
{
	struct operands o = {.a = need_condition(e, c, 0), .b = need_condition(e, c, 1), .type.elem = DT_BOOL};
	if (o.a == HIR_NONE || o.b == HIR_NONE || !broadcast_or_report(e, c, o.a, o.b, c->ats[0], c->ats[1], &o.type))
		return VALUE_POISON;
	return emit2(e, c, c->bi, &o);
}

struct value rule_logical_xor(struct emitter *e, struct builtin_call *c)
{
	hir_ref a = need_condition(e, c, 0), b = need_condition(e, c, 1);
	return a == HIR_NONE || b == HIR_NONE ? VALUE_POISON : compose_pair(e, c, BI_NE, value_tensor(a), value_tensor(b));
}

struct value rule_logical_not(struct emitter *e, struct builtin_call *c)
{
	hir_ref r = need_condition(e, c, 0);
	if (r == HIR_NONE)
		return VALUE_POISON;
	struct hir_type t = *type_of(e, r);
	return emit_plain(e, c, &t, r);
}

/* ---- bits ---- */

struct value rule_bitwise(struct emitter *e, struct builtin_call *c)
{
	struct operands o;
	dtype t;
	bool shift = c->bi == BI_SHL || c->bi == BI_SHR;
	if (shift && c->v[1].kind == V_INT && c->v[1].u.i < 0)
		return report_poison(e, DIAG_CONST_ARITH, c->ats[1], "a negative shift amount");
	if (!common_type(e, c, 0, 1, JOIN_NUMBERS, &t))
		return VALUE_POISON;
	if (dtype_class(t) != DTC_INT && (shift || t != DT_BOOL))
		return report_no_arithmetic(e, c, t), VALUE_POISON;
	return elementwise_load_operands(e, c, 0, 1, t, &o) ? emit2(e, c, c->bi, &o) : VALUE_POISON;
}

struct value rule_bitwise_not(struct emitter *e, struct builtin_call *c)
{
	hir_ref r = c->operand[0];
	struct hir_type t = *type_of(e, r);
	if (t.elem == DT_TRIT)
		t.elem = DT_INT8;
	if (t.elem != DT_BOOL && dtype_class(t.elem) != DTC_INT)
		return report_no_arithmetic(e, c, t.elem), VALUE_POISON;
	return emit_plain(e, c, &t, emit_cast(e, r, t.elem, c->at));
}

/* ---- one operand ---- */

static struct value keep_type(struct emitter *e, struct builtin_call *c, bool trits)
{
	hir_ref r = c->operand[0];
	struct hir_type t = *type_of(e, r);
	if (t.elem == DT_BOOL || (t.elem == DT_TRIT && !trits))
		return report_no_arithmetic(e, c, t.elem), VALUE_POISON;
	bool rounding = c->bi == BI_FLOOR || c->bi == BI_CEIL || c->bi == BI_ROUND;
	return rounding && dtype_class(t.elem) == DTC_INT ? value_tensor(r) : emit_plain(e, c, &t, r);
}

struct value rule_signed_same(struct emitter *e, struct builtin_call *c) { return keep_type(e, c, true); }
struct value rule_numeric_same(struct emitter *e, struct builtin_call *c) { return keep_type(e, c, false); }

struct value rule_float_same(struct emitter *e, struct builtin_call *c)
{
	static const char *const approximations[] = {"none", "tanh"};
	uint32_t word;
	double number;
	hir_ref r = c->operand[0];
	for (uint32_t i = 1; i < c->sig->n; i++) {
		bool text = c->sig->params[i].standard.kind == V_STR; /* `approximate` of gelu */
		if (!(text ? need_word(e, c, i, approximations, 2, &word) : need_float_value(e, c, i, &number)))
			return VALUE_POISON;
		if (!text)
			c->v[i] = value_float(number);
	}
	struct hir_type t = *type_of(e, r);
	return emit_plain(e, c, &t, r);
}

struct value rule_cast(struct emitter *e, struct builtin_call *c)
{
	return report_poison(e, DIAG_NOT_A_VALUE, c->at, "write a cast as a call of the type: `float32(x)`");
}

/* ---- three operands ---- */

struct value rule_clip(struct emitter *e, struct builtin_call *c)
{
	hir_ref x = c->operand[0];
	struct hir_type t = *type_of(e, x);
	struct hir_arg a[3] = {arg_tensor(x)};
	if (t.elem == DT_BOOL || t.elem == DT_TRIT)
		return report_no_arithmetic(e, c, t.elem), VALUE_POISON;
	c->v[0] = value_tensor(x);
	for (uint32_t i = 1; i <= 2; i++) {
		dtype common;
		if (c->v[i].kind == V_NONE)
			continue;
		if (!common_type(e, c, 0, i, JOIN_VALUES, &common))
			return VALUE_POISON;
		t.elem = dtype_join(t.elem, common);
	}
	a[0] = arg_tensor(emit_cast(e, x, t.elem, c->at));
	for (uint32_t i = 1; i <= 2; i++) {
		struct operands o;
		if (c->v[i].kind == V_NONE)
			continue;
		if (!elementwise_load_operands(e, c, 0, i, t.elem, &o))
			return VALUE_POISON;
		broadcast_dims(e, &t, &o.type);
		a[i] = arg_tensor(o.b);
	}
	return value_tensor(emit_builtin(e, BI_CLIP, &t, a, 3, c->at));
}

struct value rule_where(struct emitter *e, struct builtin_call *c)
{
	struct operands o;
	dtype t;
	hir_ref cond = need_condition(e, c, 0);
	if (cond == HIR_NONE || !common_type(e, c, 1, 2, JOIN_VALUES, &t) || !elementwise_load_operands(e, c, 1, 2, t, &o))
		return VALUE_POISON;
	struct hir_type tc = *type_of(e, cond);
	if (!broadcast_dims(e, &o.type, &tc))
		return rule_error(e, c, DIAG_BROADCAST, c->ats[0], "the condition's shape %s does not broadcast to %s", shape_text(e, &tc),
				  shape_text(e, &o.type));
	return EMIT(BI_WHERE, &o.type, arg_tensor(cond), arg_tensor(o.a), arg_tensor(o.b));
}

struct value rule_dropout(struct emitter *e, struct builtin_call *c)
{
	double p;
	bool training;
	hir_ref r = c->operand[0];
	bool ok = need_float_value(e, c, 1, &p) && need_bool(e, c, 2, &training);
	return ok ? value_tensor(r) : VALUE_POISON;
}
