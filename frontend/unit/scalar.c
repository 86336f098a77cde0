/* Scalars: compile-time numbers as bytes, constants and tensors without dimensions. */
#include <string.h>
#include "frontend/unit/emit.h"

bool scalar_bytes(struct emitter *e, struct value v, dtype t, void *out, span at)
{
	bool number = v.kind == V_INT || v.kind == V_FLOAT;
	if (dtype_class(t) == DTC_FLOAT && (number || v.kind == V_BOOL)) {
		float_bytes(number_as(v, t), t, out);
		return true;
	}
	if (t == DT_BOOL && v.kind == V_BOOL) {
		*(uint8_t *)out = v.u.b;
		return true;
	}
	bool trit = v.kind == V_TRIT && t == DT_TRIT;
	if (t != DT_BOOL && dtype_class(t) != DTC_FLOAT && (trit || v.kind == V_INT || (v.kind == V_BOOL && t != DT_TRIT))) {
		int64_t i = v.kind == V_BOOL ? v.u.b : v.u.i;
		if (i >= dtype_least_int(t) && i <= dtype_largest_int(t)) {
			dtype_put_int(t, out, 0, i);
			return true;
		}
		struct diag *g = report_error(e, DIAG_LITERAL_RANGE, at, "%lld is not a value of type %s", (long long)i, dtype_text(t));
		if (t == DT_TRIT)
			diag_note(e->report.out, g, "a trit is -1, 0 or 1");
		else
			diag_note(e->report.out, g, "%s holds %lld to %lld; a cast at run time keeps the low bits", dtype_text(t),
				  (long long)dtype_least_int(t), (long long)dtype_largest_int(t));
		return false;
	}
	struct diag *g = report_error(e, DIAG_TYPE_MISMATCH, at, "a value of type %s is needed, not %s", dtype_text(t), value_text(e, v));
	if (v.kind == V_TRIT)
		diag_help(e->report.out, g, "convert it: `%s(…)`", dtype_text(t));
	return false;
}

hir_ref emit_scalar(struct emitter *e, struct value v, dtype t, span at)
{
	struct hir_type type = {.elem = t};
	if (v.kind == V_DIM)
		return emit_cast(e, emit_dim(e, v.u.d, at), t, at);
	void *data = arena_alloc(e->f->arena, 8, 8);
	if (!scalar_bytes(e, v, t, data, at))
		return HIR_NONE;
	return emit_const(e, &type, data, at);
}

bool scalar_converts(struct value v, dtype t)
{
	enum dtype_class k = dtype_class(t);
	if (v.typed && !dtype_widens(scalar_type(v), t))
		return false;
	switch (v.kind) {
	case V_BOOL: return k == DTC_BOOL;
	case V_TRIT: return k == DTC_TRIT;
	case V_FLOAT: return k == DTC_FLOAT;
	case V_INT: return k == DTC_INT || k == DTC_FLOAT || (k == DTC_TRIT && v.u.i >= -1 && v.u.i <= 1);
	case V_DIM: return k == DTC_INT || k == DTC_FLOAT;
	default: return false;
	}
}

hir_ref scalar_tensor(struct emitter *e, struct value v, dtype t, span at)
{
	if (v.kind == V_TENSOR) {
		const struct hir_type *have = type_of(e, v.u.t);
		return !have->rank && dtype_widens(have->elem, t) ? emit_cast(e, v.u.t, t, at) : HIR_NONE;
	}
	return scalar_converts(v, t) ? emit_scalar(e, v, t, at) : HIR_NONE;
}

hir_ref emit_bool(struct emitter *e, bool v, span at) { return emit_scalar(e, value_bool(v), DT_BOOL, at); }

hir_ref emit_not(struct emitter *e, hir_ref c, span at)
{
	struct hir_type t = {.elem = DT_BOOL};
	struct hir_arg a = arg_tensor(c);
	return emit_builtin(e, BI_LOGICAL_NOT, &t, &a, 1, at);
}

hir_ref emit_logic(struct emitter *e, enum builtin bi, hir_ref a, hir_ref b, span at)
{
	struct hir_type t = {.elem = DT_BOOL};
	struct hir_arg args[2] = {arg_tensor(a), arg_tensor(b)};
	return emit_builtin(e, bi, &t, args, 2, at);
}

bool is_integer_scalar(struct emitter *e, struct value v)
{
	if (v.kind == V_TENSOR)
		return dtype_class(type_of(e, v.u.t)->elem) == DTC_INT && !type_of(e, v.u.t)->rank;
	return v.kind == V_INT || v.kind == V_DIM;
}

int decide_condition(struct emitter *e, struct value v, span at, bool report)
{
	if (v.kind == V_BOOL)
		return v.u.b;
	if (is_poison(v))
		return -1;
	if (v.kind != V_TENSOR) {
		struct diag *g = report_error(e, DIAG_CONDITION, at, "a condition must be a bool, not %s",
					      v.kind == V_DIM ? "an integer" : value_text(e, v));
		if (v.kind == V_INT || v.kind == V_DIM)
			diag_help(e->report.out, g, "compare it with 0");
		return -2;
	}
	const struct hir_type *t = type_of(e, v.u.t);
	if (t->elem == DT_BOOL && !t->rank)
		return -1;
	if (report) {
		struct diag *g = report_error(e, DIAG_RUNTIME_IF, at, "a condition must be a single bool, not %s", value_text(e, v));
		diag_help(e->report.out, g,
			  t->rank ? "a tensor is not a condition: use `where(c, a, b)`, or `any`, `all`" : "compare it: `x != 0`");
	}
	return -2;
}
