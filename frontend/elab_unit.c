/* Units: what a call of a function with tensors becomes. Equal definition, compile-time arguments, element types, shapes (up to the names of
 * run-time sizes) and build-time flags make one unit; see `identity_of`. */
#include <string.h>
#include "base/bug.h"
#include "frontend/elab_branch.h"
#include "frontend/literal.h"

/* ---- the plan of a call: the caller's sizes as symbols of the unit ---- */

struct sizes {
	struct elab *e;
	VEC(dim) exprs; /* the distinct sizes of the arguments, caller's dims, not constant */
	VEC(const char *) names;
	VEC(uint32_t) syms; /* scratch: symbols of one expression */
	uint32_t *uses;     /* by caller's symbol: in how many of exprs */
	dim *map;           /* by caller's symbol: the unit's dim */
	bool *mapped;
	VEC(dim) values; /* by the unit's symbol: the caller's dim */
	VEC(dim) own;    /* by exprs: the unit's dim */
};

static void add_size(struct sizes *z, dim d, const char *name)
{
	if (dim_is_const(z->e->b->dims, d, NULL))
		return;
	for (uint32_t i = 0; i < z->exprs.len; i++)
		if (dim_eq(z->exprs.at[i], d))
			return;
	vec_push(&z->exprs, d);
	vec_push(&z->names, name);
}

/* The name that the signature gives to a dimension of argument i. */
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
	return name_text(e->f, token_name(e->f, fn->mod, ast_token(t, dims.at[axis])));
}

static const char *size_name(struct sizes *z, const struct func *fn, uint32_t arg, uint32_t axis, dim d)
{
	uint32_t sym;
	const char *name = declared_name(z->e, fn, arg, axis);
	return name ? name : dim_is_sym(z->e->b->dims, d, &sym) ? dims_sym_name(z->e->b->dims, sym) : NULL;
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
	struct core_type t = *type_of(z->e, v.u.t);
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
	dim_each_sym(z->e->b->dims, d, note_sym, z);
}

static dim new_size(struct sizes *z, struct dims *to, const char *name, dim value)
{
	uint32_t n = dims_syms(to);
	vec_push(&z->values, value);
	return dim_new_sym(to, name ? name : arena_printf(z->e->f->arena, "D%u", n));
}

/* A size whose symbols occur in no other size becomes one fresh symbol; the others keep their relations. */
static void map_sizes(struct sizes *z, struct dims *to)
{
	struct dims *from = z->e->b->dims;
	uint32_t n = dims_syms(from);
	struct arena *a = z->e->f->arena;
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
		own = alone ? new_size(z, to, z->names.at[i], d) : dim_translate(to, from, d, z->map);
		vec_push(&z->own, own);
	}
}

static dim own_size(struct sizes *z, struct dims *to, dim d)
{
	int64_t v;
	if (dim_is_const(z->e->b->dims, d, &v))
		return dim_const(to, v);
	for (uint32_t i = 0; i < z->exprs.len; i++)
		if (dim_eq(z->exprs.at[i], d))
			return z->own.at[i];
	return dim_const(to, 0);
}

struct value text_with(struct elab *e, const struct text *old, struct value values)
{
	struct text *text = ARENA_NEW(e->f->arena, struct text);
	*text = (struct text){old->template, values};
	return (struct value){.kind = V_TEXT, .u.text = text};
}

