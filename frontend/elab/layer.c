/* Module-form layers. The layer's body runs once for each instance: it declares parameters and binds members. */
#include "frontend/elab/function.h"
#include <string.h>
#include "frontend/elab/expr.h"
#include "frontend/elab/index_value.h"
#include "frontend/elab/locals.h"
#include "frontend/elab/states.h"
#include "frontend/elab/tied.h"
#include "frontend/elab/unit.h"
#include "frontend/elab/unknown_list.h"
#include "frontend/types/sig.h"

static struct member *add_member(struct elab *e, struct instance *in, struct member m)
{
	if (in->n_members == in->cap_members) {
		uint32_t cap = in->cap_members ? in->cap_members * 2 : 8;
		struct member *bigger = ARENA_ARRAY(e->em.f->arena, struct member, cap);
		if (in->n_members)
			memcpy(bigger, in->members, in->n_members * sizeof m);
		in->members = bigger;
		in->cap_members = cap;
	}
	in->members[in->n_members] = m;
	return &in->members[in->n_members++];
}

/* ---- members ---- */

static void declare_param(struct elab *e, struct instance *in, node_id n)
{
	struct ast_const c = ast_const(elab_tree(e), n);
	struct layer_param *p = ARENA_NEW(e->em.f->arena, struct layer_param);
	*p = (struct layer_param){.id = e->em.f->elab.next_param++,
				  .name = elab_name(e, c.name),
				  .owner = in,
				  .node = n,
				  .dims = e->em.b->dims,
				  .at = elab_span(e, n)};
	if (c.type) {
		struct sig s;
		sig_open(&s, &e->em, e->frame->mod, in);
		s.use_locals = true;
		struct type *t = sig_type(&s, c.type);
		p->has_type = sig_constant_type(&s, t, &p->type);
		if (!p->has_type && t->kind == TY_TENSOR && t->shape == SHAPE_DIMS && !e->em.checking)
			report_error(&e->em, DIAG_PARAM_TYPE, t->at, "the shape of parameter `%s` is not known when the layer is made",
				     name_text(e->em.f, p->name));
		sig_close(&s);
	}
	if (!p->has_type && c.value) { /* takes the type of the initializer */
		struct builder scratch;
		if (!e->em.checking)
			builder_open(&e->em, &scratch);
		struct value v = eval(e, c.value);
		if (value_is_scalar(v) && v.kind != V_DIM) {
			p->has_type = true;
			p->type = (struct hir_type){.elem = scalar_type(v)};
			p->dims = e->em.b->dims;
		}
		if (v.kind == V_TENSOR) {
			p->has_type = true;
			p->type = *type_of(&e->em, v.u.t);
			p->dims = e->em.b->dims;
		}
		if (!e->em.checking)
			builder_close(&e->em);
	}
	if (!p->has_type && !c.type && !c.value)
		report_error(&e->em, DIAG_PARAM_TYPE, p->at, "parameter `%s` needs a type or an initializer", name_text(e->em.f, p->name));
	in->failed = in->failed || !p->has_type;
	if (p->has_type && e->em.f->index)
		index_note_value(e, c.name, param_value(e, p, p->at));
	add_member(e, in, (struct member){.kind = M_PARAM, .name = p->name, .param = tie_param(e, in, p), .at = p->at});
}

static void add_state(struct elab *e, struct instance *in, node_id n)
{
	struct layer_param *p = declare_state(e, in, n);
	add_member(e, in, (struct member){.kind = M_STATE, .name = p->name, .param = p, .at = p->at});
}

/* Makes members of a `let`. Those that contain tensors are evaluated in each unit that uses them. */
static void declare_lets(struct elab *e, struct instance *in, node_id n)
{
	uint32_t mark = e->locals.len;
	node_id pattern = ast_kind(elab_tree(e), n) == NODE_LET ? ast_let(elab_tree(e), n).pattern : AST_NONE;
	in->binds_hidden = pattern && ast_kind(elab_tree(e), pattern) == NODE_PAT_NAME &&
			   *name_text(e->em.f, elab_name(e, ast_token(elab_tree(e), pattern))) == '_';
	exec(e, n, NULL);
	in->binds_hidden = false;
	for (uint32_t i = mark; i < e->locals.len; i++) {
		struct local l = e->locals.at[i];
		bool lazy = !e->em.checking && value_contains(l.value, V_TENSOR);
		in->failed = in->failed || (is_poison(l.value) && !is_unknown_list(l.value));
		add_member(e, in,
			   (struct member){
				   .kind = lazy ? M_LAZY : M_VALUE, .name = l.name, .value = l.value, .node = n, .at = elab_span(e, n)});
	}
	e->locals.len = mark;
}

