/* Exits of a function or loop under run-time conditions, as locals of type bool. */
#include "frontend/elab/branch.h"
#include "frontend/elab/locals.h"

struct local *exit_local(struct elab *e, enum exit_kind w) { return local_find(e, e->exit_names[w]); }

void exits_declare(struct elab *e, enum exit_kind first, enum exit_kind last)
{
	for (enum exit_kind w = first; w <= last; w++)
		local_push(e, e->exit_names[w], w == EXIT_RESULT ? (struct value){.kind = V_VOID} : value_bool(false), false);
}

static const enum exit_kind conditions[] = {EXIT_RETURNED, EXIT_LEFT, EXIT_SKIPPED};
static const enum flow flows[] = {FLOW_RETURN, FLOW_BREAK, FLOW_CONTINUE};

bool exit_is_conditional(struct elab *e, bool skipped, hir_ref *live)
{
	hir_ref out = HIR_NONE;
	for (int i = 0; i < 2 + skipped; i++) {
		const struct local *l = exit_local(e, conditions[i]);
		if (!l || l->value.kind != V_TENSOR)
			continue;
		out = out == HIR_NONE ? l->value.u.t : emit_logic(&e->em, BI_LOGICAL_OR, out, l->value.u.t, SPAN_NONE);
	}
	if (out != HIR_NONE && live)
		*live = emit_not(&e->em, out, SPAN_NONE);
	return out != HIR_NONE;
}

void exits_clear(struct elab *e, bool skipped)
{
	for (int i = 0; i < 2 + skipped; i++) {
		struct local *l = exit_local(e, conditions[i]);
		if (l)
			l->value = value_bool(false);
	}
}

enum flow exit_taken(struct elab *e, bool skipped)
{
	int found = -1, n = 0;
	for (int i = 0; i < 2 + skipped; i++) {
		const struct local *l = exit_local(e, conditions[i]);
		if (l && l->value.kind == V_TENSOR)
			found = i, n++;
	}
	if (n != 1)
		return FLOW_MAYBE;
	exit_local(e, conditions[found])->value = value_bool(true);
	if (flows[found] == FLOW_RETURN) {
		e->frame->result = exit_local(e, EXIT_RESULT)->value;
		e->frame->returned = true;
	}
	return flows[found];
}

void exit_note(struct elab *e, enum flow flow, span at)
{
	for (int i = 0; i < 3; i++) {
		if (flow != flows[i])
			continue;
		struct local *l = exit_local(e, conditions[i]);
		if (l) {
			l->value = value_bool(true);
			continue;
		}
		if (!e->em.report.gave_up)
			report_error(&e->em, DIAG_UNSUPPORTED, at, "the condition of an exit from this code must be known at compile time");
	}
	if (flow == FLOW_RETURN && exit_local(e, EXIT_RESULT)) {
		exit_local(e, EXIT_RESULT)->value = e->frame->result;
		exit_local(e, EXIT_RESULT)->at = e->frame->result_at;
	}
}
