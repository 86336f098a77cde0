/* Calls of functions and layers. */
#include "frontend/elab/call.h"
#include <string.h>
#include "base/buf.h"
#include "frontend/elab/body.h"
#include "frontend/elab/branch.h"
#include "frontend/elab/declared.h"
#include "frontend/elab/index_value.h"
#include "frontend/elab/layer.h"
#include "frontend/elab/list.h"
#include "frontend/elab/locals.h"
#include "frontend/elab/partial.h"
#include "frontend/elab/stmt.h"
#include "frontend/elab/unit.h"
#include "frontend/rules/builtin.h"
#include "frontend/types/sig.h"

static name_id param_name(struct elab *e, struct module *m, node_id p) { return token_name(e->em.f, m, ast_token(&m->ast, p)); }

/* ---- running a body ---- */

static bool is_recursive(struct elab *e, const struct func *fn)
{
	for (struct frame *f = e->frame; f; f = f->up)
		if (f->func && f->func->node == fn->node && f->func->mod == fn->mod && f->self == fn->self)
			return true;
	return false;
}

static bool report_recursion(struct elab *e, const struct func *fn, span at)
{
	struct diag *g = report_error(&e->em, DIAG_RECURSION, at, "`%s` calls itself", name_text(e->em.f, fn->name));
	diag_label_primary(e->em.report.out, g, "this call is recursive");
	diag_note(e->em.report.out, g, "recursion is not supported; use a loop over a compile-time range");
	return false;
}

/* Notes the tensors that a call of a unit passes, for labels. */
static void note_operands(struct elab *e, struct call_site *site)
{
	const struct unit_spec *p = e->callee;
	e->callee = NULL;
	site->caller = e->em.b->outer;
	for (uint32_t i = 0; p && i < p->tensors.len && i < MAX_SITE_OPERANDS; i++)
		site->operands[site->n_operands++] = p->tensors.at[i].caller;
}

static bool enter_function(struct elab *e, const struct func *fn, struct frame *fr, span at, const char *what)
{
	if (is_recursive(e, fn))
		return report_recursion(e, fn, at);
	if (e->em.report.frames >= ELAB_MAX_FRAMES) {
		report_error(&e->em, DIAG_ELAB_DEPTH, at, "calls are nested more than %d deep", ELAB_MAX_FRAMES);
		e->em.report.gave_up = true;
		return false;
	}
	*fr = (struct frame){.site = {.at = at, .callee = what}, .mod = fn->mod, .self = fn->self, .func = fn, .unit = e->em.b};
	note_operands(e, &fr->site);
	frame_push(e, fr);
	if (!e->em.checking)
		exits_declare(e, EXIT_RETURNED, EXIT_RESULT);
	e->em.report.frames++;
	e->em.report.depth += 4;
	return true;
}

static void leave_function(struct elab *e)
{
	frame_pop(e);
	e->em.report.frames--;
	e->em.report.depth -= 4;
}

static span last_span(struct elab *e, node_id body)
{
	const struct ast *t = &e->frame->mod->ast;
	struct ast_nodes items = ast_nodes(t, ast_a(t, body));
	return node_span(e->frame->mod, items.n ? items.at[items.n - 1] : body);
}

/* Converts the result to the declared type. */
static struct value check_result(struct elab *e, struct sig *s, const struct ast_fn *decl, struct value v)
{
	span decl_at = node_span(e->frame->mod, decl->result), at = e->frame->returned ? e->frame->result_at : last_span(e, decl->body);
	if (v.kind == V_NONE)
		v.kind = V_VOID;
	s->result = true;
	struct type *t = sig_type(s, decl->result);
	if (v.kind == V_VOID && !e->frame->returned && (t->kind == TY_TENSOR || t->kind == TY_SCALAR || t->kind == TY_TUPLE))
		return report_no_result(e, decl, at, decl_at);
	const char *what = text_join(&e->em, "the result of `", name_text(e->em.f, e->frame->func->name), "`", "");
	bool ok = sig_match(s, t, &v, &(struct sig_site){what, at, decl_at}) && sig_solve(s);
	return ok ? v : VALUE_POISON;
}

static struct value report_missing_return(struct elab *e, const struct ast_fn *decl, span result_at)
{
	struct diag *g = report_error(&e->em, DIAG_BRANCH_TYPES, last_span(e, decl->body), "`%s` returns a value on some paths only",
				      name_text(e->em.f, e->frame->func->name));
	diag_label_primary(e->em.report.out, g, "the function ends here without a value");
	if (result_at.source != SPAN_NO_SOURCE)
		diag_secondary(e->em.report.out, g, result_at, "a value is returned here, under a condition known only at run time");
	diag_help(e->em.report.out, g, "end the function with a `return` for the other paths");
	return VALUE_POISON;
}