static void declare_fn(struct elab *e, struct instance *in, node_id n)
{
	struct func *fn = ARENA_NEW(e->em.f->arena, struct func);
	*fn = (struct func){
		.mod = e->frame->mod, .item = in->item, .node = n, .name = elab_name(e, ast_fn(elab_tree(e), n).name), .self = in};
	add_member(e, in, (struct member){.kind = M_FN, .name = fn->name, .value = {.kind = V_FN, .u.fn = fn}, .at = elab_span(e, n)});
}

static void run_layer_body(struct elab *e, struct instance *in, node_id body)
{
	struct ast_nodes items = ast_nodes(elab_tree(e), ast_a(elab_tree(e), body));
	for (uint32_t i = 0; i < items.n; i++) /* functions first: a `let` may use one */
		if (ast_kind(elab_tree(e), items.at[i]) == NODE_FN)
			declare_fn(e, in, items.at[i]);
	for (uint32_t i = 0; i < items.n && !e->em.report.gave_up; i++) {
		switch (ast_kind(elab_tree(e), items.at[i])) {
		case NODE_PARAM: declare_param(e, in, items.at[i]); break;
		case NODE_STATE: add_state(e, in, items.at[i]); break;
		case NODE_LET:
		case NODE_CONST: declare_lets(e, in, items.at[i]); break;
		case NODE_ASSERT: exec(e, items.at[i], NULL); break;
		default: break;
		}
	}
}

/* ---- arguments ---- */

static void set_instance_key(struct elab *e, struct instance *in, uint32_t n_args)
{
	struct hasher *h = hasher_new();
	item_hash_identity(h, e->em.f, in->item);
	for (uint32_t i = 0; i < n_args; i++)
		value_hash(h, e->em.f, in->members[i].value);
	in->key = hasher_finish(h);
}

static bool configure(struct elab *e, struct instance *in, const struct ast_fn *decl, struct arg **bound, span at)
{
	const struct ast *t = elab_tree(e);
	struct sig s;
	bool ok = true;
	const char *label = text_join(&e->em, "` of layer `", name_text(e->em.f, in->item->name), "`", "");
	sig_open(&s, &e->em, e->frame->mod, in);
	s.use_locals = true;
	sig_generics(&s, decl->generics);
	for (uint32_t i = 0; i < decl->params.n; i++) {
		node_id p = decl->params.at[i];
		name_id name = elab_name(e, ast_token(t, p));
		struct value v = bound[i] ? bound[i]->v : eval(e, ast_b(t, p));
		struct sig_site site = {NULL, bound[i] ? bound[i]->at : elab_span(e, p), elab_span(e, p), NULL};
		if (ast_a(t, p)) /* only a declared type needs the text */
			site.what = text_join(&e->em, "argument `", name_text(e->em.f, name), label, "");
		ok = match_param(e, &s, decl, p, !bound[i], &v, &site) && ok;
		ok = ok && !report_run_time_argument(e, v, site.at);
		add_member(e, in, (struct member){.kind = M_VALUE, .name = name, .value = v, .at = elab_span(e, p), .is_arg = true});
	}
	ok = sig_solve(&s) && ok;
	struct value *values = ARENA_ARRAY(e->em.temp, struct value, decl->params.n + 1);
	for (uint32_t i = 0; i < decl->params.n; i++)
		values[i] = in->members[i].value;
	ok = ok && check_where(e, &s, decl, values, at);
	sig_close(&s);
	return ok;
}

/* Checking: true if an instance of the layer is being made, which is not made again inside itself. */
static bool is_being_made(struct elab *e, const struct item *it)
{
	for (struct frame *f = e->frame; f; f = f->up)
		if (f->self && !f->func && f->self->item == it)
			return true;
	return false;
}

