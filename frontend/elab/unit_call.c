/* A call of a unit: the caller's sizes become symbols of the unit, its tensors become inputs. */
#include "frontend/elab/unit.h"
#include "frontend/elab/states.h"

struct sizes {
	struct elab *e;
	VEC(dim) exprs; /* the distinct sizes of the arguments that are not constant; of the caller's dims */
	VEC(const char *) names;
	VEC(uint32_t) syms; /* scratch: symbols of one expression */
	uint32_t *uses;     /* by caller's symbol: the number of exprs that contain it */
	dim *map;           /* by caller's symbol: the unit's dim */
	bool *mapped;
	VEC(dim) values; /* by the unit's symbol: the caller's dim */
	VEC(dim) own;    /* by index of exprs: the unit's dim */
};

static void add_size(struct sizes *z, dim d, const char *name)
{
	if (dim_is_const(z->e->em.b->dims, d, NULL))
		return;
	for (uint32_t i = 0; i < z->exprs.len; i++)
		if (dim_eq(z->exprs.at[i], d))
			return;
	vec_push(&z->exprs, d);
	vec_push(&z->names, name);
}

/* The name of a dimension of argument i in the signature, or NULL. */
static const char *declared_name(struct elab *e, const struct func *fn, uint32_t i, uint32_t axis)
{
	const struct ast *t = &fn->mod->ast;
	struct ast_fn decl = ast_fn(t, fn->node);
	node_id type = i < decl.params.n ? ast_a(t, decl.params.at[i]) : AST_NONE;
	if (!type || ast_kind(t, type) != NODE_TYPE_NAME || !ast_b(t, type))
		return NULL;
	struct ast_nodes args = ast_nodes(t, ast_b(t, type));
	if (!args.n || ast_kind(t, args.at[args.n - 1]) != NODE_TYPE_SHAPE)
		return NULL;
	struct ast_nodes dims = ast_nodes(t, ast_a(t, args.at[args.n - 1]));
	if (axis >= dims.n || ast_kind(t, dims.at[axis]) != NODE_TYPE_NAME)
		return NULL;
	return name_text(e->em.f, node_name(e, fn->mod, dims.at[axis]));
}

static const char *size_name(struct sizes *z, const struct func *fn, uint32_t arg, uint32_t axis, dim d)
{
	uint32_t sym;
	const char *name = declared_name(z->e, fn, arg, axis);
	return name ? name : dim_is_sym(z->e->em.b->dims, d, &sym) ? dims_sym_name(z->e->em.b->dims, sym) : NULL;
}

static void collect_sizes(struct sizes *z, const struct func *fn, struct value v, uint32_t arg)
{
	if (v.kind == V_DIM)
		add_size(z, v.u.d, NULL);
	if (value_is_seq(v))
		for (uint32_t i = 0; i < v.u.seq->n; i++)
			collect_sizes(z, fn, v.u.seq->at[i], UINT32_MAX);
	if (v.kind == V_TEXT)
		collect_sizes(z, fn, v.u.text->values, UINT32_MAX);
	if (v.kind == V_RANGE) {
		collect_sizes(z, fn, v.u.range->from, UINT32_MAX);
		collect_sizes(z, fn, v.u.range->to, UINT32_MAX);
	}
	if (v.kind != V_TENSOR)
		return;
	struct hir_type t = *type_of(&z->e->em, v.u.t);
	for (uint32_t i = 0; i < t.rank; i++)
		add_size(z, t.dims[i], size_name(z, fn, arg, i, t.dims[i]));
}

static void note_sym(void *ctx, uint32_t sym)
{
	struct sizes *z = ctx;
	for (uint32_t i = 0; i < z->syms.len; i++)
		if (z->syms.at[i] == sym)
			return;
	vec_push(&z->syms, sym);
}

static void syms_of(struct sizes *z, dim d)
{
	z->syms.len = 0;
	dim_each_sym(z->e->em.b->dims, d, note_sym, z);
}

static dim new_size(struct sizes *z, struct dims *to, const char *name, dim value)
{
	uint32_t n = dims_syms(to);
	vec_push(&z->values, value);
	return dim_new_sym(to, name ? name : arena_printf(z->e->em.f->arena, "D%u", n));
}