static struct value plan_value(struct sizes *z, struct unit_plan *p, struct value v, const char *name)
{
	struct elab *e = z->e;
	if (v.kind == V_DIM)
		return value_dim(p->dims, own_size(z, p->dims, v.u.d));
	if (value_is_seq(v)) {
		struct value copy = value_seq(e->f->arena, v.kind, v.u.seq->n);
		for (uint32_t i = 0; i < v.u.seq->n; i++)
			copy.u.seq->at[i] = plan_value(z, p, v.u.seq->at[i], arena_printf(e->f->arena, "%s.%u", name, i));
		return copy;
	}
	if (v.kind == V_RANGE) {
		struct range *r = ARENA_NEW(e->f->arena, struct range);
		*r = (struct range){plan_value(z, p, v.u.range->from, name), plan_value(z, p, v.u.range->to, name), v.u.range->step};
		return (struct value){.kind = V_RANGE, .u.range = r};
	}
	if (v.kind == V_TEXT)
		return text_with(e, v.u.text, plan_value(z, p, v.u.text->values, name));
	if (v.kind != V_TENSOR)
		return v;
	struct leaf l = {.name = name, .type = *type_of(e, v.u.t), .build_time = node_at(e, v.u.t)->build_time, .caller = v.u.t};
	for (uint32_t i = 0; i < l.type.rank; i++)
		l.type.dims[i] = own_size(z, p->dims, l.type.dims[i]);
	vec_push(&p->leaves, l);
	return value_tensor(p->leaves.len - 1);
}

void unit_plan_free(struct unit_plan *p)
{
	param_list_free(&p->params);
	vec_free(&p->leaves);
}

/* ---- identity and names ---- */

static void hash_dim(struct hasher *h, const struct dims *d, dim x)
{
	struct dim_step steps[64];
	uint32_t n = dim_program(d, x, steps, 64);
	hasher_add_u64(h, n);
	for (uint32_t i = 0; i < n && i < 64; i++) {
		hasher_add_u64(h, steps[i].op);
		hasher_add_u64(h, (uint64_t)steps[i].value);
	}
	if (n > 64) {
		struct buf b = {0};
		dim_print(d, x, &b);
		hasher_add_str(h, b.at);
		buf_free(&b);
	}
}

static void hash_planned(struct elab *e, struct hasher *h, const struct unit_plan *p, struct value v)
{
	value_hash(h, e->f, v);
	if (v.kind == V_DIM)
		hash_dim(h, p->dims, v.u.d);
	if (value_is_seq(v))
		for (uint32_t i = 0; i < v.u.seq->n; i++)
			hash_planned(e, h, p, v.u.seq->at[i]);
	if (v.kind == V_TEXT)
		hash_planned(e, h, p, v.u.text->values);
	if (v.kind == V_RANGE) {
		hash_planned(e, h, p, v.u.range->from);
		hash_planned(e, h, p, v.u.range->to);
	}
	if (v.kind != V_TENSOR)
		return;
	const struct leaf *l = &p->leaves.at[v.u.t];
	hasher_add_u64(h, (uint64_t)l->type.elem << 16 | (uint64_t)l->type.rank << 8 | l->build_time);
	for (uint32_t i = 0; i < l->type.rank; i++)
		hash_dim(h, p->dims, l->type.dims[i]);
}

static hash128 identity_of(struct elab *e, const struct unit_plan *p)
{
	struct hasher *h = hasher_new();
	hasher_add_str(h, p->fn->mod->path);
	hasher_add_str(h, name_text(e->f, p->fn->item->name));
	hasher_add_str(h, name_text(e->f, p->fn->name));
	if (p->fn->self)
		hasher_add_hash(h, p->fn->self->key);
	hasher_add_u64(h, p->n_values);
	for (uint32_t i = 0; i < p->n_values; i++)
		hash_planned(e, h, p, p->values[i]);
	return hasher_finish(h);
}

static void print_leaf(struct unit_plan *p, const struct leaf *l, struct buf *b)
{
	buf_puts(b, " [");
	for (uint32_t i = 0; i < l->type.rank; i++) {
		if (i)
			buf_puts(b, ", ");
		dim_print(p->dims, l->type.dims[i], b);
	}
	buf_putc(b, ']');
}

/* (n=2, flag=true): the arguments known at compile time. */
static void print_static_args(struct elab *e, struct unit_plan *p, struct buf *b)
{
	struct ast_fn decl = ast_fn(&p->fn->mod->ast, p->fn->node);
	bool any = false;
	for (uint32_t i = 0; i < p->n_values; i++) {
		if (value_holds(p->values[i], V_TENSOR))
			continue;
		buf_puts(b, any ? ", " : "(");
		any = true;
		buf_printf(b, "%s=", name_text(e->f, token_name(e->f, p->fn->mod, ast_token(&p->fn->mod->ast, decl.params.at[i]))));
		value_print(e->f, p->dims, p->values[i], b);
	}
	if (any)
		buf_putc(b, ')');
}

