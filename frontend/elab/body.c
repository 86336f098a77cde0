/* Bodies of run-time branches and loops. */
#include "frontend/elab/branch.h"
#include <string.h>
#include "frontend/elab/unit.h"

/* ---- imports ---- */

void body_open(struct elab *e, struct builder *b)
{
	builder_open(&e->em, b);
	b->dims = b->outer->dims;
	b->body = true;
}

bool is_conditional(const struct elab *e)
{
	for (const struct builder *b = e->em.b; b; b = b->outer)
		if (b->body && !b->executed)
			return true;
	return false;
}

bool body_import_source(const struct builder *b, hir_ref r, hir_ref *outer)
{
	uint64_t o;
	if (!map_get(&b->origins, map_key_u64(r), &o))
		return false;
	*outer = (hir_ref)o;
	return true;
}

/* Literals and sizes are copied; any other node becomes an input. */
static hir_ref import_node(struct elab *e, hir_ref outer)
{
	struct builder *b = e->em.b;
	uint64_t known;
	hir_ref r;
	if (map_get(&b->imported, map_key_u64(outer), &known))
		return (hir_ref)known;
	struct hir_node n = b->outer->nodes.at[outer];
	if ((n.kind == HIR_CONST && n.data) || n.kind == HIR_DIM) {
		vec_push(&b->nodes, n);
		r = b->nodes.len - 1;
	} else {
		const char *name = n.kind == HIR_INPUT ? b->outer->inputs.at[n.index].name : arena_printf(e->em.f->arena, "v%u", outer);
		r = emit_input(&e->em, name, &n.type, n.build_time, n.at);
		b->inputs.at[b->inputs.len - 1].param = n.kind == HIR_INPUT && b->outer->inputs.at[n.index].param;
	}
	map_put(&b->imported, map_key_u64(outer), r);
	map_put(&b->origins, map_key_u64(r), outer);
	return r;
}

static hir_ref import_into(void *ctx, hir_ref r) { return import_node(ctx, r); }

struct value body_import_value(struct elab *e, struct value v) { return value_map_tensors(&e->em, v, import_into, e); }

void body_import_locals(struct elab *e)
{
	for (uint32_t i = e->frame->base; i < e->locals.len; i++)
		e->locals.at[i].value = body_import_value(e, e->locals.at[i].value);
}

/* ---- live nodes ---- */

static void body_mark_arg(const struct builder *b, const struct hir_arg *a, bool *live)
{
	if (a->kind == ARG_TENSOR)
		live[a->u.tensor] = true;
	for (uint32_t i = 0; a->kind == ARG_LIST && i < a->u.list.n; i++)
		body_mark_arg(b, &b->args.at[a->u.list.start + i], live);
}

/* Marks the nodes that marked nodes need, and those with effects. */
static void body_mark_live(const struct builder *b, bool *live)
{
	for (hir_ref r = b->nodes.len; r-- > 0;) {
		const struct hir_node *n = &b->nodes.at[r];
		live[r] = live[r] || hir_has_effect(n);
		if (!live[r])
			continue;
		if (n->kind == HIR_RESULT)
			live[n->source] = true;
		for (uint32_t i = 0; i < n->n_args; i++)
			body_mark_arg(b, &b->args.at[n->args + i], live);
	}
}

/* ---- copying ---- */

static struct hir_arg copy_arg(struct elab *e, const struct builder *from, struct hir_arg a, const hir_ref *map)
{
	if (a.kind == ARG_TENSOR)
		a.u.tensor = map[a.u.tensor];
	if (a.kind != ARG_LIST)
		return a;
	struct hir_arg *items = ARENA_ARRAY(e->em.f->arena, struct hir_arg, a.u.list.n + 1);
	for (uint32_t i = 0; i < a.u.list.n; i++)
		items[i] = copy_arg(e, from, from->args.at[a.u.list.start + i], map);
	return arg_list(&e->em, items, a.u.list.n);
}

static hir_ref copy_node(struct elab *e, const struct builder *from, hir_ref r, const hir_ref *map)
{
	struct hir_node n = from->nodes.at[r];
	struct hir_arg *args = ARENA_ARRAY(e->em.f->arena, struct hir_arg, n.n_args + 1);
	for (uint32_t i = 0; i < n.n_args; i++)
		args[i] = copy_arg(e, from, from->args.at[n.args + i], map);
	n.args = e->em.b->args.len;
	for (uint32_t i = 0; i < n.n_args; i++)
		vec_push(&e->em.b->args, args[i]);
	n.n_written = 0;
	if (n.kind == HIR_RESULT)
		n.source = map[n.source];
	e->em.b->effects = e->em.b->effects || hir_has_effect(&n);
	vec_push(&e->em.b->nodes, n);
	return e->em.b->nodes.len - 1;
}

