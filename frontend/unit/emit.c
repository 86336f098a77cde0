/* Nodes of the unit under construction. */
#include "frontend/unit/emit.h"

void builder_open(struct emitter *e, struct builder *b)
{
	*b = (struct builder){.outer = e->b, .dims = dims_new(e->f->arena)};
	e->b = b;
}

void builder_close(struct emitter *e)
{
	struct builder *b = e->b;
	e->b = b->outer;
	vec_free(&b->nodes);
	vec_free(&b->args);
	vec_free(&b->inputs);
	vec_free(&b->lazies);
	vec_free(&b->layer_results);
	vec_free(&b->opened);
	vec_free(&b->joined);
	map_free(&b->params);
	map_free(&b->touched);
	map_free(&b->imported);
	map_free(&b->origins);
}

struct hir_node *node_at(struct emitter *e, hir_ref r) { return &e->b->nodes.at[r]; }

static hir_ref emit_push(struct emitter *e, struct hir_node n)
{
	vec_push(&e->b->nodes, n);
	return e->b->nodes.len - 1;
}

hir_ref emit_input(struct emitter *e, const char *name, const struct hir_type *t, bool build_time, span at)
{
	struct hir_input in = {.name = name, .type = *t, .build_time = build_time};
	vec_push(&e->b->inputs, in);
	return emit_push(
		e, (struct hir_node){.kind = HIR_INPUT, .build_time = build_time, .type = *t, .index = e->b->inputs.len - 1, .at = at});
}

hir_ref emit_const(struct emitter *e, const struct hir_type *t, const void *data, span at)
{
	return emit_push(e, (struct hir_node){.kind = HIR_CONST, .build_time = true, .type = *t, .data = data, .at = at});
}

hir_ref emit_unknown_tensor(struct emitter *e, const struct hir_type *t, span at)
{
	return emit_push(e, (struct hir_node){.kind = HIR_CONST, .type = *t, .at = at});
}

hir_ref emit_dim(struct emitter *e, dim d, span at)
{
	int64_t v;
	struct hir_type t = {.elem = DT_INT64};
	if (dim_is_const(e->b->dims, d, &v)) {
		int64_t *data = ARENA_NEW(e->f->arena, int64_t);
		*data = v;
		return emit_const(e, &t, data, at);
	}
	return emit_push(e, (struct hir_node){.kind = HIR_DIM, .type = t, .extent = d, .at = at});
}

/* ---- builtins ---- */

static bool is_build_time_arg(struct emitter *e, const struct hir_arg *a)
{
	if (a->kind == ARG_TENSOR)
		return e->b->nodes.at[a->u.tensor].build_time;
	if (a->kind == ARG_DIM)
		return dim_is_const(e->b->dims, a->u.d, NULL);
	if (a->kind == ARG_LIST)
		for (uint32_t i = 0; i < a->u.list.n; i++)
			if (!is_build_time_arg(e, &e->b->args.at[a->u.list.start + i]))
				return false;
	return true;
}

bool has_constant_shape(struct emitter *e, const struct hir_type *t)
{
	for (uint32_t i = 0; i < t->rank; i++)
		if (!dim_is_const(e->b->dims, t->dims[i], NULL))
			return false;
	return true;
}

struct hir_arg arg_list(struct emitter *e, const struct hir_arg *items, uint32_t n)
{
	uint32_t start = e->b->args.len;
	for (uint32_t i = 0; i < n; i++)
		vec_push(&e->b->args, items[i]);
	return (struct hir_arg){.kind = ARG_LIST, .u.list = {start, n}};
}

hir_ref emit_builtin(struct emitter *e, enum builtin bi, const struct hir_type *t, const struct hir_arg *args, uint32_t n, span at)
{
	struct hir_node node = {.kind = HIR_BUILTIN, .builtin = bi, .type = *t, .n_args = n, .at = at};
	node.build_time = has_constant_shape(e, t);
	for (uint32_t i = 0; i < n; i++)
		node.build_time = node.build_time && is_build_time_arg(e, &args[i]);
	node.args = e->b->args.len;
	for (uint32_t i = 0; i < n; i++)
		vec_push(&e->b->args, args[i]);
	return emit_push(e, node);
}

void emit_effect(struct emitter *e, enum hir_kind kind, const struct hir_arg *args, uint32_t n, span at)
{
	struct hir_node node = {.kind = kind, .type = {.elem = DT_BOOL}, .args = e->b->args.len, .n_args = n, .at = at};
	for (uint32_t i = 0; i < n; i++)
		vec_push(&e->b->args, args[i]);
	e->b->effects = true;
	emit_push(e, node);
}

hir_ref emit_result(struct emitter *e, hir_ref source, uint32_t index, const struct hir_type *t, span at)
{
	bool build_time = e->b->nodes.at[source].build_time;
	return emit_push(
		e, (struct hir_node){.kind = HIR_RESULT, .build_time = build_time, .type = *t, .index = index, .source = source, .at = at});
}

hir_ref emit_cast(struct emitter *e, hir_ref r, dtype t, span at)
{
	struct hir_type type = *type_of(e, r);
	if (type.elem == t)
		return r;
	type.elem = t;
	struct hir_arg a = arg_tensor(r);
	return emit_builtin(e, BI_CAST, &type, &a, 1, at);
}