static const char *unit_name(struct elab *e, struct unit_plan *p)
{
	struct buf b = {0};
	const char *fn = name_text(e->f, p->fn->name);
	if (p->fn->self) {
		instance_print(e->f, p->fn->self, &b);
		if (strcmp(fn, "forward"))
			buf_printf(&b, ".%s", fn);
	} else {
		buf_puts(&b, fn);
	}
	print_static_args(e, p, &b);
	for (uint32_t i = 0; i < p->leaves.len; i++)
		print_leaf(p, &p->leaves.at[i], &b);
	const char *s = arena_strndup(e->f->arena, b.at, b.len);
	buf_free(&b);
	return s;
}

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

static void set_attributes(struct core_unit *u, const struct module *m, struct ast_nodes attrs)
{
	u->always_inline = u->always_inline || attr_find(m, attrs, "inline");
	u->never_inline = u->never_inline || attr_find(m, attrs, "noinline");
	if (attr_find(m, attrs, "opt"))
		u->opt = opt_level(m, attr_find(m, attrs, "opt"));
}

void unit_attributes(struct core_unit *u, const struct func *fn)
{
	if (fn->self)
		set_attributes(u, fn->item->mod, ast_fn(&fn->item->mod->ast, fn->item->node).attrs);
	if (fn->node)
		set_attributes(u, fn->mod, ast_fn(&fn->mod->ast, fn->node).attrs);
}

