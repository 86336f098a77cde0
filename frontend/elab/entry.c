/* Entries of a model: matches the manifest's inputs and the names of weights with the signature. */
#include "frontend/elab/program.h"
#include <stdarg.h>
#include <string.h>
#include "base/buf.h"
#include "frontend/elab/entry_states.h"
#include "frontend/elab/function.h"
#include "frontend/elab/locals.h"
#include "frontend/elab/expr.h"
#include "frontend/elab/unit.h"
#include "frontend/types/sig.h"

/* ---- finding the definition ---- */

static bool is_entry(const struct item *it) { return it->kind == ITEM_FN || it->kind == ITEM_LAYER || it->kind == ITEM_MODULE_LAYER; }

static struct item *find_entry_item(struct elab *e, const char *name, size_t n)
{
	name_id id = intern(e->em.f->names, name, n);
	for (uint32_t i = 0; i < e->em.f->modules.len; i++) {
		struct module *m = e->em.f->modules.at[i];
		struct item *it = m->std ? NULL : module_find(m, id);
		if (it && is_entry(it))
			return it;
	}
	return NULL;
}

static void report_no_entry(struct elab *e, const struct elab_request *req, const char *name)
{
	VEC(const char *) names = {0};
	for (uint32_t i = 0; i < e->em.f->modules.len; i++) {
		struct module *m = e->em.f->modules.at[i];
		for (uint32_t k = 0; k < m->n_items && !m->std; k++)
			if (m->items[k].name && is_entry(&m->items[k]))
				vec_push(&names, name_text(e->em.f, m->items[k].name));
	}
	const char *near = diag_nearest(name, names.at, names.len);
	struct diag *g = diag_add(e->em.f->diags, DIAG_ENTRY, req->at, "no layer or function `%s` is defined in the model's sources", name);
	if (near)
		diag_help(e->em.f->diags, g, "did you mean `%s`?", near);
	e->em.report.errors++;
	vec_free(&names);
}

static struct value entry_make_instance(struct elab *e, struct item *it)
{
	const struct ast *t = &it->mod->ast;
	struct ast_nodes params = ast_fn(t, it->node).params;
	struct args none = {0};
	bool bare = true;
	for (uint32_t i = 0; i < params.n; i++)
		bare = bare && ast_b(t, params.at[i]) != AST_NONE;
	if (bare)
		return instantiate(e, it, &none, SPAN_NONE);
	struct diag *g = report_error(&e->em, DIAG_ENTRY, tok_span(it->mod, it->name_token),
				      "layer `%s` cannot be an entry: it needs arguments", name_text(e->em.f, it->name));
	diag_help(e->em.report.out, g, "give its arguments defaults, or wrap it in a layer without arguments");
	return VALUE_POISON;
}

static struct value layer_instance(struct program *program, struct item *it)
{
	for (uint32_t i = 0; i < program->layers.len; i++)
		if (program->layers.at[i].item == it)
			return program->layers.at[i].instance;
	struct entry_layer made = {it, entry_make_instance(program->e, it)};
	vec_push(&program->layers, made);
	return made.instance;
}

/* The function of an entry "Net" or "Net.prefill". NULL: reported. */
static struct func *entry_func(struct program *program, const char *name)
{
	struct elab *e = program->e;
	const char *dot = strchr(name, '.');
	struct item *it = find_entry_item(e, name, dot ? (size_t)(dot - name) : strlen(name));
	if (!it) {
		report_no_entry(e, program->req, name);
		return NULL;
	}
	if (it->has_syntax_error) { /* reported; its tree may be incomplete */
		e->em.report.errors++;
		return NULL;
	}
	if (it->kind != ITEM_MODULE_LAYER) {
		reads_note(&e->em, it, READ_INTERFACE);
		return item_func(e->em.f, it);
	}
	struct value v = layer_instance(program, it);
	if (v.kind != V_LAYER)
		return NULL;
	const char *fn = dot ? dot + 1 : "forward";
	struct member *m = instance_member(v.u.layer, intern_str(e->em.f->names, fn));
	if (m && m->kind == M_FN)
		return m->value.u.fn;
	report_error(&e->em, DIAG_NO_FORWARD, tok_span(it->mod, it->name_token), "layer `%s` has no function `%s`",
		     name_text(e->em.f, it->name), fn);
	return NULL;
}

/* ---- inputs ---- */

