/* Makes units. Calls share a unit if definition, compile-time arguments, element types, shapes and build-time flags are equal, whatever
 * the names of run-time sizes are (identity.c). */
#include "frontend/elab/unit.h"
#include <string.h>
#include "base/bug.h"
#include "frontend/elab/function.h"
#include "frontend/elab/states.h"

struct loading {
	struct elab *e;
	const struct unit_spec *p;
};

static hir_ref load_tensor(void *ctx, hir_ref leaf)
{
	const struct loading *to = ctx;
	const struct tensor_arg *l = &to->p->tensors.at[leaf];
	return emit_input(&to->e->em, l->name, &l->type, l->build_time, to->p->at);
}

static struct value load_value(struct elab *e, const struct unit_spec *p, struct value v)
{
	struct loading to = {e, p};
	return value_map_tensors(&e->em, v, load_tensor, &to);
}

static void load_params(struct elab *e, const struct unit_spec *p)
{
	for (uint32_t i = 0; i < p->params.at.len; i++) {
		struct layer_param *ip = p->params.at.at[i];
		struct hir_type t = ip->type;
		for (uint32_t k = 0; k < t.rank; k++) {
			int64_t v = 0;
			dim_is_const(ip->dims, t.dims[k], &v);
			t.dims[k] = dim_const(e->em.b->dims, v);
		}
		hir_ref r = emit_input(&e->em, p->params.names.at[i], &t, true, ip->at);
		e->em.b->inputs.at[e->em.b->inputs.len - 1].param = true;
		map_put(&e->em.b->params, map_key_u64(ip->id), r);
	}
}

/* The result of an entry with its numbers as tensors, so that each is an output. */
static struct value scalars_to_tensors(struct elab *e, struct value v, span at)
{
	if (value_is_scalar(v))
		return value_tensor(emit_scalar(&e->em, v, scalar_type(v), at));
	if (!value_is_seq(v))
		return v;
	struct value out = value_seq(e->em.f->arena, v.kind, v.u.seq->n);
	for (uint32_t i = 0; i < out.u.seq->n; i++)
		out.u.seq->at[i] = scalars_to_tensors(e, v.u.seq->at[i], at);
	return out;
}

/* Copies the spec to the session, to make the unit again. */
static void save_spec(struct elab *e, struct elab_unit *info, const struct unit_spec *p)
{
	struct arena *a = e->em.f->session;
	struct unit_spec *copy = ARENA_NEW(a, struct unit_spec);
	*copy = *p;
	COPY_ARRAY(copy->params.at.at, p->params.at.at, p->params.at.len, struct layer_param *);
	COPY_ARRAY(copy->params.names.at, p->params.names.at, p->params.names.len, const char *);
	COPY_ARRAY(copy->params.aliases.at, p->params.aliases.at, p->params.aliases.len, struct param_alias);
	COPY_ARRAY(copy->tensors.at, p->tensors.at, p->tensors.len, struct tensor_arg);
	COPY_ARRAY(copy->states.at.at, p->states.at.at, p->states.at.len, struct layer_param *);
	COPY_ARRAY(copy->states.names.at, p->states.names.at, p->states.names.len, const char *);
	COPY_ARRAY(copy->states.aliases.at, p->states.aliases.at, p->states.aliases.len, struct param_alias);
	copy->params.seen = copy->states.seen = (struct map){0};
	info->spec = copy;
	info->sizes = dims_mark(p->dims);
}

/* Notes which states the current unit uses. Returns the values after a run of those that it changes. */
static struct value *changed_states(struct elab *e, const struct unit_spec *p, const struct value *before, const struct value *after,
				    struct elab_unit *info)
{
	uint32_t n = p->states.at.len;
	struct value *changed = ARENA_ARRAY(e->em.f->arena, struct value, n + 1);
	bool *touched = ARENA_ARRAY(e->em.f->arena, bool, n + 1);
	for (uint32_t i = 0; i < n; i++) {
		touched[i] = state_is_touched(e, p->states.at.at[i]);
		changed[i] = value_is_same(before[i], after[i]) ? (struct value){.kind = V_VOID} : after[i];
	}
	info->touched = touched;
	info->states = changed;
	return changed;
}

/* The output of a called unit among the first n that has this value and is of no state; n: none. An entry has outputs of its own for states. */
static uint32_t shared_output(const struct unit_spec *p, const struct hir_unit *u, uint32_t n, hir_ref node)
{
	uint32_t k = 0;
	while (k < n && !(p->is_call && u->outputs[k].node == node && !u->outputs[k].state))
		k++;
	return k;
}

/* Finishes a unit whose outputs are its result, then the states that it changes. A result that is the new value of a state is one output with
 * it, so that it is not copied. */