static void add_outputs(struct elab *e, struct value *v, struct core_unit *u, uint32_t cap)
{
	if (value_is_seq(*v)) {
		struct value copy = value_seq(e->f->arena, v->kind, v->u.seq->n);
		for (uint32_t i = 0; i < copy.u.seq->n; i++) {
			copy.u.seq->at[i] = v->u.seq->at[i];
			add_outputs(e, &copy.u.seq->at[i], u, cap);
		}
		*v = copy;
	} else if (v->kind == V_TEXT) {
		struct value values = v->u.text->values;
		add_outputs(e, &values, u, cap);
		*v = text_with(e, v->u.text, values);
	} else if (v->kind == V_TENSOR && u->n_outputs < cap) {
		u->outputs[u->n_outputs] = (struct core_output){arena_printf(e->f->arena, "out%u", u->n_outputs), v->u.t};
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

#define KEEP(to, from, n, T) ((to) = ARENA_ARRAY(e->f->arena, T, (n) + 1), (n) ? memcpy((to), (from), sizeof(T) * (n)) : NULL)

struct core_unit *unit_finish(struct elab *e, const struct func *fn, hash128 identity, const char *name, struct value *result)
{
	struct core_unit *u = ARENA_NEW(e->f->arena, struct core_unit);
	struct builder *b = e->b;
	char hex[33];
	uint32_t outs = count_tensors(*result);
	hash_hex(identity, hex);
	*u = (struct core_unit){
		.name = name, .identity = identity, .file = fn->mod->path, .at = node_span(fn->mod, fn->node), .opt = -1, .dims = b->dims};
	u->symbol = arena_printf(e->f->arena, "%s_%.16s", name_text(e->f, fn->item->name), hex);
	u->effects = b->effects;
	u->definition = fn->item->tokens;
	unit_attributes(u, fn);
	u->outputs = ARENA_ARRAY(e->f->arena, struct core_output, outs + 1);
	add_outputs(e, result, u, outs);
	if (u->n_outputs == 1)
		u->outputs[0].name = "out";
	u->n_inputs = b->inputs.len;
	u->n_nodes = b->nodes.len;
	u->n_args = b->args.len;
	KEEP(u->inputs, b->inputs.at, u->n_inputs, struct core_input);
	KEEP(u->nodes, b->nodes.at, u->n_nodes, struct core_node);
	KEEP(u->args, b->args.at, u->n_args, struct core_arg);
	builder_close(e);
	return u;
}

/* ---- making ---- */

struct loading {
	struct elab *e;
	const struct unit_plan *p;
};

static core_ref load_leaf(void *ctx, core_ref leaf)
{
	const struct loading *to = ctx;
	const struct leaf *l = &to->p->leaves.at[leaf];
	return emit_input(to->e, l->name, &l->type, l->build_time, to->p->at);
}

static struct value load_planned(struct elab *e, const struct unit_plan *p, struct value v)
{
	struct loading to = {e, p};
	return value_map_tensors(e, v, load_leaf, &to);
}

static void load_params(struct elab *e, const struct unit_plan *p)
{
	for (uint32_t i = 0; i < p->params.at.len; i++) {
		struct iparam *ip = p->params.at.at[i];
		struct core_type t = ip->type;
		for (uint32_t k = 0; k < t.rank; k++) {
			int64_t v = 0;
			dim_is_const(ip->dims, t.dims[k], &v);
			t.dims[k] = dim_const(e->b->dims, v);
		}
		core_ref r = emit_input(e, p->params.names.at[i], &t, true, ip->at);
		map_put(&e->b->params, map_key_u64(ip->id), r);
	}
}

/* An entry's result with its numbers as tensors: outputs keep their places. */
static struct value all_tensors(struct elab *e, struct value v, span at)
{
	if (value_is_scalar(v))
		return value_tensor(emit_scalar(e, v, scalar_type(v), at));
	if (!value_is_seq(v))
		return v;
	struct value out = value_seq(e->f->arena, v.kind, v.u.seq->n);
	for (uint32_t i = 0; i < out.u.seq->n; i++)
		out.u.seq->at[i] = all_tensors(e, v.u.seq->at[i], at);
	return out;
}

static struct unit_info *make(struct elab *e, struct unit_plan *p, hash128 identity)
{
	struct unit_info *info = ARENA_NEW(e->f->arena, struct unit_info);
	struct builder b;
	uint32_t errors = e->errors;
	builder_open(e, &b);
	b.dims = p->dims;
	load_params(e, p);
	struct value *values = ARENA_ARRAY(e->f->arena, struct value, p->n_values + 1);
	for (uint32_t i = 0; i < p->n_values; i++)
		values[i] = load_planned(e, p, p->values[i]);
	e->next_plan = b.outer && p->is_call ? p : NULL;
	info->result = run_body(e, p->fn, values, NULL, p->at, p->what);
	if (!p->is_call && value_holds(info->result, V_TENSOR))
		info->result = all_tensors(e, info->result, p->at);
	info->failed = e->errors != errors || e->gave_up || value_holds(info->result, V_POISON);
	if (info->failed)
		builder_close(e);
	else
		info->unit = unit_finish(e, p->fn, identity, unit_name(e, p), &info->result);
	return info;
}

static bool params_known(struct elab *e, const struct unit_plan *p)
{
	for (uint32_t i = 0; i < p->params.at.len; i++) {
		const struct iparam *ip = p->params.at.at[i];
		if (ip->known)
			continue;
		if (!e->errors) /* else the reason was reported */
			elab_error(e, DIAG_PARAM_TYPE, ip->at, "the type of parameter `%s` is not solved", name_text(e->f, ip->name));
		return false;
	}
	return true;
}

const struct unit_info *unit_get(struct elab *e, struct unit_plan *p)
{
	hash128 identity = identity_of(e, p);
	uint64_t known;
	static const struct unit_info failed = {.failed = true};
	if (!params_known(e, p))
		return &failed;
	if (map_get(&e->f->units, identity, &known))
		return (struct unit_info *)(uintptr_t)known;
	BUG_ON(e->f->arena != e->f->lasting); /* units outlive a definition's check */
	struct unit_info *info = make(e, p, identity);
	if (!info->failed || !e->quiet) /* what was not reported is to be tried again */
		map_put(&e->f->units, identity, (uint64_t)(uintptr_t)info);
	return info;
}

/* ---- the call ---- */

static struct core_type outer_type(struct elab *e, const struct core_unit *u, const struct core_type *t, const dim *syms)
{
	struct core_type out = *t;
	for (uint32_t i = 0; i < t->rank; i++)
		out.dims[i] = dim_translate(e->b->dims, u->dims, t->dims[i], syms);
	return out;
}

static struct value outer_value(struct elab *e, const struct core_unit *u, struct value v, core_ref call, const dim *syms, span at)
{
	if (value_is_seq(v)) {
		struct value copy = value_seq(e->f->arena, v.kind, v.u.seq->n);
		for (uint32_t i = 0; i < v.u.seq->n; i++)
			copy.u.seq->at[i] = outer_value(e, u, v.u.seq->at[i], call, syms, at);
		return copy;
	}
	if (v.kind == V_DIM)
		return value_dim(e->b->dims, dim_translate(e->b->dims, u->dims, v.u.d, syms));
	if (v.kind == V_TEXT)
		return text_with(e, v.u.text, outer_value(e, u, v.u.text->values, call, syms, at));
	if (v.kind != V_TENSOR)
		return v;
	struct core_type t = outer_type(e, u, &u->nodes[u->outputs[v.u.t].node].type, syms);
	return value_tensor(emit_result(e, call, v.u.t, &t, at));
}

static core_ref emit_call(struct elab *e, const struct unit_plan *p, struct core_unit *u, const dim *syms)
{
	uint32_t n = p->params.at.len + p->leaves.len;
	struct core_arg *args = ARENA_ARRAY(e->f->arena, struct core_arg, n + 1);
	struct core_node node = {.kind = CORE_CALL, .build_time = !u->effects, .callee = u, .callee_syms = syms, .n_args = n, .at = p->at};
	for (uint32_t i = 0; i < n; i++) {
		bool param = i < p->params.at.len;
		struct value v =
			param ? param_value(e, p->params.at.at[i], p->at) : value_tensor(p->leaves.at[i - p->params.at.len].caller);
		if (v.kind != V_TENSOR)
			return CORE_NONE;
		args[i] = arg_tensor(v.u.t);
		node.build_time = node.build_time && node_at(e, v.u.t)->build_time;
	}
	node.args = e->b->args.len;
	for (uint32_t i = 0; i < n; i++)
		vec_push(&e->b->args, args[i]);
	node.type = (struct core_type){.elem = DT_BOOL};
	if (u->n_outputs)
		node.type = outer_type(e, u, &u->nodes[u->outputs[0].node].type, syms);
	e->b->effects = e->b->effects || u->effects;
	for (uint32_t i = 0; i < node.type.rank; i++)
		node.build_time = node.build_time && dim_is_const(e->b->dims, node.type.dims[i], NULL);
	vec_push(&e->b->nodes, node);
	return e->b->nodes.len - 1;
}

static struct value finish_call(struct elab *e, struct unit_plan *p, const struct sizes *z)
{
	const struct unit_info *info = unit_get(e, p);
	if (info->failed)
		return VALUE_POISON;
	dim *syms = ARENA_ARRAY(e->f->arena, dim, z->values.len + 1);
	for (uint32_t i = 0; i < z->values.len; i++)
		syms[i] = z->values.at[i];
	core_ref call = CORE_NONE;
	bool needed = info->unit->n_outputs || info->unit->effects;
	if (needed)
		call = emit_call(e, p, info->unit, syms);
	if (needed && call == CORE_NONE)
		return VALUE_POISON;
	return outer_value(e, info->unit, info->result, call, syms, p->at);
}

struct value call_unit(struct elab *e, struct func *fn, struct value *values, const span *ats, uint32_t n, span at, const char *what)
{
	struct unit_plan p = {.fn = fn, .dims = dims_new(e->f->arena), .n_values = n, .at = at, .what = what, .is_call = true};
	struct sizes z = {.e = e};
	struct ast_fn decl = ast_fn(&fn->mod->ast, fn->node);
	(void)ats;
	p.values = ARENA_ARRAY(e->f->arena, struct value, n + 1);
	if (fn->self)
		params_of(e, (struct value){.kind = V_LAYER, .u.layer = fn->self}, "", &p.params);
	for (uint32_t i = 0; i < n; i++) {
		e->steps += value_total(values[i]);
		collect_sizes(&z, fn, values[i], i);
	}
	map_sizes(&z, p.dims);
	for (uint32_t i = 0; i < n; i++) {
		const char *name = name_text(e->f, token_name(e->f, fn->mod, ast_token(&fn->mod->ast, decl.params.at[i])));
		p.values[i] = plan_value(&z, &p, values[i], name);
		params_of(e, values[i], name, &p.params);
	}
	struct value v = finish_call(e, &p, &z);
	vec_free(&z.exprs);
	vec_free(&z.names);
	vec_free(&z.syms);
	vec_free(&z.values);
	vec_free(&z.own);
	unit_plan_free(&p);
	return v;
}

/* ---- initializers ---- */

static bool init_fits(struct elab *e, struct iparam *p, struct value *v, span at)
{
	struct core_type have, want = p->type;
	if (value_is_scalar(*v)) {
		core_ref r = emit_scalar(e, *v, want.elem, at);
		if (r == CORE_NONE)
			return false;
		*v = value_tensor(r);
	}
	if (v->kind != V_TENSOR) {
		if (!is_poison(*v))
			elab_error(e, DIAG_PARAM_INIT, at, "the initializer of `%s` is %s, not a tensor", name_text(e->f, p->name),
				   elab_value_text(e, *v));
		return false;
	}
	have = *type_of(e, v->u.t);
	bool same = have.rank == want.rank;
	for (uint32_t i = 0; i < want.rank; i++) {
		int64_t n = -1;
		dim_is_const(p->dims, want.dims[i], &n);
		want.dims[i] = dim_const(e->b->dims, n);
		same = same && dim_eq(want.dims[i], have.dims[i]);
	}
	if (!same || !dtype_widens(have.elem, want.elem)) {
		struct diag *g =
			elab_error(e, DIAG_PARAM_INIT, at, "the initializer of `%s` is %s, but the parameter is %s%s",
				   name_text(e->f, p->name), elab_value_text(e, *v), dtype_text(want.elem), elab_shape_text(e, &want));
		diag_secondary(e->out, g, p->at, "declared here");
		return false;
	}
	*v = value_tensor(emit_cast(e, v->u.t, want.elem, at));
	return true;
}

struct core_unit *param_init(struct elab *e, struct iparam *p)
{
	struct module *m = p->owner->item->mod;
	struct ast_const c = ast_const(&m->ast, p->node);
	uint64_t known;
	if (!c.value || !p->known)
		return NULL;
	struct hasher *h = hasher_new();
	hasher_add_str(h, "initializer");
	hasher_add_hash(h, p->owner->key);
	hasher_add_str(h, name_text(e->f, p->name));
	hash128 identity = hasher_finish(h);
	if (map_get(&e->f->units, identity, &known))
		return (struct core_unit *)(uintptr_t)known;
	BUG_ON(e->f->arena != e->f->lasting);
	struct func fn = {.mod = m, .item = p->owner->item, .name = p->name};
	struct frame fr = {.up = e->frame, .mod = m, .self = p->owner, .base = e->locals.len, .call_at = SPAN_NONE};
	struct builder b;
	struct core_unit *u = NULL;
	builder_open(e, &b);
	e->frame = &fr;
	struct value v = eval(e, c.value);
	bool ok = init_fits(e, p, &v, node_span(m, c.value));
	e->frame = fr.up;
	if (ok)
		u = unit_finish(e, &fn, identity, arena_printf(e->f->arena, "initializer of %s", name_text(e->f, p->name)), &v);
	else
		builder_close(e);
	if (u)
		u->at = p->at;
	map_put(&e->f->units, identity, (uint64_t)(uintptr_t)u);
	return u;
}
