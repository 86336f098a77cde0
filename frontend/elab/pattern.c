/* Patterns and assignments. */
#include "frontend/elab/stmt.h"
#include <string.h>
#include "frontend/elab/index_value.h"
#include "frontend/elab/locals.h"
#include "frontend/elab/expr.h"
#include "frontend/elab/states.h"
#include "frontend/elab/unit.h"
#include "frontend/elab/unknown_list.h"
#include "frontend/rules/builtin.h"
#include "frontend/types/sig.h"

/* ---- patterns ---- */

/* A tensor keeps the name of the local that it is first given to. */
static void name_tensor(struct elab *e, name_id name, struct value v)
{
	if (v.kind != V_TENSOR)
		return;
	struct hir_node *n = node_at(&e->em, v.u.t);
	if (!n->name && n->kind != HIR_INPUT)
		n->name = name_text(e->em.f, name);
}

static void set_local(struct elab *e, name_id name, struct value v, span at, span value_at)
{
	struct local *l = local_find(e, name);
	struct layer_param *state = find_state(e, name);
	if (state) {
		assign_state(e, state, v, value_at);
		return;
	}
	if (l && !l->constant) {
		if (l->value.kind == V_UNSET)
			v = sig_coerce(&e->em, e->frame->mod, (node_id)l->value.u.i, v, value_at, "the value", e->frame->self);
		l = local_find(e, name);
		l->value = v;
		l->at = at;
		name_tensor(e, name, v);
		return;
	}
	struct value old;
	if (l) {
		report_error(&e->em, DIAG_ASSIGN, at, "`%s` is a constant and cannot be assigned to", name_text(e->em.f, name));
	} else if (name_lookup(e, name, at, &old)) {
		const struct member *m = e->frame->self ? instance_member(e->frame->self, name) : NULL;
		const char *what = !m                   ? "not a local"
				   : m->is_arg          ? "an argument of the layer"
				   : m->kind == M_PARAM ? "a parameter of the layer"
							: "a member of the layer";
		struct diag *g =
			report_error(&e->em, DIAG_ASSIGN, at, "`%s` is %s and cannot be assigned to", name_text(e->em.f, name), what);
		if (m)
			diag_secondary(e->em.report.out, g, m->at, "declared here");
		diag_help(e->em.report.out, g, "give the new value another name: `let new_%s = …`", name_text(e->em.f, name));
	}
}

static void bind_poison(struct elab *e, node_id p, bool constant) { bind_pattern(e, p, VALUE_POISON, SPAN_NONE, constant); }

static void bind_seq(struct elab *e, node_id p, struct value v, span at, bool constant)
{
	struct ast_nodes items = ast_nodes(elab_tree(e), ast_a(elab_tree(e), p));
	uint32_t rest = items.n;
	for (uint32_t i = 0; i < items.n; i++)
		if (ast_kind(elab_tree(e), items.at[i]) == NODE_PAT_REST)
			rest = i;
	uint32_t need = rest < items.n ? items.n - 1 : items.n;
	bool fits = value_is_seq(v) && (rest < items.n ? v.u.seq->n >= need : v.u.seq->n == need);
	if (!fits && !is_poison(v)) {
		struct diag *g = report_error(&e->em, DIAG_PATTERN, elab_span(e, p), "the pattern has %u names%s, but the value is %s",
					      need, rest < items.n ? " and a rest" : "", value_text(&e->em, v));
		if (at.source != SPAN_NO_SOURCE)
			diag_secondary(e->em.report.out, g, at, "%s", value_text(&e->em, v));
		if (need == 2 && (v.kind == V_LAYER || value_is_scalar(v)))
			diag_help(e->em.report.out, g, "to iterate with the index, use `enumerate(xs)`");
		else if (v.kind == V_TENSOR)
			diag_help(e->em.report.out, g, "a tensor's parts are `x[0]`, `x[1]`; `split` and `chunk` make lists of them");
	}
	for (uint32_t i = 0; i < items.n; i++) {
		if (!fits) {
			bind_poison(e, items.at[i], constant);
		} else if (i == rest) {
			struct value r = value_seq(e->em.f->arena, V_LIST, v.u.seq->n - need);
			for (uint32_t k = 0; k < r.u.seq->n; k++)
				r.u.seq->at[k] = v.u.seq->at[rest + k];
			bind_pattern(e, items.at[i], r, at, constant);
		} else {
			bind_pattern(e, items.at[i], v.u.seq->at[i < rest ? i : i - 1 + v.u.seq->n - need], at, constant);
		}
	}
}

/* In main, the layers of a local have its name, and states from here on. */
static void bind_main_layer(struct elab *e, struct value v, const char *name)
{
	struct param_list states = {.of_states = true};
	collect_params(e, v, name, e->main_params);
	collect_params(e, v, name, &states);
	for (uint32_t i = 0; i < states.at.len; i++)
		state_begin(e, states.at.at[i]);
	param_list_free(&states);
}

