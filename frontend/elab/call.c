/* Calls of functions and layers. */
#include "frontend/elab/expr.h"
#include <string.h>
#include "base/buf.h"
#include "frontend/elab/function.h"
#include "frontend/elab/locals.h"
#include "frontend/elab/states.h"
#include "frontend/elab/unit.h"
#include "frontend/elab/unknown_list.h"
#include "frontend/rules/builtin.h"
#include "frontend/types/sig.h"
#include "frontend/unit/layer_pair.h"

/* ---- defaults ---- */

static struct value eval_default(struct elab *e, struct func *fn, const struct ast_fn *decl, const struct value *values, uint32_t i)
{
	struct frame fr = {.site.at = SPAN_NONE, .mod = fn->mod, .self = fn->self};
	const struct ast *t = &fn->mod->ast;
	frame_push(e, &fr);
	for (uint32_t k = 0; k < i; k++)
		local_push(e, node_name(e, fn->mod, decl->params.at[k]), values[k], true);
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

static struct value call_check(struct elab *e, struct func *fn, struct sig *s, const struct ast_fn *decl, const struct value *values,
			       const span *ats, span at, const char *what)
{
	struct value v;
	if (!fn->local && e->frame->func && e->frame->func->node == fn->node && e->frame->func->mod == fn->mod &&
	    e->frame->self == fn->self && !e->em.conditional)
		return report_recursion(e, fn, at), VALUE_POISON;
	if (has_wrong_result(e, fn)) /* reported at the function */
		return VALUE_POISON;
	if (declared_result(s, decl, at, &v))
		return v;
	if (e->em.report.frames >= 8 || is_recursive(e, fn, values))
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

static struct value call_as_unit(struct elab *e, struct func *fn, struct value *values, uint32_t n, span at, const char *what)
{
	return is_recursive(e, fn, values) ? (report_recursion(e, fn, at), VALUE_POISON) : call_unit(e, fn, values, n, at, what);
}

struct callee {
	const char *what;             /* for messages: "function `f`" */
	const span *made;             /* where the layer whose function it is was made; NULL: it is none */
	const struct value *captured; /* the values of the function's captured locals */
};

static struct value call_func(struct elab *e, struct func *fn, struct args *args, span at, const struct callee *c)
{
	const char *what = c->what;
	struct named_layer layer = {what, c->made ? *c->made : SPAN_NONE, fn->self};
	struct ast_fn decl = ast_fn(&fn->mod->ast, fn->node);
	uint32_t n = decl.params.n;
	struct arg **bound = ARENA_ARRAY(e->em.f->arena, struct arg *, n + 1);
	struct value *values = ARENA_ARRAY(e->em.f->arena, struct value, n + fn->n_captured + 1);
	span *ats = ARENA_ARRAY(e->em.f->arena, span, n + 1);
	struct sig s;
	e->em.report.steps += 10;
	reads_note(&e->em, fn->item, READ_INTERFACE);
	if (n > ELAB_MAX_ARGS)
		return report_poison(&e->em, DIAG_ARG_COUNT, at, "more than %d arguments", ELAB_MAX_ARGS);
	if (!bind_args(e, fn->mod, decl.params, args, at, what, bound))
		return VALUE_POISON;
	bool ok = true, tensors = false, unknown = false;
	uint32_t reported = diags_count(e->em.report.out);
	sig_open(&s, &e->em, fn->mod, fn->self);
	s.use_locals = fn->local;
	sig_generics(&s, decl.generics);
	for (uint32_t i = 0; i < n; i++) {
		node_id p = decl.params.at[i];
		values[i] = bound[i] ? bound[i]->v : eval_default(e, fn, &decl, values, i);
		ats[i] = bound[i] ? bound[i]->at : at;
		const char *arg_what = text_join(&e->em, "argument `", name_text(e->em.f, node_name(e, fn->mod, p)), "` of ", what);
		struct sig_site site = {arg_what, ats[i], node_span(fn->mod, p), c->made ? &layer : NULL};
		ok = match_param(e, &s, &decl, p, !bound[i], &values[i], &site) && ok;
		sig_bind_size(&s, node_name(e, fn->mod, p), values[i], ats[i], arg_what);
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
	for (uint32_t i = 0; i < fn->n_captured; i++)
		values[n + i] = c->captured[i];
	struct value v = VALUE_POISON;
	if (ok && e->em.checking)
		v = call_check(e, fn, &s, &decl, values, ats, at, what);
	sig_close(&s);
	bool as_unit = !fn->local && (tensors || states_are_known(e, fn->self));
	if (ok && !e->em.checking && !unknown)
		v = as_unit ? call_as_unit(e, fn, values, n, at, what) : run_body(e, fn, values, ats, at, what);
	if (c->made)
		note_layer_results(&e->em, v, &layer);
	return v;
}

static struct value call_layer(struct elab *e, struct instance *in, struct args *args, span at, const char *what)
{
	struct member *m = instance_member(in, intern_str(e->em.f->names, "forward"));
	if (in->failed && !e->em.checking)
		return VALUE_POISON;
	if (m && m->kind == M_FN)
		return call_func(e, m->value.u.fn, args, at, &(struct callee){what, &in->at, NULL});
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

static struct value call_partial(struct elab *e, struct value layer, struct args *args, span at, const char *what)
{
	const struct partial *p = layer.u.seq->at[0].u.partial;
	struct args all;
	if (p->fn->local)
		return call_func(e, p->fn, args, at, &(struct callee){what, NULL, layer.u.seq->at + 1});
	return partial_args(e, layer, args, at, &all) ? call_func(e, p->fn, &all, at, &(struct callee){what, &p->at, NULL}) : VALUE_POISON;
}

static bool is_functional_layer(const struct func *fn) { return !fn->self && ast_kind(&fn->mod->ast, fn->node) == NODE_LAYER; }

struct value call_value(struct elab *e, struct value callee, struct args *args, span at, const char *what)
{
	struct value out;
	if (e->em.checking && call_with_unknown_list(e, callee, args, at, &out))
		return out;
	switch (callee.kind) {
	case V_FN:
		if (is_partial_call(e, callee.u.fn, args))
			return partial_make(e, callee.u.fn, args, at);
		return call_func(e, callee.u.fn, args, at, &(struct callee){what, is_functional_layer(callee.u.fn) ? &at : NULL, NULL});
	case V_LAYER: return call_layer(e, callee.u.layer, args, at, what);
	case V_LAYER_CLASS: return instantiate(e, callee.u.item, args, at);
	case V_BUILTIN: return call_builtin(&e->em, callee.u.builtin, args, at);
	case V_SPECIAL: return call_special(&e->em, callee.u.special, args, at);
	case V_DTYPE: return call_cast(&e->em, callee.u.dt, args, at);
	case V_POISON: return VALUE_POISON;
	default: break;
	}
	if (value_is_partial(callee))
		return call_partial(e, callee, args, at, what);
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