/* A size unrelated to others becomes a new symbol times its constant factor, which lets the unit divide by that factor. */
static dim unrelated_size(struct sizes *z, struct dims *to, const char *name, dim d)
{
	struct dims *from = z->e->em.b->dims;
	int64_t factor = dim_common_factor(from, d);
	dim rest = d;
	uint32_t sym;
	if (factor <= 1 || dim_divide_exact(from, d, factor, &rest) != 1)
		return new_size(z, to, name, d);
	name = dim_is_sym(from, rest, &sym) ? dims_sym_name(from, sym) : NULL;
	return dim_mul(to, dim_const(to, factor), new_size(z, to, name, rest));
}

/* A size whose symbols occur in no other size becomes a new symbol or a multiple of one. The others keep their relations. */
static void map_sizes(struct sizes *z, struct dims *to)
{
	struct dims *from = z->e->em.b->dims;
	uint32_t n = dims_syms(from);
	struct arena *a = z->e->em.f->arena;
	z->uses = ARENA_ARRAY(a, uint32_t, n + 1);
	z->map = ARENA_ARRAY(a, dim, n + 1);
	z->mapped = ARENA_ARRAY(a, bool, n + 1);
	for (uint32_t i = 0; i < z->exprs.len; i++) {
		syms_of(z, z->exprs.at[i]);
		for (uint32_t k = 0; k < z->syms.len; k++)
			z->uses[z->syms.at[k]]++;
	}
	for (uint32_t i = 0; i < z->exprs.len; i++) {
		dim d = z->exprs.at[i], own;
		bool alone = true;
		syms_of(z, d);
		for (uint32_t k = 0; k < z->syms.len; k++)
			alone = alone && z->uses[z->syms.at[k]] == 1;
		for (uint32_t k = 0; k < z->syms.len && !alone; k++) {
			uint32_t s = z->syms.at[k];
			if (z->mapped[s])
				continue;
			z->mapped[s] = true;
			z->map[s] = new_size(z, to, dim_is_sym(from, d, NULL) ? z->names.at[i] : NULL, dim_sym(from, s));
		}
		own = alone ? unrelated_size(z, to, z->names.at[i], d) : dim_translate(to, from, d, z->map);
		vec_push(&z->own, own);
	}
}

static dim unit_size(struct sizes *z, struct dims *to, dim d)
{
	int64_t v;
	if (dim_is_const(z->e->em.b->dims, d, &v))
		return dim_const(to, v);
	for (uint32_t i = 0; i < z->exprs.len; i++)
		if (dim_eq(z->exprs.at[i], d))
			return z->own.at[i];
	return dim_const(to, 0);
}

static struct value value_in_unit(struct sizes *z, struct unit_spec *p, struct value v, const char *name)
{
	struct elab *e = z->e;
	if (v.kind == V_DIM)
		return value_dim(p->dims, unit_size(z, p->dims, v.u.d));
	if (value_is_seq(v)) {
		struct value copy = value_seq(e->em.f->arena, v.kind, v.u.seq->n);
		for (uint32_t i = 0; i < v.u.seq->n; i++)
			copy.u.seq->at[i] = value_in_unit(z, p, v.u.seq->at[i], arena_printf(e->em.f->arena, "%s.%u", name, i));
		return copy;
	}
	if (v.kind == V_RANGE) {
		struct range *r = ARENA_NEW(e->em.f->arena, struct range);
		*r = (struct range){value_in_unit(z, p, v.u.range->from, name), value_in_unit(z, p, v.u.range->to, name), v.u.range->step};
		return (struct value){.kind = V_RANGE, .u.range = r};
	}
	if (v.kind == V_TEXT)
		return template_with_values(&e->em, v.u.text, value_in_unit(z, p, v.u.text->values, name));
	if (v.kind != V_TENSOR)
		return v;
	struct tensor_arg l = {
		.name = name, .type = *type_of(&e->em, v.u.t), .build_time = node_at(&e->em, v.u.t)->build_time, .caller = v.u.t};
	for (uint32_t i = 0; i < l.type.rank; i++)
		l.type.dims[i] = unit_size(z, p->dims, l.type.dims[i]);
	vec_push(&p->tensors, l);
	return value_tensor(p->tensors.len - 1);
}

void unit_plan_free(struct unit_spec *p)
{
	param_list_free(&p->params);
	param_list_free(&p->states);
	vec_free(&p->tensors);
}