/* The result if it is known only at run time whether a `return` was executed. */
static struct value merge_returned(struct elab *e, const struct ast_fn *decl, struct value v)
{
	struct value returned = exit_local(e, EXIT_RETURNED)->value, result = exit_local(e, EXIT_RESULT)->value;
	struct branch br;
	enum flow flow;
	if (returned.kind != V_TENSOR)
		return v;
	if ((v.kind == V_VOID) != (result.kind == V_VOID))
		return report_missing_return(e, decl, exit_local(e, EXIT_RESULT)->at);
	branch_open(e, &br, returned.u.t, last_span(e, decl->body));
	br.value_wanted = true;
	branch_enter(&br, 0);
	branch_leave(&br, 0, body_import_value(e, result), FLOW_NEXT);
	branch_enter(&br, 1);
	branch_leave(&br, 1, body_import_value(e, v), FLOW_NEXT);
	return branch_merge(&br, &flow);
}

static struct value finish_body(struct elab *e, struct sig *s, const struct ast_fn *decl)
{
	enum flow flow;
	e->value_wanted = true;
	struct value v = eval_block(e, decl->body, &flow);
	if (e->frame->returned)
		v = e->frame->result;
	else if (flow == FLOW_MAYBE)
		v = merge_returned(e, decl, v);
	else if (v.kind == V_VOID && e->frame->conditional_result_at.end)
		v = report_missing_return(e, decl, e->frame->conditional_result_at);
	if (e->em.report.gave_up || report_stacked_escape(e, v, e->frame->returned ? e->frame->result_at : last_span(e, decl->body)))
		return VALUE_POISON;
	return decl->result ? check_result(e, s, decl, v) : v;
}

/* Asserts that an integer argument known only at run time is the size of the dimension of its name. */
static void check_size(struct elab *e, name_id name, struct value given, span at)
{
	const struct local *size = local_find(e, name);
	if (!size || (size->value.kind != V_DIM && size->value.kind != V_INT) || given.kind != V_TENSOR)
		return;
	const struct hir_type *t = type_of(&e->em, given.u.t);
	if (!t->rank && dtype_class(t->elem) == DTC_INT)
		assert_size(e, name_text(e->em.f, name), given, size->value, at);
}

/* Binds parameters and dimensions as locals. The types were checked by the caller; they are matched again to solve the unit's dimensions. */
static void bind_params(struct elab *e, struct sig *s, const struct ast_fn *decl, const struct value *values, const span *ats)
{
	const struct ast *t = &s->mod->ast;
	sig_generics(s, decl->generics);
	suppress_diags(&e->em);
	for (uint32_t i = 0; i < decl->params.n; i++) {
		struct value v = values[i];
		span at = ats ? ats[i] : SPAN_NONE;
		node_id type = ast_a(t, decl->params.at[i]);
		if (type && !is_omitted(t, decl->params.at[i], v))
			sig_match(s, sig_type(s, type), &v, &(struct sig_site){"the argument", at, SPAN_NONE});
		sig_bind_size(s, param_name(e, s->mod, decl->params.at[i]), v, at, "the argument");
	}
	sig_solve(s);
	restore_diags(&e->em);
	sig_bind_locals(s);
	for (uint32_t i = 0; i < decl->params.n && !e->em.checking; i++)
		check_size(e, param_name(e, s->mod, decl->params.at[i]), values[i], node_span(s->mod, decl->params.at[i]));
	for (uint32_t i = 0; i < decl->params.n; i++) {
		local_push(e, token_name(e->em.f, s->mod, ast_token(t, decl->params.at[i])), values[i], false);
		if (ats && s->mod->std)
			e->locals.at[e->locals.len - 1].at = ats[i]; /* errors inside the library are reported at the call */
	}
}

struct value run_body(struct elab *e, struct func *fn, const struct value *values, const span *ats, span at, const char *what)
{
	struct ast_fn decl = ast_fn(&fn->mod->ast, fn->node);
	struct frame fr;
	struct sig s;
	reads_note(&e->em, fn->item, READ_WHOLE);
	if (!enter_function(e, fn, &fr, at, what))
		return VALUE_POISON;
	sig_open(&s, &e->em, fn->mod, fn->self);
	bind_params(e, &s, &decl, values, ats);
	struct value v = finish_body(e, &s, &decl);
	sig_close(&s);
	leave_function(e);
	return v;
}

/* True if the signature exceeds the limit of sizes (reported): the time to solve grows with their square. */
static bool too_many_sizes(struct sig *s, node_id param)
{
	enum { MOST = 2000 };
	if (s->vars.len <= MOST)
		return false;
	report_error(s->e, DIAG_ELAB_STEPS, node_span(s->mod, param), "the signature has more than %d sizes and generics", MOST);
	return true;
}