struct entry_arg {
	name_id name;
	node_id decl;
	struct type *type;
	const struct elab_input *given, *weight;
	bool is_weight, is_default;
};
struct entry_spec {
	struct program *p;
	struct sig s;
	struct unit_spec plan;
	struct entry_arg *args;
	uint32_t n;
};

static const struct elab_input *entry_find_input(const struct elab_input *list, uint32_t n, const char *name)
{
	for (uint32_t i = 0; i < n; i++)
		if (!strcmp(list[i].name, name))
			return &list[i];
	return NULL;
}

static bool is_weight(const struct program *program, const char *name)
{
	for (uint32_t i = 0; i < program->req->n_weight_names; i++)
		if (!strcmp(program->req->weight_names[i], name))
			return true;
	return false;
}

/* Returns false. */
__attribute__((format(printf, 3, 4))) static bool input_error(struct entry_spec *ep, const struct entry_arg *a, const char *fmt, ...)
{
	struct elab *e = ep->p->e;
	va_list ap;
	va_start(ap, fmt);
	const char *text = arena_vprintf(e->em.f->arena, fmt, ap);
	va_end(ap);
	struct diag *g = report_error(&e->em, DIAG_ENTRY_INPUT, a->given ? a->given->at : ep->p->req->at, "input `%s`: %s",
				      name_text(e->em.f, a->name), text);
	diag_secondary(e->em.report.out, g, node_span(ep->s.mod, a->decl), "declared here");
	return false;
}

/* Adds the sizes given by the manifest or the weights file as equations. */
static bool equate_given(struct entry_spec *ep, struct entry_arg *a, const struct elab_input *given)
{
	struct elab *e = ep->p->e;
	const char *what = arena_printf(e->em.f->arena, "%s `%s`", a->is_weight ? "weight" : "input", given->name);
	if (a->type->kind != TY_TENSOR || a->type->shape != SHAPE_DIMS)
		return true;
	if (given->rank != a->type->rank)
		return input_error(ep, a, "it has %u dimensions here, but %u are declared", given->rank, a->type->rank);
	struct hir_type t = {.elem = given->elem, .rank = given->rank};
	for (uint32_t i = 0; i < t.rank; i++)
		t.dims[i] = given->dims[i] >= 0 ? dim_const(e->em.b->dims, given->dims[i]) : dim_const(e->em.b->dims, DIM_DYNAMIC);
	for (uint32_t i = 0; i < t.rank; i++)
		if (given->dims[i] >= 0)
			sig_add_equation(&ep->s, a->type, &t, i, &(struct sig_site){what, given->at, node_span(ep->s.mod, a->decl), NULL});
	return true;
}

/* A shape that the declaration tensors open, from the manifest. */
static bool given_shape(struct entry_spec *ep, struct entry_arg *a, const struct elab_input *given, struct hir_type *out)
{
	struct elab *e = ep->p->e;
	if (!given)
		return input_error(ep, a, "its shape is not declared: add a line such as `input %s = float32 [?, 64]` to the manifest",
				   name_text(e->em.f, a->name));
	out->rank = given->rank;
	for (uint32_t i = 0; i < given->rank; i++)
		out->dims[i] = given->dims[i] >= 0
				       ? dim_const(e->em.b->dims, given->dims[i])
				       : dim_new_sym(e->em.b->dims, arena_printf(e->em.f->arena, "D%u", dims_syms(e->em.b->dims)));
	return true;
}

static bool arg_type(struct entry_spec *ep, struct entry_arg *a, struct hir_type *out)
{
	struct elab *e = ep->p->e;
	const struct elab_input *given = a->is_weight ? a->weight : a->given;
	struct type *t = a->type;
	if (t->kind != TY_TENSOR && t->kind != TY_SCALAR)
		return input_error(ep, a, "only tensors can be inputs");
	if (t->elem == DT_COUNT && given)
		t->elem = given->elem;
	if (t->elem == DT_COUNT)
		return input_error(ep, a, "its element type is not declared");
	if (given && !a->is_weight && given->elem != t->elem)
		return input_error(ep, a, "it is %s here, but %s is declared", dtype_text(given->elem), dtype_text(t->elem));
	*out = (struct hir_type){.elem = t->elem};
	if (t->kind == TY_TENSOR && t->shape != SHAPE_DIMS)
		return given_shape(ep, a, given, out);
	sig_constant_type(&ep->s, t, out);
	for (uint32_t i = 0; a->is_weight && i < out->rank; i++)
		if (!dim_is_const(e->em.b->dims, out->dims[i], NULL))
			return report_false(&e->em, DIAG_PARAM_TYPE, node_span(ep->s.mod, a->decl),
					    "the shape %s of weight `%s` is not known at build time", shape_text(&e->em, out),
					    name_text(e->em.f, a->name));
	return true;
}