static struct hir_type type_in_caller(struct elab *e, const struct hir_unit *u, const struct hir_type *t, const dim *syms)
{
	struct hir_type out = *t;
	for (uint32_t i = 0; i < t->rank; i++)
		out.dims[i] = dim_translate(e->em.b->dims, u->dims, t->dims[i], syms);
	return out;
}

static struct value value_in_caller(struct elab *e, const struct hir_unit *u, struct value v, hir_ref call, const dim *syms, span at)
{
	if (value_is_seq(v)) {
		struct value copy = value_seq(e->em.f->arena, v.kind, v.u.seq->n);
		for (uint32_t i = 0; i < v.u.seq->n; i++)
			copy.u.seq->at[i] = value_in_caller(e, u, v.u.seq->at[i], call, syms, at);
		return copy;
	}
	if (v.kind == V_DIM)
		return value_dim(e->em.b->dims, dim_translate(e->em.b->dims, u->dims, v.u.d, syms));
	if (v.kind == V_TEXT)
		return template_with_values(&e->em, v.u.text, value_in_caller(e, u, v.u.text->values, call, syms, at));
	if (v.kind != V_TENSOR)
		return v;
	struct hir_type t = type_in_caller(e, u, &u->nodes[u->outputs[v.u.t].node].type, syms);
	return value_tensor(emit_result(&e->em, call, v.u.t, &t, at));
}

static hir_ref emit_call(struct elab *e, const struct unit_spec *p, struct hir_unit *u, const dim *syms)
{
	uint32_t n = p->params.at.len + p->tensors.len;
	struct hir_arg *args = ARENA_ARRAY(e->em.f->arena, struct hir_arg, n + 1);
	struct hir_node node = {.kind = HIR_CALL, .build_time = !u->effects, .callee = u, .callee_syms = syms, .n_args = n, .at = p->at};
	node.layer = p->fn->self ? layer_path(e, p->fn->self) : NULL;
	for (uint32_t i = 0; i < n; i++) {
		bool param = i < p->params.at.len;
		struct value v =
			param ? param_value(e, p->params.at.at[i], p->at) : value_tensor(p->tensors.at[i - p->params.at.len].caller);
		if (v.kind != V_TENSOR)
			return HIR_NONE;
		args[i] = arg_tensor(v.u.t);
		node.build_time = node.build_time && node_at(&e->em, v.u.t)->build_time;
	}
	node.args = e->em.b->args.len;
	for (uint32_t i = 0; i < n; i++)
		vec_push(&e->em.b->args, args[i]);
	node.type = (struct hir_type){.elem = DT_BOOL};
	if (u->n_outputs)
		node.type = type_in_caller(e, u, &u->nodes[u->outputs[0].node].type, syms);
	e->em.b->effects = e->em.b->effects || u->effects;
	node.build_time = node.build_time && has_constant_shape(&e->em, &node.type);
	vec_push(&e->em.b->nodes, node);
	return e->em.b->nodes.len - 1;
}

/* The states that a call may use, and their values before it, of the caller. */
struct call_states {
	struct param_list all;
	struct value *values;
	bool *used; /* of all */
};

/* Finds the states that have a value here; a callee that uses another reports it. */
static void find_states(struct elab *e, const struct func *fn, const struct value *values, uint32_t n, struct call_states *s)
{
	struct ast_fn decl = ast_fn(&fn->mod->ast, fn->node);
	s->all.of_states = true;
	if (fn->self)
		collect_params(e, (struct value){.kind = V_LAYER, .u.layer = fn->self}, "", &s->all);
	for (uint32_t i = 0; i < n; i++)
		collect_params(e, values[i], name_text(e->em.f, node_name(e, fn->mod, decl.params.at[i])), &s->all);
	s->values = ARENA_ARRAY(e->em.f->arena, struct value, s->all.at.len + 1);
	s->used = ARENA_ARRAY(e->em.f->arena, bool, s->all.at.len + 1);
	for (uint32_t i = 0; i < s->all.at.len; i++)
		s->used[i] = state_is_known(e, s->all.at.at[i], &s->values[i]);
}

/* A call under construction. */
struct call {
	struct unit_spec p;
	struct sizes z;
};