void check_func(struct elab *e, struct func *fn)
{
	struct ast_fn decl = ast_fn(&fn->mod->ast, fn->node);
	const struct ast *t = &fn->mod->ast;
	struct frame fr;
	struct sig s;
	uint32_t first = dims_syms(e->em.b->dims);
	if (!enter_function(e, fn, &fr, SPAN_NONE, NULL))
		return;
	sig_open(&s, &e->em, fn->mod, fn->self);
	sig_generics(&s, decl.generics);
	struct value *values = ARENA_ARRAY(e->em.f->arena, struct value, decl.params.n + 1);
	for (uint32_t i = 0; i < decl.params.n && !too_many_sizes(&s, decl.params.at[i]); i++) {
		node_id type = ast_a(t, decl.params.at[i]);
		struct type *declared = type ? sig_type(&s, type) : NULL;
		fr.tensor_args = fr.tensor_args || (declared && declared->kind == TY_TENSOR);
		bool size = declared && declared->kind == TY_SCALAR && dtype_class(declared->elem) == DTC_INT;
		values[i] = size       ? sig_unknown_size(&s, param_name(e, fn->mod, decl.params.at[i]))
			    : declared ? sig_unknown_value(&s, declared, node_span(fn->mod, decl.params.at[i]))
				       : VALUE_POISON;
	}
	sig_bind_unknowns(&s);
	sig_bind_locals(&s);
	e->em.b->named_from = first;
	e->em.b->named_to = decl.where.n ? first : dims_syms(e->em.b->dims); /* a condition may make two equal */
	for (uint32_t i = 0; i < decl.params.n; i++) {
		check_default(e, fn->mod, fn->self, decl.generics, decl.params.at[i]);
		index_note_value(e, ast_token(t, decl.params.at[i]), values[i]);
		local_push(e, token_name(e->em.f, fn->mod, ast_token(t, decl.params.at[i])), values[i], false);
	}
	for (uint32_t i = 0; i < decl.where.n; i++)
		check_condition(e, decl.where.at[i]);
	index_note_result(e, finish_body(e, &s, &decl));
	sig_close(&s);
	leave_function(e);
}

/* ---- defaults ---- */

static struct value eval_default(struct elab *e, struct func *fn, const struct ast_fn *decl, const struct value *values, uint32_t i)
{
	struct frame fr = {.site.at = SPAN_NONE, .mod = fn->mod, .self = fn->self};
	const struct ast *t = &fn->mod->ast;
	frame_push(e, &fr);
	for (uint32_t k = 0; k < i; k++)
		local_push(e, token_name(e->em.f, fn->mod, ast_token(t, decl->params.at[k])), values[k], true);
	struct value v = eval(e, ast_b(t, decl->params.at[i]));
	frame_pop(e);
	return v;
}

/* ---- the call ---- */

/* Checking: the declared result of a call. False: the signature does not determine its type. */
static bool declared_result(struct sig *s, const struct ast_fn *decl, span at, struct value *out)
{
	if (!decl->result)
		return false;
	*out = sig_unknown_value(s, sig_type(s, decl->result), at);
	return !value_contains(*out, V_POISON);
}

static struct value check_call(struct elab *e, struct func *fn, struct sig *s, const struct ast_fn *decl, const struct value *values,
			       const span *ats, span at, const char *what)
{
	struct value v;
	if (e->frame->func && e->frame->func->node == fn->node && e->frame->func->mod == fn->mod && e->frame->self == fn->self &&
	    !e->em.conditional)
		return report_recursion(e, fn, at), VALUE_POISON;
	if (declared_result(s, decl, at, &v))
		return v;
	if (e->em.report.frames >= 8 || is_recursive(e, fn))
		return VALUE_POISON;
	/* An error inside the standard library is one of the call; other functions report their errors in their own check. */
	bool suppress = !fn->mod->std || (fn->self && fn->self->failed);
	if (suppress)
		suppress_diags(&e->em);
	v = run_body(e, fn, values, ats, at, what);
	if (suppress)
		restore_diags(&e->em);
	return v;
}

