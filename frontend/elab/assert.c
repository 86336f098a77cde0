/* Assertions. */
#include "frontend/elab/stmt.h"
#include <string.h>
#include "frontend/elab/branch.h"
#include "frontend/rules/builtin.h"
#include "frontend/unit/layer_pair.h"
#include "frontend/unit/text.h"

/* "net.tri:7" */
static const char *line_text(struct elab *e, span at)
{
	struct position pos = source_position(e->em.f->sources, at.source, at.start);
	return arena_printf(e->em.f->arena, "%s:%u", sources_get(e->em.f->sources, at.source)->path, pos.line);
}

static void emit_assert(struct elab *e, hir_ref cond, struct value message, span at)
{
	struct hir_arg lead[] = {{.kind = ARG_STR, .u.s = line_text(e, at)}, arg_tensor(cond)};
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

/* ---- `x.shape[-1] == in_features`, which fails for the result of another layer ---- */

/* A size that an assertion compares with a number. */
struct asserted_size {
	hir_ref tensor;
	uint32_t axis;
	int64_t want;
	const char *noun;
};

static struct value eval_quietly(struct elab *e, node_id n)
{
	suppress_diags(&e->em);
	struct value v = eval(e, n);
	restore_diags(&e->em);
	return v;
}

/* The noun of an argument such as `in_channels`. */
static const char *noun_of(const char *name)
{
	size_t n = strlen(name), channels = strlen("channels");
	return n >= channels && !strcmp(name + n - channels, "channels") ? "channels" : "features";
}

/* Finds the comparison that is false among those that `&&` joins. */
static bool find_asserted_size(struct elab *e, node_id cond, struct asserted_size *out)
{
	const struct ast *t = elab_tree(e);
	if (ast_kind(t, cond) != NODE_BINARY)
		return false;
	node_id a = ast_a(t, cond), b = ast_b(t, cond);
	if (ast_token_kind(t, cond) == TOK_AND)
		return find_asserted_size(e, a, out) || find_asserted_size(e, b, out);
	if (ast_token_kind(t, cond) != TOK_EQ || ast_kind(t, b) != NODE_NAME || ast_kind(t, a) != NODE_INDEX ||
	    ast_kind(t, ast_a(t, a)) != NODE_MEMBER || !token_is(&t->tokens, ast_token(t, ast_a(t, a)), "shape"))
		return false;
	struct value x = eval_quietly(e, ast_a(t, ast_a(t, a))), want = eval_quietly(e, b);
	struct ast_nodes subs = ast_nodes(t, ast_b(t, a));
	struct value i = subs.n == 1 ? eval_quietly(e, subs.at[0]) : VALUE_POISON;
	if (x.kind != V_TENSOR || want.kind != V_INT || i.kind != V_INT)
		return false;
	int64_t rank = type_of(&e->em, x.u.t)->rank, axis = i.u.i < 0 ? i.u.i + rank : i.u.i;
	*out = (struct asserted_size){x.u.t, (uint32_t)axis, want.u.i, noun_of(name_text(e->em.f, elab_name(e, ast_token(t, b))))};
	return axis >= 0 && axis < rank;
}

/* The innermost call of the library from elsewhere. */
static const struct call_site *call_of_library(struct elab *e)
{
	const struct call_site *s = e->em.report.site;
	while (s && (s->at.source == SPAN_NO_SOURCE || is_in_std(&e->em, s->at)))
		s = s->up;
	return s;
}

/* The innermost call of a layer that the user made, up to `outermost`: one of the layers of an `nn.Sequential`. */
static const struct call_site *call_of_layer(struct elab *e, const struct call_site *outermost)
{
	const struct call_site *s = e->em.report.site;
	while (s != outermost && (!s->callee || !s->self || s->self->at.source == SPAN_NO_SOURCE || is_in_std(&e->em, s->self->at)))
		s = s->up;
	return s;
}

/* The layer that gave the tensor: found in this unit, or in the one that calls the library. */
static const struct named_layer *giver_of(struct elab *e, const struct call_site *call, const struct asserted_size *size)
{
	const struct named_layer *giver = layer_of_result(e->em.b, size->tensor, size->axis);
	if (!giver && call->caller && call->n_operands)
		giver = layer_of_result(call->caller, call->operands[0], size->axis);
	return giver;
}

/* Reports an assertion of a library's layer about its input, if another layer gave that. NULL: it is none. */
static struct diag *report_layers(struct elab *e, node_id cond)
{
	struct asserted_size size;
	const struct call_site *call = call_of_library(e);
	if (!e->frame->mod->std || !call || !call->self || !call->callee || !find_asserted_size(e, cond, &size))
		return NULL;
	const struct named_layer *giver = giver_of(e, call, &size);
	if (!giver)
		return NULL;
	const struct call_site *taken = call_of_layer(e, call);
	const struct named_layer taker = {taken->callee, taken->self->at, taken->self};
	struct buf have = {0};
	dim_print_apart(e->em.b->dims, type_of(&e->em, size.tensor)->dims[size.axis], &have);
	const char *gives = arena_printf(e->em.f->arena, "%s %s", have.at, size.noun);
	const char *takes = arena_printf(e->em.f->arena, "%lld", (long long)size.want);
	buf_free(&have);
	struct diag *g = report_error(&e->em, DIAG_ARG_SHAPE, elab_span(e, cond), "%s gives %s, %s takes %s", layer_name(&e->em, giver),
				      gives, layer_name(&e->em, &taker), takes);
	label_layers(&e->em, g, giver, gives, &taker, takes);
	return g;
}

static enum flow return_poison(struct elab *e)
{
	e->frame->result = VALUE_POISON;
	e->frame->returned = true;
	return FLOW_RETURN;
}

static enum flow report_failure(struct elab *e, node_id n, const char *message)
{
	span cond = elab_span(e, n);
	e->em.report.about_call = e->frame->mod->std && message;
	struct diag *g = report_layers(e, n);
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
		return report_failure(e, cond, m.kind == V_STR ? m.u.s : NULL);
	if (!e->em.checking && !is_poison(m))
		emit_assert(e, c.kind == V_TENSOR ? c.u.t : emit_scalar(&e->em, c, DT_BOOL, at), m, at);
	return FLOW_NEXT;
}