static void call_open(struct call *c, struct elab *e, struct func *fn, const struct value *values, uint32_t n, const struct call_states *s)
{
	struct unit_spec *p = &c->p;
	struct sizes *z = &c->z;
	struct ast_fn decl = ast_fn(&fn->mod->ast, fn->node);
	p->states.of_states = true;
	p->values = ARENA_ARRAY(e->em.f->arena, struct value, n + s->all.at.len + 1);
	if (fn->self)
		collect_params(e, (struct value){.kind = V_LAYER, .u.layer = fn->self}, "", &p->params);
	for (uint32_t i = 0; i < n; i++) {
		e->em.report.steps += value_count(values[i]);
		collect_sizes(z, fn, values[i], i);
	}
	for (uint32_t i = 0; i < s->all.at.len; i++)
		if (s->used[i])
			collect_sizes(z, fn, s->values[i], UINT32_MAX);
	map_sizes(z, p->dims);
	for (uint32_t i = 0; i < n; i++) {
		const char *name = name_text(e->em.f, node_name(e, fn->mod, decl.params.at[i]));
		p->values[i] = value_in_unit(z, p, values[i], name);
		collect_params(e, values[i], name, &p->params);
	}
	for (uint32_t i = 0; i < s->all.at.len; i++) {
		if (!s->used[i])
			continue;
		p->values[p->n_values++] = value_in_unit(z, p, s->values[i], s->all.names.at[i]);
		vec_push(&p->states.at, s->all.at.at[i]);
		vec_push(&p->states.names, s->all.names.at[i]);
	}
}

static void call_close(struct call *c)
{
	vec_free(&c->z.exprs);
	vec_free(&c->z.names);
	vec_free(&c->z.syms);
	vec_free(&c->z.values);
	vec_free(&c->z.own);
	unit_plan_free(&c->p);
}

/* Sets the states that the call changes. */
static void change_states(struct elab *e, const struct call *c, const struct elab_unit *info, hir_ref call, const dim *syms)
{
	for (uint32_t i = 0; i < c->p.states.at.len; i++) {
		struct layer_param *p = c->p.states.at.at[i];
		state_touch(e, p);
		if (info->states[i].kind == V_TENSOR)
			state_set(e, p, value_in_caller(e, info->unit, info->states[i], call, syms, c->p.at), c->p.at);
	}
}

static struct value finish_call(struct elab *e, struct call *c, const struct elab_unit *info)
{
	if (info->failed)
		return VALUE_POISON;
	dim *syms = ARENA_ARRAY(e->em.f->arena, dim, c->z.values.len + 1);
	for (uint32_t i = 0; i < c->z.values.len; i++)
		syms[i] = c->z.values.at[i];
	hir_ref call = HIR_NONE;
	bool needed = info->unit->n_outputs || info->unit->effects;
	if (needed)
		call = emit_call(e, &c->p, info->unit, syms);
	if (needed && call == HIR_NONE)
		return VALUE_POISON;
	change_states(e, c, info, call, syms);
	return value_in_caller(e, info->unit, info->result, call, syms, c->p.at);
}

/* True if the unit does not use a state that it was given. Unsets those in `used`. */
static bool drop_unused(struct call_states *s, const struct elab_unit *info)
{
	uint32_t given = 0, kept = 0;
	for (uint32_t i = 0; i < s->all.at.len && !info->failed; i++)
		if (s->used[i])
			kept += s->used[i] = info->touched[given++];
	return kept < given;
}

struct value call_unit(struct elab *e, struct func *fn, struct value *values, uint32_t n, span at, const char *what)
{
	const struct unit_spec spec = {.fn = fn, .n_values = n, .at = at, .what = what, .is_call = true};
	struct call c = {.p = spec, .z.e = e};
	struct call_states s = {0};
	c.p.dims = dims_new(e->em.f->arena);
	find_states(e, fn, values, n, &s);
	call_open(&c, e, fn, values, n, &s);
	const struct elab_unit *info = unit_get(e, &c.p);
	if (drop_unused(&s, info)) { /* a unit depends on the states that it uses, and on no others */
		call_close(&c);
		c = (struct call){.p = spec, .z.e = e};
		c.p.dims = dims_new(e->em.f->arena);
		call_open(&c, e, fn, values, n, &s);
		info = unit_get(e, &c.p);
	}
	struct value v = finish_call(e, &c, info);
	call_close(&c);
	param_list_free(&s.all);
	return v;
}
