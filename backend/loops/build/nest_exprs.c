/* Expressions of a nest under construction: equal ones are added once. */
#include "backend/loops/build/nest.h"
#include <string.h>

static void access_clear(const struct builder *b, struct loop_access *a)
{
	memset(a, 0, sizeof *a);
	a->base = a->scale = b->zero;
	a->index = LOOP_NONE;
	for (uint32_t k = 0; k < LOOP_MAX; k++)
		a->stride[k] = b->zero;
}

void nest_access_add(const struct builder *b, struct loop_access *a, const struct coord *c, dim scale)
{
	a->base = dim_add(b->dims, a->base, dim_mul(b->dims, c->base, scale));
	for (uint32_t k = 0; k < LOOP_MAX; k++)
		if (!dim_eq(c->coef[k], b->zero))
			a->stride[k] = dim_add(b->dims, a->stride[k], dim_mul(b->dims, c->coef[k], scale));
}

void nest_access_at(const struct builder *b, const struct hir_type *t, enum layout layout, const struct coords *c, struct loop_access *a)
{
	dim strides[HIR_MAX_RANK];
	access_clear(b, a);
	coords_strides(b, t, layout, strides);
	for (uint32_t k = 0; k < t->rank; k++)
		nest_access_add(b, a, &c->at[k], strides[k]);
}

struct loop_expr nest_expr(const struct builder *b, enum loop_expr_kind kind, dtype elem, bool in_reduction)
{
	struct loop_expr e;
	memset(&e, 0, sizeof e);
	e.kind = kind;
	e.elem = elem;
	e.in_reduction = in_reduction;
	e.args[0] = e.args[1] = e.args[2] = LOOP_NONE;
	e.extent = b->zero;
	access_clear(b, &e.access);
	return e;
}

static bool expr_same(const struct loop_expr *x, const struct loop_expr *y)
{
	return x->kind == y->kind && x->op == y->op && x->elem == y->elem && x->in_reduction == y->in_reduction && x->var == y->var &&
	       x->i == y->i && memcmp(&x->f, &y->f, sizeof x->f) == 0 && dim_eq(x->extent, y->extent) &&
	       memcmp(x->args, y->args, sizeof x->args) == 0 && x->access.buffer == y->access.buffer &&
	       x->access.index == y->access.index && dim_eq(x->access.base, y->access.base) && dim_eq(x->access.scale, y->access.scale) &&
	       memcmp(x->access.stride, y->access.stride, sizeof x->access.stride) == 0;
}

uint32_t nest_put(struct nest_builder *n, struct loop_expr e)
{
	for (uint32_t i = 0; i < n->exprs.len; i++)
		if (expr_same(&n->exprs.at[i], &e))
			return i;
	vec_push(&n->exprs, e);
	return n->exprs.len - 1;
}

uint32_t nest_put_int(struct nest_builder *n, dtype elem, int64_t i, bool in_reduction)
{
	struct loop_expr e = nest_expr(n->b, LOOP_CONST, elem, in_reduction);
	e.i = i;
	return nest_put(n, e);
}

uint32_t nest_put_op(struct nest_builder *n, enum ir_op op, dtype elem, bool in_reduction, const uint32_t *args, uint32_t n_args)
{
	struct loop_expr e = nest_expr(n->b, LOOP_OP, elem, in_reduction);
	e.op = op;
	for (uint32_t k = 0; k < n_args; k++)
		e.args[k] = args[k];
	return nest_put(n, e);
}

uint32_t nest_put_cast(struct nest_builder *n, uint32_t value, dtype elem)
{
	if (n->exprs.at[value].elem == elem)
		return value;
	return nest_put_op(n, OP_CAST, elem, n->exprs.at[value].in_reduction, &value, 1);
}

uint32_t nest_put_extent(struct nest_builder *n, dim x, bool in_reduction)
{
	int64_t v;
	if (dim_is_const(n->b->dims, x, &v))
		return nest_put_int(n, DT_INT64, v, in_reduction);
	struct loop_expr e = nest_expr(n->b, LOOP_EXTENT, DT_INT64, in_reduction);
	e.extent = x;
	return nest_put(n, e);
}

uint32_t nest_put_coord(struct nest_builder *n, const struct coord *c, bool in_reduction)
{
	const struct builder *b = n->b;
	uint32_t sum = LOOP_NONE;
	for (uint32_t k = 0; k < LOOP_MAX; k++) {
		if (dim_eq(c->coef[k], b->zero))
			continue;
		struct loop_expr e = nest_expr(b, LOOP_INDEX, DT_INT64, in_reduction);
		e.var = k;
		uint32_t term = nest_put(n, e);
		if (!dim_eq(c->coef[k], b->one))
			term = nest_put_op(n, OP_MUL, DT_INT64, in_reduction,
					   (uint32_t[]){term, nest_put_extent(n, c->coef[k], in_reduction)}, 2);
		sum = sum == LOOP_NONE ? term : nest_put_op(n, OP_ADD, DT_INT64, in_reduction, (uint32_t[]){sum, term}, 2);
	}
	if (sum == LOOP_NONE)
		return nest_put_extent(n, c->base, in_reduction);
	if (dim_eq(c->base, b->zero))
		return sum;
	return nest_put_op(n, OP_ADD, DT_INT64, in_reduction, (uint32_t[]){sum, nest_put_extent(n, c->base, in_reduction)}, 2);
}