static struct type *any_tensor(struct elab *e)
{
	struct type *t = ARENA_NEW(e->em.f->arena, struct type);
	*t = (struct type){.kind = TY_TENSOR, .elem = DT_COUNT, .elem_var = SIG_NO_VAR, .shape = SHAPE_ANY};
	return t;
}

static bool check_weight(struct entry_spec *ep, struct entry_arg *a)
{
	struct elab *e = ep->p->e;
	if (!a->weight || !a->weight->unusable)
		return true;
	struct diag *g = report_error(&e->em, DIAG_WEIGHTS_DTYPE, a->weight->at, "weight `%s` cannot be used: %s",
				      name_text(e->em.f, a->name), a->weight->unusable);
	diag_secondary(e->em.report.out, g, node_span(ep->s.mod, a->decl), "declared here");
	diag_help(e->em.report.out, g, "%s", a->weight->remedy);
	a->weight = NULL;
	return false;
}

static bool load_args(struct entry_spec *ep, struct func *fn, const struct ast_fn *decl)
{
	struct elab *e = ep->p->e;
	const struct elab_request *req = ep->p->req;
	bool ok = true;
	ep->args = ARENA_ARRAY(e->em.f->arena, struct entry_arg, decl->params.n + 1);
	for (uint32_t i = 0; i < decl->params.n; i++) {
		struct entry_arg *a = &ep->args[ep->n++];
		const struct ast *t = &fn->mod->ast;
		*a = (struct entry_arg){.decl = decl->params.at[i], .name = node_name(e, fn->mod, decl->params.at[i])};
		const char *name = name_text(e->em.f, a->name);
		a->given = entry_find_input(req->inputs, req->n_inputs, name);
		a->is_weight = !fn->self && is_weight(ep->p, name);
		a->weight = a->is_weight ? entry_find_input(req->weights, req->n_weights, name) : NULL;
		a->type = ast_a(t, a->decl) ? sig_type(&ep->s, ast_a(t, a->decl)) : any_tensor(e);
		a->is_default = !a->given && !a->is_weight && ast_b(t, a->decl) != AST_NONE;
		ok = check_weight(ep, a) && ok;
		if (a->given)
			ok = equate_given(ep, a, a->given) && ok;
		if (a->weight)
			ok = equate_given(ep, a, a->weight) && ok;
	}
	return sig_solve(&ep->s) && ok;
}

/* A default must be known at compile time, since an entry has no caller that computes tensors. */
static bool eval_entry_default(struct entry_spec *ep, const struct entry_arg *a, struct value *v)
{
	struct elab *e = ep->p->e;
	*v = eval(e, ast_b(&ep->s.mod->ast, a->decl));
	if (!value_contains(*v, V_TENSOR))
		return true;
	struct diag *g = report_error(&e->em, DIAG_ENTRY, node_span(ep->s.mod, ast_b(&ep->s.mod->ast, a->decl)),
				      "argument `%s` of the entry has a tensor as its default", name_text(e->em.f, a->name));
	diag_help(e->em.report.out, g, "make it an input or a weight, or wrap the entry in a function that passes it");
	return false;
}

static bool specify_args(struct entry_spec *ep)
{
	struct elab *e = ep->p->e;
	bool ok = true;
	ep->plan.values = ARENA_ARRAY(e->em.f->arena, struct value, ep->n + 1);
	ep->plan.n_values = ep->n;
	for (uint32_t i = 0; i < ep->n; i++) {
		struct entry_arg *a = &ep->args[i];
		struct tensor_arg l = {.name = name_text(e->em.f, a->name), .build_time = a->is_weight};
		if (a->is_default) {
			ok = eval_entry_default(ep, a, &ep->plan.values[i]) && ok;
			continue;
		}
		ok = arg_type(ep, a, &l.type) && ok;
		vec_push(&ep->plan.tensors, l);
		ep->plan.values[i] = value_tensor(ep->plan.tensors.len - 1);
	}
	return ok;
}

