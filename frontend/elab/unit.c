/* Makes units. Calls share a unit if definition, compile-time arguments, element types, shapes and build-time flags are equal, whatever the names of
 * run-time sizes are (identity.c). */
#include "frontend/elab/unit.h"
#include <string.h>
#include "base/bug.h"
#include "frontend/elab/call.h"
#include "frontend/syntax/literal.h"

/* ---- finishing ---- */

static int8_t opt_level(const struct module *m, node_id attr)
{
	const struct ast *t = &m->ast;
	uint64_t v;
	if (!attr || !ast_a(t, attr))
		return -1;
	struct ast_nodes args = ast_nodes(t, ast_a(t, attr));
	if (args.n != 1 || ast_kind(t, args.at[0]) != NODE_INT || !literal_int(&t->tokens, ast_token(t, args.at[0]), &v) || v > 3)
		return -1;
	return (int8_t)v;
}

static void set_attributes(struct hir_unit *u, const struct module *m, struct ast_nodes attrs)
{
	u->always_inline = u->always_inline || attr_find(m, attrs, "inline");
	u->never_inline = u->never_inline || attr_find(m, attrs, "noinline");
	if (attr_find(m, attrs, "opt"))
		u->opt = opt_level(m, attr_find(m, attrs, "opt"));
}

void unit_attributes(struct hir_unit *u, const struct func *fn)
{
	if (fn->self)
		set_attributes(u, fn->item->mod, ast_fn(&fn->item->mod->ast, fn->item->node).attrs);
	if (fn->node)
		set_attributes(u, fn->mod, ast_fn(&fn->mod->ast, fn->node).attrs);
}

static void add_outputs(struct elab *e, struct value *v, struct hir_unit *u, uint32_t cap)
{
	if (value_is_seq(*v)) {
		struct value copy = value_seq(e->em.f->arena, v->kind, v->u.seq->n);
		for (uint32_t i = 0; i < copy.u.seq->n; i++) {
			copy.u.seq->at[i] = v->u.seq->at[i];
			add_outputs(e, &copy.u.seq->at[i], u, cap);
		}
		*v = copy;
	} else if (v->kind == V_TEXT) {
		struct value values = v->u.text->values;
		add_outputs(e, &values, u, cap);
		*v = template_with_values(&e->em, v->u.text, values);
	} else if (v->kind == V_TENSOR && u->n_outputs < cap) {
		u->outputs[u->n_outputs] = (struct hir_output){arena_printf(e->em.f->arena, "out%u", u->n_outputs), v->u.t};
		v->u.t = u->n_outputs++;
	}
}

static uint32_t count_tensors(struct value v)
{
	uint32_t n = v.kind == V_TEXT ? v.u.text->values.u.seq->n : v.kind == V_TENSOR;
	if (value_is_seq(v))
		for (uint32_t i = 0; i < v.u.seq->n; i++)
			n += count_tensors(v.u.seq->at[i]);
	return n;
}

#define COPY_ARRAY(to, from, n, T) ((to) = ARENA_ARRAY(e->em.f->arena, T, (n) + 1), (n) ? memcpy((to), (from), sizeof(T) * (n)) : NULL)

void unit_copy_nodes(struct elab *e, struct hir_unit *u)
{
	const struct builder *b = e->em.b;
	u->n_inputs = b->inputs.len;
	u->n_nodes = b->nodes.len;
	u->n_args = b->args.len;
	COPY_ARRAY(u->inputs, b->inputs.at, u->n_inputs, struct hir_input);
	COPY_ARRAY(u->nodes, b->nodes.at, u->n_nodes, struct hir_node);
	COPY_ARRAY(u->args, b->args.at, u->n_args, struct hir_arg);
	u->effects = b->effects;
}

struct hir_unit *unit_finish(struct elab *e, const struct func *fn, hash128 identity, const char *name, struct value *result)
{
	struct hir_unit *u = ARENA_NEW(e->em.f->arena, struct hir_unit);
	char hex[33];
	uint32_t outs = count_tensors(*result);
	hash_hex(identity, hex);
	*u = (struct hir_unit){.name = name,
			       .identity = identity,
			       .file = fn->mod->path,
			       .at = node_span(fn->mod, fn->node),
			       .opt = -1,
			       .dims = e->em.b->dims};
	u->definition_name = name_text(e->em.f, fn->item->name);
	u->symbol = arena_printf(e->em.f->arena, "%s_%.16s", u->definition_name, hex);
	u->definition = fn->item->tokens;
	unit_attributes(u, fn);
	u->outputs = ARENA_ARRAY(e->em.f->arena, struct hir_output, outs + 1);
	add_outputs(e, result, u, outs);
	if (u->n_outputs == 1)
		u->outputs[0].name = "out";
	unit_copy_nodes(e, u);
	builder_close(&e->em);
	return u;
}

/* ---- making ---- */

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
	COPY_ARRAY(copy->tensors.at, p->tensors.at, p->tensors.len, struct tensor_arg);
	copy->params.seen = (struct map){0};
	info->spec = copy;
	info->sizes = dims_mark(p->dims);
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
	e->callee = b.outer && p->is_call ? p : NULL;
	info->result = run_body(e, p->fn, values, NULL, p->at, p->what);
	if (!p->is_call && value_contains(info->result, V_TENSOR))
		info->result = scalars_to_tensors(e, info->result, p->at);
	info->reads = reads_close(&e->em);
	info->failed = e->em.report.errors != errors || e->em.report.gave_up || value_contains(info->result, V_POISON);
	if (info->failed)
		builder_close(&e->em);
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