static bool contains_itself(struct elab *e, const struct instance *in, span at)
{
	for (struct frame *f = e->frame->up; f; f = f->up) {
		if (f->func || !f->self || f->self->item != in->item || !hash_eq(f->self->key, in->key))
			continue;
		report_error(&e->em, DIAG_RECURSION, at, "layer `%s` contains itself", name_text(e->em.f, in->item->name));
		return true;
	}
	return false;
}

/* True inside a unit. Functions that a layer's body or main calls without tensors are not units, and may make layers. */
static bool inside_unit(const struct elab *e)
{
	const struct frame *f = e->frame;
	bool tensors = false;
	while (f && f->func) {
		tensors = tensors || f->tensor_args;
		f = f->up;
	}
	if (e->em.checking)
		return tensors;
	return e->frame && e->frame->func && (!f || f->unit != e->em.b);
}

/* Makes an instance from bound arguments; in->tied is set. False: reported. */
static bool layer_make_instance(struct elab *e, struct item *it, struct arg **bound, span at, const char *what, struct instance *in)
{
	struct ast_fn decl = ast_fn(&it->mod->ast, it->node);
	if (e->em.report.frames >= ELAB_MAX_FRAMES) {
		report_error(&e->em, DIAG_ELAB_DEPTH, at, "layers are nested more than %d deep", ELAB_MAX_FRAMES);
		e->em.report.gave_up = true;
		return false;
	}
	e->em.report.steps += 20;
	in->item = it;
	in->id = e->em.f->elab.next_instance++;
	in->dims = e->em.b->dims;
	in->at = at;
	in->hidden_in = e->frame && e->frame->self && !e->frame->func && e->frame->self->binds_hidden ? e->frame->self : NULL;
	for (uint32_t i = 0; i < decl.params.n && i < 64; i++)
		in->given |= (uint64_t)(bound[i] != NULL) << i;
	struct frame fr = {.site = {.at = at, .callee = what}, .mod = it->mod, .self = in, .unit = e->em.b};
	frame_push(e, &fr);
	e->em.report.frames++;
	e->em.report.depth += 4;
	bool ok = configure(e, in, &decl, bound, at);
	if (ok) {
		set_instance_key(e, in, decl.params.n);
		ok = !contains_itself(e, in, at);
	}
	if (ok) {
		bool suppress =
			e->em.checking && fr.up && fr.up->mod && !it->mod->std; /* errors inside are reported by the layer's own check */
		if (suppress)
			suppress_diags(&e->em);
		uint32_t before = e->em.report.errors;
		run_layer_body(e, in, decl.body);
		in->failed = in->failed || e->em.report.errors > before;
		in->params = instance_params(e, in, false);
		in->states = instance_params(e, in, true);
		if (suppress)
			restore_diags(&e->em);
	}
	frame_pop(e);
	e->em.report.frames--;
	e->em.report.depth -= 4;
	return ok;
}

struct value instantiate(struct elab *e, struct item *it, struct args *args, span at)
{
	reads_note(&e->em, it, READ_WHOLE);
	it->checked.has_instances = it->checked.has_instances || e->em.f->arena == e->em.f->session;
	struct ast_fn decl = ast_fn(&it->mod->ast, it->node);
	struct arg **bound = ARENA_ARRAY(e->em.f->arena, struct arg *, decl.params.n + 1);
	const char *what = text_join(&e->em, "layer `", name_text(e->em.f, it->name), "`", "");
	struct instance *in = ARENA_NEW(e->em.f->arena, struct instance);
	*in = (struct instance){0};
	take_tied(e, it, args, in);
	if (attr_find(it->mod, decl.attrs, "variadic"))
		pack_variadic_arguments(e, args, decl.params.n);
	else if (report_tensor_argument(e, it, args, at))
		return VALUE_POISON;
	if (!bind_args(e, it->mod, decl.params, args, at, what, bound))
		return VALUE_POISON;
	if (e->em.checking && is_being_made(e, it))
		return VALUE_POISON;
	bool in_unit = inside_unit(e);
	bool ok = layer_make_instance(e, it, bound, at, what, in);
	if (ok)
		report_untied(e, in, what);
	struct value v = {.kind = V_LAYER, .u.layer = in};
	if (ok && in_unit && (in->params->n || in->states->n)) {
		struct diag *g =
			report_error(&e->em, DIAG_LAYER_IN_FN, at, "%s has %s and cannot be made in a function that computes tensors", what,
				     in->params->n ? "parameters" : "states");
		diag_help(e->em.report.out, g, "make it in the body of the layer: `let name = …` before the functions");
		return VALUE_POISON;
	}
	return ok ? v : VALUE_POISON;
}