void body_inline(struct elab *e, const struct builder *b, hir_ref *refs, uint32_t n, bool all)
{
	bool *live = ARENA_ARRAY(e->em.f->arena, bool, b->nodes.len + 1);
	hir_ref *map = ARENA_ARRAY(e->em.f->arena, hir_ref, b->nodes.len + 1), outer;
	for (uint32_t i = 0; i < n; i++)
		live[refs[i]] = true;
	if (all)
		memset(live, true, b->nodes.len);
	else
		body_mark_live(b, live);
	e->em.report.steps += b->nodes.len / 4;
	for (hir_ref r = 0; r < b->nodes.len; r++)
		if (live[r])
			map[r] = body_import_source(b, r, &outer) ? outer : copy_node(e, b, r, map);
	for (uint32_t i = 0; i < n; i++)
		refs[i] = map[refs[i]];
}

/* ---- cost ---- */

static bool is_elementwise(enum builtin bi)
{
	static const bool elementwise[BI_COUNT] = {
		[BI_CAST] = true,        [BI_NEG] = true,   [BI_SIN] = true,     [BI_COS] = true,         [BI_TAN] = true,
		[BI_EXP] = true,         [BI_LOG] = true,   [BI_LOG2] = true,    [BI_LOG10] = true,       [BI_SQRT] = true,
		[BI_RSQRT] = true,       [BI_POW] = true,   [BI_ABS] = true,     [BI_SIGN] = true,        [BI_CEIL] = true,
		[BI_FLOOR] = true,       [BI_ROUND] = true, [BI_CLIP] = true,    [BI_MINIMUM] = true,     [BI_MAXIMUM] = true,
		[BI_WHERE] = true,       [BI_ADD] = true,   [BI_SUB] = true,     [BI_MUL] = true,         [BI_DIV] = true,
		[BI_FLOORDIV] = true,    [BI_MOD] = true,   [BI_EQ] = true,      [BI_NE] = true,          [BI_LT] = true,
		[BI_LE] = true,          [BI_GT] = true,    [BI_GE] = true,      [BI_LOGICAL_AND] = true, [BI_LOGICAL_OR] = true,
		[BI_LOGICAL_NOT] = true, [BI_RELU] = true,  [BI_RELU6] = true,   [BI_RELU2] = true,       [BI_LEAKY_RELU] = true,
		[BI_SIGMOID] = true,     [BI_TANH] = true,  [BI_BIT_AND] = true, [BI_BIT_OR] = true,      [BI_BIT_XOR] = true,
		[BI_BIT_NOT] = true,     [BI_SHL] = true,   [BI_SHR] = true,
	};
	return elementwise[bi];
}

static bool rearranges_elements(enum builtin bi)
{
	return bi == BI_RESHAPE || bi == BI_SQUEEZE || bi == BI_UNSQUEEZE || bi == BI_TRANSPOSE || bi == BI_PERMUTE || bi == BI_SELECT ||
	       bi == BI_SLICE || bi == BI_ZEROS || bi == BI_ONES || bi == BI_FULL;
}

/* True if operand type `t` broadcasts to `to` for all sizes. */
static bool always_broadcasts(struct elab *e, const struct hir_type *t, const struct hir_type *to)
{
	int64_t one;
	for (uint32_t i = 0; i < t->rank; i++) {
		dim d = t->dims[t->rank - 1 - i];
		if (!dim_eq(d, to->dims[to->rank - 1 - i]) && !(dim_is_const(e->em.b->dims, d, &one) && one == 1))
			return false;
	}
	return true;
}

static bool cannot_fail(struct elab *e, const struct builder *b, const struct hir_node *n)
{
	bool moves = rearranges_elements(n->builtin);
	if (!moves && !is_elementwise(n->builtin))
		return false;
	if (moves && !has_constant_shape(&e->em, &n->type))
		return false;
	for (uint32_t i = 0; i < n->n_args; i++) {
		const struct hir_arg *a = &b->args.at[n->args + i];
		const struct hir_type *t = a->kind == ARG_TENSOR ? &b->nodes.at[a->u.tensor].type : NULL;
		if (t && (moves ? !has_constant_shape(&e->em, t) : !always_broadcasts(e, t, &n->type)))
			return false;
	}
	return true;
}

