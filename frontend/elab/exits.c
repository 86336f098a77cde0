/* The ways out of a function or loop that run-time conditions guard, as bools beside the locals; scalars of the run. */
#include "frontend/elab/branch.h"

/* ---- scalars ---- */

bool scalar_becomes(struct value v, dtype t)
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

hir_ref scalar_tensor(struct elab *e, struct value v, dtype t, span at)
{
	if (v.kind == V_TENSOR) {
		const struct hir_type *have = type_of(e, v.u.t);
		return !have->rank && dtype_widens(have->elem, t) ? emit_cast(e, v.u.t, t, at) : HIR_NONE;
	}
	return scalar_becomes(v, t) ? emit_scalar(e, v, t, at) : HIR_NONE;
}

hir_ref emit_bool(struct elab *e, bool v, span at) { return emit_scalar(e, value_bool(v), DT_BOOL, at); }

hir_ref emit_not(struct elab *e, hir_ref c, span at)
{
	struct hir_type t = {.elem = DT_BOOL};
	struct hir_arg a = arg_tensor(c);
	return emit_builtin(e, BI_LOGICAL_NOT, &t, &a, 1, at);
}

hir_ref emit_logic(struct elab *e, enum builtin bi, hir_ref a, hir_ref b, span at)
{
	struct hir_type t = {.elem = DT_BOOL};
	struct hir_arg args[2] = {arg_tensor(a), arg_tensor(b)};
	return emit_builtin(e, bi, &t, args, 2, at);
}

/* ---- ways out ---- */

struct local *exit_kind(struct elab *e, enum exit_kind w) { return local_find(e, e->exits[w]); }

void exits_open(struct elab *e, enum exit_kind first, enum exit_kind last)
{
	for (enum exit_kind w = first; w <= last; w++)
		local_push(e, e->exits[w], w == EXIT_RESULT ? (struct value){.kind = V_VOID} : value_bool(false), false);
}

static const enum exit_kind conditions[] = {EXIT_RETURNED, EXIT_LEFT, EXIT_SKIPPED};
static const enum flow flows[] = {FLOW_RETURN, FLOW_BREAK, FLOW_CONTINUE};

bool flow_depends(struct elab *e, bool skipped, hir_ref *live)
{
	hir_ref out = HIR_NONE;
	for (int i = 0; i < 2 + skipped; i++) {
		const struct local *l = exit_kind(e, conditions[i]);
		if (!l || l->value.kind != V_TENSOR)
			continue;
		out = out == HIR_NONE ? l->value.u.t : emit_logic(e, BI_LOGICAL_OR, out, l->value.u.t, SPAN_NONE);
	}
	if (out != HIR_NONE && live)
		*live = emit_not(e, out, SPAN_NONE);
	return out != HIR_NONE;
}

void flow_clear(struct elab *e, bool skipped)
{
	for (int i = 0; i < 2 + skipped; i++) {
		struct local *l = exit_kind(e, conditions[i]);
		if (l)
			l->value = value_bool(false);
	}
}

enum flow flow_taken(struct elab *e, bool skipped)
{
	int found = -1, n = 0;
	for (int i = 0; i < 2 + skipped; i++) {
		const struct local *l = exit_kind(e, conditions[i]);
		if (l && l->value.kind == V_TENSOR)
			found = i, n++;
	}
	if (n != 1)
		return FLOW_MAYBE;
	exit_kind(e, conditions[found])->value = value_bool(true);
	if (flows[found] == FLOW_RETURN) {
		e->frame->result = exit_kind(e, EXIT_RESULT)->value;
		e->frame->returned = true;
	}
	return flows[found];
}

void flow_note(struct elab *e, struct side *s, span at)
{
	for (int i = 0; i < 3; i++) {
		if (s->flow != flows[i])
			continue;
		struct local *l = exit_kind(e, conditions[i]);
		if (l) {
			l->value = value_bool(true);
			continue;
		}
		if (!e->gave_up)
			elab_error(e, DIAG_UNSUPPORTED, at, "the condition of a way out of this must be known at compile time");
	}
	if (s->flow == FLOW_RETURN && exit_kind(e, EXIT_RESULT)) {
		exit_kind(e, EXIT_RESULT)->value = e->frame->result;
		exit_kind(e, EXIT_RESULT)->at = e->frame->result_at;
	}
}
