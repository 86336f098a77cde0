/* Runs the bodies of functions. */
#include "frontend/elab/function.h"
#include "frontend/elab/stmt.h"
#include "frontend/elab/branch.h"
#include "frontend/elab/expr.h"
#include "frontend/elab/locals.h"
#include "frontend/elab/states.h"
#include "frontend/elab/unit.h"

/* A hash of the functions and layers among the arguments. */
static hash128 hash_functions(struct elab *e, const struct func *fn, const struct value *values)
{
	static const enum value_kind kinds[] = {V_FN, V_PARTIAL, V_LAYER, V_LAYER_CLASS, V_BUILTIN, V_SPECIAL};
	struct hasher *h = hasher_new();
	for (uint32_t i = 0; values && i < ast_fn(&fn->mod->ast, fn->node).params.n; i++)
		for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
			if (value_contains(values[i], kinds[k])) {
				hasher_add_u64(h, i);
				value_hash(h, e->em.f, values[i]);
				break;
			}
	return hasher_finish(h);
}

/* A function may run again inside itself if it is given other functions, which calls of it made: `twice(f, x)` where f calls `twice(g, x)`. If
 * that does not end, it ends at the limit of nested calls. */
bool is_recursive(struct elab *e, const struct func *fn, const struct value *values)
{
	if (fn->local) /* it does not see itself; others of the same text capture other values */
		return false;
	for (struct frame *f = e->frame; f; f = f->up)
		if (f->func && f->func->node == fn->node && f->func->mod == fn->mod && f->self == fn->self &&
		    hash_eq(f->functions, hash_functions(e, fn, values)))
			return true;
	return false;
}

bool report_recursion(struct elab *e, const struct func *fn, span at)
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

bool enter_function(struct elab *e, const struct func *fn, const struct value *values, struct frame *fr, span at, const char *what)
{
	const struct unit_states *states = e->states;
	e->states = NULL;
	if (is_recursive(e, fn, values))
		return report_recursion(e, fn, at);
	if (e->em.report.frames >= ELAB_MAX_FRAMES) {
		report_error(&e->em, DIAG_ELAB_DEPTH, at, "calls are nested more than %d deep", ELAB_MAX_FRAMES);
		e->em.report.gave_up = true;
		return false;
	}
	*fr = (struct frame){.site = {.at = at, .callee = what}, .mod = fn->mod, .self = fn->self, .func = fn, .unit = e->em.b};
	fr->functions = hash_functions(e, fn, values);
	note_operands(e, &fr->site);
	frame_push(e, fr);
	if (!e->em.checking)
		exits_declare(e, EXIT_RETURNED, EXIT_RESULT);
	states_enter(e, states);
	e->em.report.frames++;
	e->em.report.depth += 4;
	return true;
}

void leave_function(struct elab *e)
{
	states_leave(e);
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

static hash128 function_result_key(const struct func *fn) { return map_key_u64((uint64_t)fn->mod->ast.tokens.src->id << 32 | fn->node); }

bool has_wrong_result(const struct elab *e, const struct func *fn)
{
	return map_get(&e->em.f->elab.wrong_results, function_result_key(fn), NULL);
}

/* Converts the result to the declared type. */
static struct value function_check_result(struct elab *e, struct sig *s, const struct ast_fn *decl, struct value v)
{
	span decl_at = node_span(e->frame->mod, decl->result), at = e->frame->returned ? e->frame->result_at : last_span(e, decl->body);
	if (v.kind == V_NONE)
		v.kind = V_VOID;
	s->result = true;
	struct type *t = sig_type(s, decl->result);
	if (v.kind == V_VOID && !e->frame->returned && (t->kind == TY_TENSOR || t->kind == TY_SCALAR || t->kind == TY_TUPLE))
		return report_no_result(e, decl, at, decl_at);
	const char *what = text_join(&e->em, "the result of `", name_text(e->em.f, e->frame->func->name), "`", "");
	bool ok = sig_match(s, t, &v, &(struct sig_site){what, at, decl_at, NULL}) && sig_solve(s);
	if (!ok && e->em.checking && !e->em.report.suppressed)
		map_put(&e->em.f->elab.wrong_results, function_result_key(e->frame->func), 1);
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

struct value run_statements(struct elab *e, struct sig *s, const struct ast_fn *decl)
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
	return decl->result ? function_check_result(e, s, decl, v) : v;
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
			sig_match(s, sig_type(s, type), &v, &(struct sig_site){"the argument", at, SPAN_NONE, NULL});
		sig_bind_size(s, node_name(e, s->mod, decl->params.at[i]), v, at, "the argument");
	}
	sig_solve(s);
	restore_diags(&e->em);
	sig_bind_locals(s);
	for (uint32_t i = 0; i < decl->params.n && !e->em.checking; i++)
		check_size(e, node_name(e, s->mod, decl->params.at[i]), values[i], node_span(s->mod, decl->params.at[i]));
	for (uint32_t i = 0; i < decl->params.n; i++) {
		local_push(e, node_name(e, s->mod, decl->params.at[i]), values[i], false);
		if (ats && s->mod->std)
			e->locals.at[e->locals.len - 1].at = ats[i]; /* errors inside the library are reported at the call */
	}
}

void push_captured(struct elab *e, const struct func *fn, const struct value *values)
{
	for (uint32_t i = 0; i < fn->n_captured; i++)
		local_push(e, fn->captured[i], values[i], true);
}

struct value run_body(struct elab *e, struct func *fn, const struct value *values, const span *ats, span at, const char *what)
{
	struct ast_fn decl = ast_fn(&fn->mod->ast, fn->node);
	struct frame fr;
	struct sig s;
	reads_note(&e->em, fn->item, READ_WHOLE);
	if (!enter_function(e, fn, values, &fr, at, what))
		return VALUE_POISON;
	push_captured(e, fn, values + decl.params.n);
	sig_open(&s, &e->em, fn->mod, fn->self);
	s.use_locals = fn->local;
	bind_params(e, &s, &decl, values, ats);
	struct value v = run_statements(e, &s, &decl);
	sig_close(&s);
	leave_function(e);
	return v;
}