bool body_is_cheap(struct elab *e, const struct builder *b, uint32_t *cost)
{
	for (hir_ref r = 0; r < b->nodes.len; r++) {
		const struct hir_node *n = &b->nodes.at[r];
		if (n->kind == HIR_INPUT || n->kind == HIR_CONST || n->kind == HIR_DIM)
			continue;
		if (n->kind != HIR_BUILTIN || !cannot_fail(e, b, n))
			return false;
		*cost += n->type.rank ? 6 : 1;
	}
	return true;
}

/* ---- units ---- */

static const struct frame *function_frame(const struct elab *e)
{
	const struct frame *f = e->frame;
	while (f->up && !f->func)
		f = f->up;
	return f->func ? f : e->frame;
}

/* Gives an equal unit of an earlier build its positions in the present text. */
static struct hir_unit *move_unit(struct hir_unit *known, const struct hir_unit *u)
{
	if (known->at.source == u->at.source)
		return known;
	known->at = u->at;
	for (uint32_t i = 0; i < u->n_nodes; i++)
		known->nodes[i].at = u->nodes[i].at;
	return known;
}

/* Bodies that are alike but for the layers that they call are apart, so that a back end that prints sources can name them. */
static void hash_layers(struct hasher *h, const struct hir_unit *u)
{
	for (uint32_t i = 0; i < u->n_inputs; i++)
		if (u->inputs[i].param)
			hasher_add_str(h, u->inputs[i].name);
	for (uint32_t i = 0; i < u->n_nodes; i++)
		if (u->nodes[i].layer)
			hasher_add_str(h, u->nodes[i].layer);
}

/* Completes u from the nodes of the current builder. Returns an equal unit instead if there is one. */
static struct hir_unit *complete_unit(struct elab *e, struct hir_unit *u, const struct func *fn)
{
	char hex[33];
	uint64_t known;
	u->definition_name = fn ? name_text(e->em.f, fn->item->name) : "main";
	unit_copy_nodes(e, u);
	struct hasher *h = hasher_new();
	hasher_add_str(h, u->definition_name);
	hasher_add_hash(h, hir_unit_hash(u));
	hash_layers(h, u);
	u->identity = hasher_finish(h);
	if (map_get(&e->em.f->elab.units, u->identity, &known))
		return move_unit(((struct elab_unit *)(uintptr_t)known)->unit, u);
	hash_hex(u->identity, hex);
	u->symbol = arena_printf(e->em.f->arena, "%s_%.16s", u->definition_name, hex);
	u->dims = dims_copy(e->em.f->arena, u->dims); /* the sizes of the unit around it go on to grow */
	struct elab_unit *info = ARENA_NEW(e->em.f->arena, struct elab_unit);
	info->unit = u;
	map_put(&e->em.f->elab.units, u->identity, (uint64_t)(uintptr_t)info);
	return u;
}

struct body_unit body_unit(struct elab *e, struct builder *b, const struct body_spec *spec)
{
	const struct func *fn = function_frame(e)->func;
	bool *live = ARENA_ARRAY(e->em.f->arena, bool, b->nodes.len + 1);
	hir_ref *map = ARENA_ARRAY(e->em.f->arena, hir_ref, b->nodes.len + 1);
	struct body_unit out = {.captured = ARENA_ARRAY(e->em.f->arena, hir_ref, b->inputs.len + 1)};
	struct hir_unit *u = ARENA_NEW(e->em.f->arena, struct hir_unit);
	struct builder fresh;
	*u = (struct hir_unit){
		.file = function_frame(e)->mod->path, .at = spec->at, .opt = -1, .dims = b->dims, .n_outputs = spec->n_outputs};
	u->name = arena_printf(e->em.f->arena, "%s, %s", fn ? name_text(e->em.f, fn->name) : "main", spec->what);
	if (fn) {
		u->definition = fn->item->tokens;
		unit_set_function(e, u, fn);
		unit_attributes(u, fn);
		u->always_inline = u->never_inline = false;
	}
	builder_open(&e->em, &fresh);
	fresh.dims = b->dims;
	for (uint32_t i = 0; i < spec->n_outputs; i++)
		live[spec->outputs[i]] = true;
	body_mark_live(b, live);
	for (uint32_t i = 0; i < spec->n_inputs; i++) {
		const struct hir_node *n = &b->nodes.at[spec->inputs[i]];
		map[spec->inputs[i]] = emit_input(&e->em, b->inputs.at[n->index].name, &n->type, n->build_time, n->at);
		live[spec->inputs[i]] = false; /* copied */
	}
	for (hir_ref r = 0; r < b->nodes.len; r++) {
		const struct hir_node *n = &b->nodes.at[r];
		if (!live[r] || n->kind != HIR_INPUT)
			continue;
		map[r] = emit_input(&e->em, b->inputs.at[n->index].name, &n->type, n->build_time, n->at);
		fresh.inputs.at[fresh.inputs.len - 1].param = b->inputs.at[n->index].param;
		body_import_source(b, r, &out.captured[out.n_captured++]);
	}
	for (hir_ref r = 0; r < b->nodes.len; r++)
		if (live[r] && b->nodes.at[r].kind != HIR_INPUT)
			map[r] = copy_node(e, b, r, map);
	u->outputs = ARENA_ARRAY(e->em.f->arena, struct hir_output, spec->n_outputs + 1);
	for (uint32_t i = 0; i < spec->n_outputs; i++)
		u->outputs[i] = (struct hir_output){arena_printf(e->em.f->arena, "out%u", i), map[spec->outputs[i]], 0, false};
	out.unit = complete_unit(e, u, fn);
	builder_close(&e->em);
	return out;
}

