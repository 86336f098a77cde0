#include "frontend/elab/unit_sizes.h"

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

static const char *unit_sizes_size_name(struct sizes *z, const struct func *fn, uint32_t arg, uint32_t axis, dim d)
{
	uint32_t sym;
	const char *name = declared_name(z->e, fn, arg, axis);
	return name ? name : dim_is_sym(z->e->em.b->dims, d, &sym) ? dims_sym_name(z->e->em.b->dims, sym) : NULL;
}

void collect_sizes(struct sizes *z, const struct func *fn, struct value v, uint32_t arg)
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
		add_size(z, t.dims[i], unit_sizes_size_name(z, fn, arg, i, t.dims[i]));
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

void map_sizes(struct sizes *z, struct dims *to)
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

dim unit_size(struct sizes *z, struct dims *to, dim d)
{
	int64_t v;
	if (dim_is_const(z->e->em.b->dims, d, &v))
		return dim_const(to, v);
	for (uint32_t i = 0; i < z->exprs.len; i++)
		if (dim_eq(z->exprs.at[i], d))
			return z->own.at[i];
	return dim_const(to, 0);
}

void sizes_free(struct sizes *z)
{
	vec_free(&z->exprs);
	vec_free(&z->names);
	vec_free(&z->syms);
	vec_free(&z->values);
	vec_free(&z->own);
}