/* ---- checking ---- */

uint32_t instance_arguments(const struct instance *in) { return ast_fn(&in->item->mod->ast, in->item->node).params.n; }

struct value instantiate_again(struct elab *e, const struct instance *like, const struct value *args)
{
	uint32_t n = instance_arguments(like);
	struct arg *items = ARENA_ARRAY(e->em.f->arena, struct arg, n + 1), **bound = ARENA_ARRAY(e->em.f->arena, struct arg *, n + 1);
	struct instance *in = ARENA_NEW(e->em.f->arena, struct instance);
	*in = (struct instance){.tied = like->tied, .n_tied = like->n_tied};
	for (uint32_t i = 0; i < n; i++) {
		bool given = i >= 64 || (like->given >> i & 1);
		items[i] = (struct arg){.v = args[i], .at = SPAN_NONE};
		bound[i] = given ? &items[i] : NULL;
	}
	if (is_being_made(e, like->item))
		return VALUE_POISON;
	suppress_diags(&e->em);
	bool ok = layer_make_instance(e, like->item, bound, like->at, "", in);
	restore_diags(&e->em);
	return ok ? (struct value){.kind = V_LAYER, .u.layer = in} : VALUE_POISON;
}

/* The value of argument p: its default if `defaults`, else unknown. */
static struct value generic_argument(struct elab *e, struct sig *s, node_id p, bool defaults)
{
	node_id type = ast_a(elab_tree(e), p), standard = ast_b(elab_tree(e), p);
	struct type *t = type ? sig_type(s, type) : NULL;
	if (defaults && standard) {
		struct value v = eval(e, standard);
		bool fits = !t || v.kind == V_NONE || sig_match(s, t, &v, &(struct sig_site){"the default", SPAN_NONE, SPAN_NONE, NULL});
		return fits ? v : VALUE_POISON;
	}
	struct value v = t ? sig_unknown_value(s, t, elab_span(e, p)) : VALUE_POISON;
	if (v.kind == V_DIM) /* its symbol has the argument's name */
		v.u.d = dim_new_sym(e->em.b->dims, name_text(e->em.f, elab_name(e, ast_token(elab_tree(e), p))));
	return v;
}

struct instance *instantiate_generic(struct elab *e, struct item *it, bool defaults)
{
	struct ast_fn decl = ast_fn(&it->mod->ast, it->node);
	struct instance *in = ARENA_NEW(e->em.f->arena, struct instance);
	struct frame fr = {.site.at = SPAN_NONE, .mod = it->mod, .self = in};
	struct sig s;
	*in = (struct instance){.item = it, .id = e->em.f->elab.next_instance++, .dims = e->em.b->dims, .generic = true, .at = SPAN_NONE};
	frame_push(e, &fr);
	sig_open(&s, &e->em, it->mod, in);
	sig_generics(&s, decl.generics);
	for (uint32_t i = 0; i < decl.params.n; i++) {
		node_id p = decl.params.at[i];
		struct value v = generic_argument(e, &s, p, defaults);
		check_default(e, it->mod, in, decl.generics, p);
		index_note_value(e, ast_token(elab_tree(e), p), v);
		add_member(e, in,
			   (struct member){.kind = M_VALUE,
					   .name = elab_name(e, ast_token(elab_tree(e), p)),
					   .value = v,
					   .at = elab_span(e, p),
					   .is_arg = true});
	}
	sig_close(&s);
	run_layer_body(e, in, decl.body);
	frame_pop(e);
	return in;
}