/* ---- branches and loops ---- */

static void put_args(struct elab *e, struct hir_node *n, const hir_ref *refs, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct hir_arg a = arg_tensor(refs[i]);
		n->build_time = n->build_time && node_at(&e->em, refs[i])->build_time;
		vec_push(&e->em.b->args, a);
	}
	n->n_args += count;
}

/* The type of an output in the current unit. The callee may be the unit of an earlier body, with other sizes. */
static struct hir_type output_type(struct elab *e, const struct hir_node *n, uint32_t i)
{
	const struct hir_unit *u = n->callee;
	struct hir_type t = u->nodes[u->outputs[i].node].type;
	for (uint32_t k = 0; k < t.rank && u->dims != e->em.b->dims; k++)
		t.dims[k] = dim_translate(e->em.b->dims, u->dims, t.dims[k], n->callee_syms);
	return t;
}

static void put_results(struct elab *e, struct hir_node *n, uint32_t first, hir_ref *results)
{
	uint32_t n_outputs = n->callee->n_outputs;
	n->build_time = n->build_time && !hir_has_effect(n);
	e->em.b->effects = e->em.b->effects || hir_has_effect(n);
	n->type = (struct hir_type){.elem = DT_BOOL};
	for (uint32_t i = n_outputs; i-- > first;) {
		n->type = output_type(e, n, i);
		n->build_time = n->build_time && has_constant_shape(&e->em, &n->type);
	}
	vec_push(&e->em.b->nodes, *n);
	hir_ref source = e->em.b->nodes.len - 1;
	for (uint32_t i = first; i < n_outputs; i++) {
		struct hir_type t = output_type(e, n, i);
		results[i - first] = emit_result(&e->em, source, i - first, &t, n->at);
	}
}

static struct hir_node body_new_node(struct elab *e, enum hir_kind kind, const struct hir_unit *u, span at)
{
	uint32_t n = dims_syms(u->dims);
	dim *syms = ARENA_ARRAY(e->em.f->arena, dim, n + 1);
	for (uint32_t i = 0; i < n; i++)
		syms[i] = dim_sym(e->em.b->dims, i);
	return (struct hir_node){.kind = kind, .build_time = true, .args = e->em.b->args.len, .callee_syms = syms, .at = at};
}

void body_emit_if(struct elab *e, hir_ref cond, const struct body_unit *yes, const struct body_unit *no, hir_ref *results, span at)
{
	struct hir_node n = body_new_node(e, HIR_IF, yes->unit, at);
	n.callee = yes->unit;
	n.other = no->unit;
	put_args(e, &n, &cond, 1);
	put_args(e, &n, yes->captured, yes->n_captured);
	put_args(e, &n, no->captured, no->n_captured);
	put_results(e, &n, 0, results);
}

void body_emit_loop(struct elab *e, hir_ref go, const hir_ref *carried, uint32_t n_carried, const struct body_unit *body, hir_ref *results,
		    span at)
{
	struct hir_node n = body_new_node(e, HIR_LOOP, body->unit, at);
	n.callee = body->unit;
	put_args(e, &n, &go, 1);
	put_args(e, &n, carried, n_carried);
	put_args(e, &n, body->captured, body->n_captured);
	put_results(e, &n, 1, results);
}

hir_ref emit_placeholder(struct elab *e, const struct hir_type *t, span at)
{
	struct hir_arg sizes[HIR_MAX_RANK], args[2] = {{.kind = ARG_NONE}, {.kind = ARG_NONE}};
	for (uint32_t i = 0; i < t->rank; i++)
		sizes[i] = arg_dim(t->dims[i]);
	args[0] = arg_list(&e->em, sizes, t->rank);
	return emit_builtin(&e->em, BI_ZEROS, t, args, 2, at);
}