static struct hir_unit *finish_with_states(struct elab *e, const struct unit_spec *p, hash128 identity, struct elab_unit *info,
					   struct value *changed)
{
	uint32_t n = p->states.at.len, n_results = 0;
	struct value all = value_seq(e->em.f->arena, V_TUPLE, n + 1);
	all.u.seq->at[0] = info->result;
	for (uint32_t i = 0; i < n; i++)
		all.u.seq->at[i + 1] = changed[i];
	struct hir_unit *u = unit_finish(e, p->fn, identity, unit_name(e, p), &all);
	info->result = all.u.seq->at[0];
	n_results = u->n_outputs;
	for (uint32_t i = 0; i < n; i++)
		n_results -= all.u.seq->at[i + 1].kind == V_TENSOR;
	u->n_outputs = n_results;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t axis = p->states.at.at[i]->axis, input = u->n_inputs - n + i;
		u->inputs[input].state = true;
		u->inputs[input].grows = axis == STATE_FIXED ? 0 : (uint8_t)(axis + 1);
		changed[i] = all.u.seq->at[i + 1];
		if (changed[i].kind != V_TENSOR)
			continue;
		hir_ref node = u->outputs[changed[i].u.t].node;
		uint32_t k = shared_output(p, u, n_results, node);
		if (k == n_results) {
			k = u->n_outputs++;
			u->outputs[k] = (struct hir_output){p->states.names.at[i], node, 0, true};
		}
		u->outputs[k].state = input + 1;
		changed[i].u.t = k;
	}
	if (n_results == 1)
		u->outputs[0].name = "out";
	return u;
}

struct elab_unit *unit_make(struct elab *e, struct unit_spec *p, hash128 identity)
{
	struct elab_unit *info = ARENA_NEW(e->em.f->arena, struct elab_unit);
	struct builder b;
	struct reads reads;
	uint32_t errors = e->em.report.errors;
	if (e->em.f->is_refreshable)
		save_spec(e, info, p);
	builder_open(&e->em, &b);
	reads_open(&e->em, &reads);
	b.dims = p->dims;
	load_params(e, p);
	struct value *values = ARENA_ARRAY(e->em.f->arena, struct value, p->n_values + 1);
	for (uint32_t i = 0; i < p->n_values; i++)
		values[i] = load_value(e, p, p->values[i]);
	uint32_t n_args = p->n_values - p->states.at.len;
	struct value *before = ARENA_ARRAY(e->em.f->arena, struct value, p->states.at.len + 1);
	for (uint32_t i = n_args; i < p->n_values; i++)
		before[i - n_args] = values[i];
	const struct unit_states states = {p->states.at.at, values + n_args, p->states.at.len};
	e->states = states.n ? &states : NULL;
	e->callee = b.outer && p->is_call ? p : NULL;
	info->result = run_body(e, p->fn, values, NULL, p->at, p->what);
	if (!p->is_call && value_contains(info->result, V_TENSOR))
		info->result = scalars_to_tensors(e, info->result, node_span(p->fn->mod, p->fn->node));
	info->reads = reads_close(&e->em);
	info->failed = e->em.report.errors != errors || e->em.report.gave_up || value_contains(info->result, V_POISON);
	for (uint32_t i = n_args; i < p->n_values; i++)
		info->failed = info->failed || is_poison(values[i]);
	struct value *changed = changed_states(e, p, before, values + n_args, info);
	if (info->failed)
		builder_close(&e->em);
	else if (states.n)
		info->unit = finish_with_states(e, p, identity, info, changed);
	else
		info->unit = unit_finish(e, p->fn, identity, unit_name(e, p), &info->result);
	return info;
}

static bool params_have_types(struct elab *e, const struct unit_spec *p)
{
	for (uint32_t i = 0; i < p->params.at.len; i++) {
		const struct layer_param *ip = p->params.at.at[i];
		if (ip->has_type)
			continue;
		if (!e->em.report.errors) /* else the cause was reported */
			report_error(&e->em, DIAG_PARAM_TYPE, ip->at, "the type of parameter `%s` cannot be inferred",
				     name_text(e->em.f, ip->name));
		return false;
	}
	return true;
}

const struct elab_unit *unit_get(struct elab *e, struct unit_spec *p)
{
	hash128 identity = unit_identity(e, p);
	uint64_t known;
	static const struct elab_unit failed = {.failed = true};
	if (!params_have_types(e, p))
		return &failed;
	if (map_get(&e->em.f->elab.units, identity, &known))
		return (struct elab_unit *)(uintptr_t)known;
	BUG_ON(e->em.f->arena != e->em.f->session); /* units outlive a definition's check */
	struct elab_unit *info = unit_make(e, p, identity);
	if (!info->failed || !e->em.report.suppressed) /* an unreported failure is tried again */
		map_put(&e->em.f->elab.units, identity, (uint64_t)(uintptr_t)info);
	if (e->em.f->is_refreshable && !info->failed)
		vec_push(&e->em.f->elab.calls, info);
	return info;
}
