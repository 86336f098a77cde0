/* A call of a unit: the caller's sizes become symbols of the unit, its tensors become inputs. */
#include "frontend/elab/unit_sizes.h"
#include "frontend/elab/states.h"

static struct value value_in_unit(struct sizes *sizes, struct unit_spec *spec, struct value v, const char *name)
{
	struct elab *e = sizes->e;
	if (v.kind == V_DIM)
		return value_dim(spec->dims, unit_size(sizes, spec->dims, v.u.d));
	if (value_is_seq(v)) {
		struct value copy = value_seq(e->em.f->arena, v.kind, v.u.seq->n);
		for (uint32_t i = 0; i < v.u.seq->n; i++)
			copy.u.seq->at[i] = value_in_unit(sizes, spec, v.u.seq->at[i], arena_printf(e->em.f->arena, "%s.%u", name, i));
		return copy;
	}
	if (v.kind == V_RANGE) {
		struct range *r = ARENA_NEW(e->em.f->arena, struct range);
		*r = (struct range){value_in_unit(sizes, spec, v.u.range->from, name), value_in_unit(sizes, spec, v.u.range->to, name),
				    v.u.range->step};
		return (struct value){.kind = V_RANGE, .u.range = r};
	}
	if (v.kind == V_TEXT)
		return template_with_values(&e->em, v.u.text, value_in_unit(sizes, spec, v.u.text->values, name));
	if (v.kind != V_TENSOR)
		return v;
	struct tensor_arg l = {
		.name = name, .type = *type_of(&e->em, v.u.t), .build_time = node_at(&e->em, v.u.t)->build_time, .caller = v.u.t};
	for (uint32_t i = 0; i < l.type.rank; i++)
		l.type.dims[i] = unit_size(sizes, spec->dims, l.type.dims[i]);
	vec_push(&spec->tensors, l);
	return value_tensor(spec->tensors.len - 1);
}

void unit_plan_free(struct unit_spec *spec)
{
	param_list_free(&spec->params);
	param_list_free(&spec->states);
	vec_free(&spec->tensors);
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

static hir_ref unit_call_emit_call(struct elab *e, const struct unit_spec *spec, struct hir_unit *u, const dim *syms)
{
	uint32_t n = spec->params.at.len + spec->tensors.len;
	struct hir_arg *args = ARENA_ARRAY(e->em.f->arena, struct hir_arg, n + 1);
	struct hir_node node = {.kind = HIR_CALL, .build_time = !u->effects, .callee = u, .callee_syms = syms, .n_args = n, .at = spec->at};
	node.layer = spec->fn->self ? layer_path(e, spec->fn->self) : NULL;
	for (uint32_t i = 0; i < n; i++) {
		bool param = i < spec->params.at.len;
		struct value v = param ? param_value(e, spec->params.at.at[i], spec->at)
				       : value_tensor(spec->tensors.at[i - spec->params.at.len].caller);
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
	for (uint32_t i = 0; i < s->all.aliases.len; i++)
		vec_push(&p->states.aliases, s->all.aliases.at[i]);
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
	sizes_free(&c->z);
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
		call = unit_call_emit_call(e, &c->p, info->unit, syms);
	if (needed && call == HIR_NONE)
		return VALUE_POISON;
	change_states(e, c, info, call, syms);
	return value_in_caller(e, info->unit, info->result, call, syms, c->p.at);
}

/* True if the unit does not use a state that it was given. Unsets those in `used`. */
static bool unit_call_drop_unused(struct call_states *s, const struct elab_unit *info)
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
	if (unit_call_drop_unused(&s, info)) { /* a unit depends on the states that it uses, and on no others */
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