void bind_name(struct elab *e, token_id name, struct value v, bool constant)
{
	index_note_value(e, name, v);
	local_push(e, elab_name(e, name), v, constant);
	name_tensor(e, elab_name(e, name), v);
	if (e->main_params && !e->frame->func && !e->frame->self)
		bind_main_layer(e, v, name_text(e->em.f, elab_name(e, name)));
}

void bind_pattern(struct elab *e, node_id p, struct value v, span at, bool constant)
{
	switch (ast_kind(elab_tree(e), p)) {
	case NODE_PAT_NAME:
		bind_name(e, ast_token(elab_tree(e), p), v, constant);
		e->locals.at[e->locals.len - 1].at = at;
		break;
	case NODE_PAT_REST: bind_name(e, ast_a(elab_tree(e), p), v, constant); break;
	case NODE_PAT_TUPLE:
	case NODE_PAT_LIST: bind_seq(e, p, v, at, constant); break;
	default: break;
	}
}

/* ---- assignment ---- */

struct value report_no_value(struct elab *e, node_id value)
{
	struct diag *g = report_error(&e->em, DIAG_TYPE_MISMATCH, elab_span(e, value), "this has no value");
	if (ast_kind(elab_tree(e), value) == NODE_CALL)
		diag_help(e->em.report.out, g,
			  "the called function ends without a `return`; a layer that is made by a call needs a `fn forward` in its body");
	else if (ast_kind(elab_tree(e), value) == NODE_IF)
		diag_help(e->em.report.out, g, "an `if` has a value only if every branch ends with one: add `else { … }`");
	return VALUE_POISON;
}

static void assign_target(struct elab *e, node_id target, struct value v, span at)
{
	switch (ast_kind(elab_tree(e), target)) {
	case NODE_NAME: set_local(e, elab_name(e, ast_token(elab_tree(e), target)), v, elab_span(e, target), at); break;
	case NODE_PAREN: assign_target(e, ast_a(elab_tree(e), target), v, at); break;
	case NODE_TUPLE: {
		struct ast_nodes items = ast_nodes(elab_tree(e), ast_a(elab_tree(e), target));
		bool fits = value_is_seq(v) && v.u.seq->n == items.n;
		if (!fits && !is_poison(v))
			report_error(&e->em, DIAG_PATTERN, elab_span(e, target), "%u targets, but the value is %s", items.n,
				     value_text(&e->em, v));
		for (uint32_t i = 0; i < items.n; i++)
			assign_target(e, items.at[i], fits ? v.u.seq->at[i] : VALUE_POISON, at);
		break;
	}
	case NODE_ERROR: break;
	default: {
		struct diag *g = report_error(&e->em, DIAG_ASSIGN, elab_span(e, target), "only locals can be assigned to");
		diag_note(
			e->em.report.out, g,
			"tensors and lists cannot be changed in place: build a new one with `concat`, `where` or `stack`, a list as `[f(x) for x in xs]`");
	}
	}
}

static enum token_kind assign_op(enum token_kind k)
{
	switch (k) {
	case TOK_PLUS_EQ: return TOK_PLUS;
	case TOK_MINUS_EQ: return TOK_MINUS;
	case TOK_STAR_EQ: return TOK_STAR;
	case TOK_SLASH_EQ: return TOK_SLASH;
	case TOK_AT_EQ: return TOK_AT;
	case TOK_AMP_EQ: return TOK_AMP;
	case TOK_PIPE_EQ: return TOK_PIPE;
	case TOK_CARET_EQ: return TOK_CARET;
	case TOK_SHL_EQ: return TOK_SHL;
	case TOK_SHR_EQ: return TOK_SHR;
	default: return TOK_ASSIGN;
	}
}

struct value exec_assign(struct elab *e, node_id n)
{
	node_id target = ast_a(elab_tree(e), n), value = ast_b(elab_tree(e), n);
	enum token_kind op = assign_op(ast_token_kind(elab_tree(e), n));
	struct value v;
	if (op == TOK_ASSIGN) {
		v = ast_kind(elab_tree(e), value) == NODE_ASSIGN ? exec_assign(e, value) : eval(e, value);
		if (v.kind == V_VOID)
			v = report_no_value(e, value);
	} else {
		struct value old = eval(e, target);
		v = eval(e, value);
		struct value list, more = v;
		bool unknown = e->em.checking && unknown_list_operator(e, op, old, more, &list);
		v = unknown ? list : apply_binary(&e->em, op, old, more, elab_span(e, n), elab_span(e, target), elab_span(e, value));
	}
	assign_target(e, target, v, elab_span(e, value));
	return v;
}