static struct value call_func(struct elab *e, struct func *fn, struct args *args, span at, const char *what)
{
	struct ast_fn decl = ast_fn(&fn->mod->ast, fn->node);
	uint32_t n = decl.params.n;
	struct arg **bound = ARENA_ARRAY(e->em.f->arena, struct arg *, n + 1);
	struct value *values = ARENA_ARRAY(e->em.f->arena, struct value, n + 1);
	span *ats = ARENA_ARRAY(e->em.f->arena, span, n + 1);
	struct sig s;
	e->em.report.steps += 10;
	reads_note(&e->em, fn->item, READ_INTERFACE);
	if (n > ELAB_MAX_ARGS) {
		report_error(&e->em, DIAG_ARG_COUNT, at, "more than %d arguments", ELAB_MAX_ARGS);
		return VALUE_POISON;
	}
	if (!bind_args(e, fn->mod, decl.params, args, at, what, bound))
		return VALUE_POISON;
	bool ok = true, tensors = false, unknown = false;
	uint32_t reported = diags_count(e->em.report.out);
	sig_open(&s, &e->em, fn->mod, fn->self);
	sig_generics(&s, decl.generics);
	for (uint32_t i = 0; i < n; i++) {
		node_id p = decl.params.at[i];
		values[i] = bound[i] ? bound[i]->v : eval_default(e, fn, &decl, values, i);
		ats[i] = bound[i] ? bound[i]->at : at;
		const char *arg_what = text_join(&e->em, "argument `", name_text(e->em.f, param_name(e, fn->mod, p)), "` of ", what);
		ok = match_param(e, &s, &decl, p, !bound[i], &values[i], &(struct sig_site){arg_what, ats[i], node_span(fn->mod, p)}) && ok;
		sig_bind_size(&s, param_name(e, fn->mod, p), values[i], ats[i], arg_what);
	}
	ok = sig_solve(&s) && ok;
	if (!ok)
		diags_share_cause(e->em.report.out, reported, DIAG_ARG_SHAPE, arena_printf(e->em.f->arena, "call at %u", at.start));
	ok = ok && check_where(e, &s, &decl, values, at);
	for (uint32_t i = 0; i < n; i++) {
		ok = !report_stacked_escape(e, values[i], ats[i]) && ok;
		tensors = tensors || value_contains(values[i], V_TENSOR);
		unknown = unknown || value_contains(values[i], V_POISON);
	}
	struct value v = VALUE_POISON;
	if (ok && e->em.checking)
		v = check_call(e, fn, &s, &decl, values, ats, at, what);
	sig_close(&s);
	if (!ok || e->em.checking || unknown)
		return v;
	if (!tensors)
		return run_body(e, fn, values, ats, at, what);
	if (is_recursive(e, fn))
		return report_recursion(e, fn, at), VALUE_POISON;
	return call_unit(e, fn, values, n, at, what);
}

static struct value call_layer(struct elab *e, struct instance *in, struct args *args, span at, const char *what)
{
	struct member *m = instance_member(in, intern_str(e->em.f->names, "forward"));
	if (in->failed && !e->em.checking)
		return VALUE_POISON;
	if (m && m->kind == M_FN)
		return call_func(e, m->value.u.fn, args, at, what);
	if (in->failed)
		return VALUE_POISON;
	struct diag *g =
		report_error(&e->em, DIAG_NO_FORWARD, at, "layer `%s` has no function `forward`", name_text(e->em.f, in->item->name));
	diag_secondary(e->em.report.out, g, tok_span(in->item->mod, in->item->name_token), "defined here");
	for (uint32_t i = 0; i < in->n_members; i++)
		if (in->members[i].kind == M_FN) {
			const char *other = name_text(e->em.f, in->members[i].name);
			diag_help(e->em.report.out, g, "rename its function `%s` to `forward`, or call it by name: `.%s(…)`", other, other);
			break;
		}
	return VALUE_POISON;
}

struct value call_value(struct elab *e, struct value callee, struct args *args, span at, const char *what)
{
	switch (callee.kind) {
	case V_FN:
		if (is_partial_call(e, callee.u.fn, args))
			return partial_make(e, callee.u.fn, args, at);
		return call_func(e, callee.u.fn, args, at, what);
	case V_LAYER: return call_layer(e, callee.u.layer, args, at, what);
	case V_LAYER_CLASS: return instantiate(e, callee.u.item, args, at);
	case V_BUILTIN: return call_builtin(&e->em, callee.u.builtin, args, at);
	case V_SPECIAL: return call_special(&e->em, callee.u.special, args, at);
	case V_DTYPE: return call_cast(&e->em, callee.u.dt, args, at);
	case V_POISON: return callee;
	default:
		if (value_is_partial(callee))
			return partial_call(e, callee, args, at, what);
		break;
	}
	struct diag *g = report_error(&e->em, DIAG_NOT_CALLABLE, at, "%s cannot be called", value_text(&e->em, callee));
	if (callee.kind == V_TUPLE && callee.u.seq->n == 2 && callee.u.seq->at[0].kind == V_STR)
		diag_help(e->em.report.out, g,
			  "it is a pair of a name and a layer; take it apart: `for (_, layer) in layers { x = layer(x) }`");
	else if (value_is_seq(callee) && callee.u.seq->n && callee.u.seq->at[0].kind == V_LAYER)
		diag_help(e->em.report.out, g,
			  "call its layers one after the other, `for layer in layers { x = layer(x) }`, "
			  "or make them one layer: `nn.Sequential(layers)`");
	return VALUE_POISON;
}
