/* Assertions. */
#include "frontend/elab/stmt.h"
#include <string.h>
#include "frontend/elab/branch.h"
#include "frontend/rules/builtin.h"
#include "frontend/unit/text.h"

/* "net.tri:7" */
static const char *assert_line_text(struct elab *e, span at)
{
	struct position pos = source_position(e->em.f->sources, at.source, at.start);
	return arena_printf(e->em.f->arena, "%s:%u", sources_get(e->em.f->sources, at.source)->path, pos.line);
}

static void emit_assert(struct elab *e, hir_ref cond, struct value message, span at)
{
	struct hir_arg lead[] = {{.kind = ARG_STR, .u.s = assert_line_text(e, at)}, arg_tensor(cond)};
	emit_text_effect(&e->em, HIR_ASSERT, message, lead, 2, at);
}

void assert_size(struct elab *e, const char *name, struct value given, struct value size, span at)
{
	struct arg two[] = {{.v = given, .at = at}, {.v = size, .at = at}};
	struct args args = {2, two};
	struct value same = call_builtin(&e->em, BI_EQ, &args, at);
	struct text_builder t = {.e = &e->em};
	text_put(&t, arena_printf(e->em.f->arena, "argument `%s` is ", name));
	text_put_value(&t, given, &no_text_format);
	text_put(&t, ", but the dimension of its name is ");
	text_put_value(&t, size, &no_text_format);
	if (same.kind == V_TENSOR)
		emit_assert(e, same.u.t, text_finish(&t, at), at);
}

/* Labels the first tensor among the arguments of the library's function: its expression in the call, or where its local was bound. */
static void label_argument(struct elab *e, struct diag *g)
{
	uint32_t arg = e->frame->base, i;
	while (arg < e->locals.len && e->locals.at[arg].value.kind != V_TENSOR)
		arg++;
	if (arg == e->locals.len)
		return;
	const struct local *l = &e->locals.at[arg];
	for (i = e->frame->base; i-- > 0;)
		if (e->locals.at[i].value.kind == V_TENSOR && e->locals.at[i].value.u.t == l->value.u.t)
			break;
	span at = i == UINT32_MAX ? l->at : e->locals.at[i].at, call = g->primary.at;
	if (at.source != call.source || at.end <= at.start || (at.start <= call.start && at.end >= call.end))
		label_origin(&e->em, g, e->em.b, l->value.u.t, call);
	else if (*source_excerpt(&e->em, at))
		diag_secondary(e->em.report.out, g, at, "this is a %s", type_text(&e->em, l->value.u.t));
}

/* An assertion of the standard library is an error of the call: about a shape or a value of an argument. */
static enum diag_code assert_code(struct elab *e, span cond)
{
	const char *text = source_excerpt(&e->em, cond);
	if (!e->frame->mod->std)
		return DIAG_ASSERT_FAILED;
	return strstr(text, ".shape") || strstr(text, ".rank") ? DIAG_ARG_SHAPE : DIAG_ARG_VALUE;
}

static enum flow return_poison(struct elab *e)
{
	e->frame->result = VALUE_POISON;
	e->frame->returned = true;
	return FLOW_RETURN;
}

static enum flow assert_report_failure(struct elab *e, node_id n, const char *message)
{
	span cond = elab_span(e, n);
	e->em.report.about_call = e->frame->mod->std && message;
	struct diag *g = report_layer_mismatch(e, n);
	if (!g)
		g = report_error(&e->em, assert_code(e, cond), cond, "%s", message ? message : "the assertion fails");
	e->em.report.about_call = false;
	if (g->primary.at.start == cond.start)
		diag_label_primary(e->em.report.out, g, "is false");
	if (e->em.checking && e->frame->mod->std)
		label_argument(e, g);
	if (e->em.checking && !e->frame->mod->std)
		return FLOW_NEXT;
	return return_poison(e); /* the code that follows relies on it */
}

/* `assert(c, "m")` is `assert c, "m"`. */
static void assert_parts(struct elab *e, node_id n, node_id *cond, node_id *message)
{
	*cond = ast_a(elab_tree(e), n);
	*message = ast_b(elab_tree(e), n);
	if (*message || ast_kind(elab_tree(e), *cond) != NODE_TUPLE)
		return;
	struct ast_nodes parts = ast_nodes(elab_tree(e), ast_a(elab_tree(e), *cond));
	if (parts.n == 2) {
		*cond = parts.at[0];
		*message = parts.at[1];
	}
}

/* The message, or V_NONE. */
static struct value assert_message(struct elab *e, node_id n, bool naming)
{
	if (!n)
		return (struct value){.kind = V_NONE};
	bool before = e->em.types_in_text;
	e->em.types_in_text = naming;
	struct value m = eval(e, n);
	e->em.types_in_text = before;
	if (m.kind == V_STR || m.kind == V_TEXT || is_poison(m))
		return m;
	return report_poison(&e->em, DIAG_TYPE_MISMATCH, elab_span(e, n), "the message of an assertion is a string, not %s",
			     value_text(&e->em, m));
}

enum flow exec_assert(struct elab *e, node_id n)
{
	node_id cond, msg;
	assert_parts(e, n, &cond, &msg);
	struct value c = eval(e, cond);
	span at = elab_span(e, cond);
	bool run_time = c.kind == V_TENSOR && type_of(&e->em, c.u.t)->elem == DT_BOOL && !type_of(&e->em, c.u.t)->rank;
	run_time = run_time || (c.kind == V_BOOL && !c.u.b && (e->em.conditional || is_conditional(e)));
	int known = run_time ? 0 : decide_condition(&e->em, c, at, true);
	if (!run_time && known)
		return FLOW_NEXT;
	struct value m = assert_message(e, msg, !run_time);
	if (e->em.checking && ast_kind(elab_tree(e), cond) == NODE_FALSE) /* `assert false`: code that must not be reached */
		return return_poison(e);
	if (!run_time)
		return assert_report_failure(e, cond, m.kind == V_STR ? m.u.s : NULL);
	if (!e->em.checking && !is_poison(m))
		emit_assert(e, c.kind == V_TENSOR ? c.u.t : emit_scalar(&e->em, c, DT_BOOL, at), m, at);
	return FLOW_NEXT;
}