static void entry_check_names(struct entry_spec *ep)
{
	struct elab *e = ep->p->e;
	const struct elab_request *req = ep->p->req;
	const char **names = ARENA_ARRAY(e->em.f->arena, const char *, ep->n + 1);
	for (uint32_t i = 0; i < ep->n; i++)
		names[i] = name_text(e->em.f, ep->args[i].name);
	for (uint32_t i = 0; i < req->n_inputs && req->n_entries == 1; i++) {
		bool found = false;
		for (uint32_t k = 0; k < ep->n; k++)
			found = found || !strcmp(names[k], req->inputs[i].name);
		if (found)
			continue;
		const char *near = diag_nearest(req->inputs[i].name, names, ep->n);
		struct diag *g =
			report_error(&e->em, DIAG_ENTRY_INPUT, req->inputs[i].at, "the entry has no input `%s`", req->inputs[i].name);
		if (near)
			diag_help(e->em.report.out, g, "did you mean `%s`?", near);
		for (uint32_t k = 0; k < ep->n && !near; k++)
			diag_note(e->em.report.out, g, "it has an input `%s`", names[k]);
	}
}

/* ---- sizes that are known at run time ---- */

struct unknown_size {
	const bool *known;
	uint32_t n, sym; /* n: how many of them */
};

static void note_unknown_size(void *ctx, uint32_t sym)
{
	struct unknown_size *u = ctx;
	if (!u->known[sym] && (!u->n || u->sym != sym)) {
		u->n++;
		u->sym = sym;
	}
}

static struct unknown_size unknown_size(const struct dims *d, dim x, const bool *known)
{
	struct unknown_size u = {.known = known};
	dim_each_sym(d, x, note_unknown_size, &u);
	return u;
}

/* Marks the sizes that follow from those of tensors, as libraries find them. */
static void entry_find_sizes(const struct entry_spec *ep, const struct dims *d, bool *known)
{
	for (bool more = true; more;) {
		more = false;
		for (uint32_t i = 0; i < ep->plan.tensors.len; i++)
			for (uint32_t k = 0; k < ep->plan.tensors.at[i].type.rank; k++) {
				dim x = ep->plan.tensors.at[i].type.dims[k];
				struct unknown_size u = unknown_size(d, x, known);
				if (u.n == 1 && dim_determines(d, x, u.sym))
					known[u.sym] = more = true;
			}
	}
}

static void report_unknown_size(struct entry_spec *ep, const struct entry_arg *a, dim x, uint32_t sym)
{
	struct emitter *e = &ep->p->e->em;
	const char *name = dims_sym_name(e->b->dims, sym);
	struct buf text = {0};
	dim_print(e->b->dims, x, &text);
	const char *size = take_text(e, &text);
	struct diag *g = report_error(e, DIAG_ENTRY, node_span(ep->s.mod, a->decl), "`%s` does not follow from the size `%s` of input `%s`",
				      name, size, name_text(e->f, a->name));
	diag_help(e->report.out, g, "give the size a name of its own, `[M]`, or let another input have the size `%s`", name);
}

/* False: reported. */
static bool sizes_follow(struct entry_spec *ep)
{
	const struct dims *d = ep->p->e->em.b->dims;
	bool *known = ARENA_ARRAY(ep->p->e->em.f->arena, bool, dims_syms(d) + 1);
	entry_find_sizes(ep, d, known);
	for (uint32_t i = 0; i < ep->n; i++) {
		const struct hir_type *t = ep->args[i].is_default ? NULL : &ep->plan.tensors.at[ep->plan.values[i].u.t].type;
		for (uint32_t k = 0; t && k < t->rank; k++) {
			struct unknown_size u = unknown_size(d, t->dims[k], known);
			if (u.n) {
				report_unknown_size(ep, &ep->args[i], t->dims[k], u.sym);
				return false;
			}
		}
	}
	return true;
}

/* ---- one entry ---- */

static bool returns_tensors(struct elab *e, const struct elab_unit *info, const struct func *fn)
{
	if (info->unit->n_outputs)
		return true;
	return report_false(&e->em, DIAG_ENTRY, node_span(fn->mod, fn->node), "the entry `%s` returns no tensor",
			    name_text(e->em.f, fn->name));
}

static void entry_add(struct program *program, struct entry_spec *ep, const struct elab_unit *info)
{
	struct elab *e = program->e;
	struct hir_unit *u = info->unit;
	uint32_t n_params = ep->plan.params.at.len, n_states = ep->plan.states.at.len;
	struct hir_entry entry = {.name = name_text(e->em.f, ep->plan.fn->name),
				  .unit = u,
				  .params = ARENA_ARRAY(e->em.f->arena, uint32_t, u->n_inputs + 1),
				  .states_in = ARENA_ARRAY(e->em.f->arena, uint32_t, n_states + 1),
				  .states_out = ARENA_ARRAY(e->em.f->arena, uint32_t, n_states + 1)};
	for (uint32_t i = 0; i < u->n_inputs; i++) {
		entry.params[i] = HIR_NONE;
		if (i < n_params)
			entry.params[i] = program_add_layer_param(program, ep->plan.params.at.at[i], ep->plan.params.names.at[i]);
		else if (u->inputs[i].build_time)
			entry.params[i] = program_add_param(
				program,
				(struct hir_param){.name = u->inputs[i].name, .type = u->inputs[i].type, .dims = u->dims, .at = u->at});
	}
	for (uint32_t i = 0; i < ep->plan.params.aliases.len; i++) {
		const struct param_alias *a = &ep->plan.params.aliases.at[i];
		if (a->name)
			program_add_alias(program, entry.params[a->param], a->name);
	}
	for (uint32_t i = 0; i < n_states; i++) {
		uint32_t state = program_add_state(program, ep->plan.fn->self, ep->plan.states.at.at[i], ep->plan.states.names.at[i]);
		entry.states_in[entry.n_states_in++] = state;
		if (info->states[i].kind == V_TENSOR)
			entry.states_out[entry.n_states_out++] = state;
	}
	program_add_entry(program, entry);
}

/* The states that the unit of an entry uses. `all_used`: it uses all that it was given. */
static void note_used(struct entry_states *states, const struct elab_unit *info, bool *all_used)
{
	for (uint32_t i = 0; i < states->all.at.len; i++) {
		states->used[i] = info->touched[i];
		*all_used = *all_used && states->used[i];
	}
}

/* Makes the unit of an entry with the states in `used`, and adds it to the program. False: it does not use all of them; `used` is set to those
 * that it does. Errors are reported. */
static bool entry_make(struct program *program, struct func *fn, struct entry_states *states, bool again)
{
	struct elab *e = program->e;
	struct builder b;
	struct ast_fn decl = ast_fn(&fn->mod->ast, fn->node);
	struct frame root = {.site.at = SPAN_NONE, .mod = fn->mod, .self = fn->self, .unit = e->em.b};
	struct entry_spec *ep = ARENA_NEW(e->em.f->arena, struct entry_spec);
	bool all_used = true;
	builder_open(&e->em, &b);
	frame_push(e, &root);
	*ep = (struct entry_spec){.p = program, .plan = {.fn = fn, .dims = b.dims, .at = SPAN_NONE}};
	sig_open(&ep->s, &e->em, fn->mod, fn->self);
	ep->s.open = true;
	sig_generics(&ep->s, decl.generics);
	bool ok = load_args(ep, fn, &decl) && specify_args(ep);
	entry_check_names(ep);
	if (fn->self)
		collect_params(e, (struct value){.kind = V_LAYER, .u.layer = fn->self}, "", &ep->plan.params);
	if (ok) {
		specify_states(e, &ep->plan, states);
		ok = sizes_follow(ep);
	}
	if (ok) {
		const struct elab_unit *info = unit_get(e, &ep->plan);
		ok = !info->failed && returns_tensors(e, info, fn) && (again || lengths_agree(e, &ep->plan, info));
		if (ok && !again)
			note_used(states, info, &all_used);
		if (ok && all_used)
			entry_add(program, ep, info);
	}
	sig_close(&ep->s);
	unit_plan_free(&ep->plan);
	frame_pop(e);
	builder_close(&e->em);
	return !ok || all_used;
}

void elab_entry(struct program *program, const char *name)
{
	struct elab *e = program->e;
	struct func *fn = entry_func(program, name);
	struct entry_states s = {.all.of_states = true};
	if (!fn)
		return;
	if (fn->self)
		collect_params(e, (struct value){.kind = V_LAYER, .u.layer = fn->self}, "", &s.all);
	s.used = ARENA_ARRAY(e->em.f->arena, bool, s.all.at.len + 1);
	for (uint32_t i = 0; i < s.all.at.len; i++)
		s.used[i] = true;
	if (!entry_make(program, fn, &s, false))
		entry_make(program, fn, &s, true);
	param_list_free(&s.all);
}
