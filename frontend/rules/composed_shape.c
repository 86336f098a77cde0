/* Rules of builtins that move elements, composed of others. */
#include "frontend/rules/builtin.h"

static struct value composed_shape_operand(const struct builtin_call *c, uint32_t i) { return value_tensor(c->operand[i]); }

/* reshape_as, view_as, expand_as */
struct value rule_shape_as(struct emitter *e, struct builtin_call *c)
{
	return COMPOSE(c->bi == BI_EXPAND_AS ? BI_EXPAND : BI_RESHAPE, composed_shape_operand(c, 0),
		       list_of_sizes(e, type_of(e, c->operand[1])));
}

struct value rule_ravel(struct emitter *e, struct builtin_call *c) { return COMPOSE(BI_FLATTEN, composed_shape_operand(c, 0)); }

/* new_zeros, new_ones */
struct value rule_new(struct emitter *e, struct builtin_call *c)
{
	struct value type = c->v[2];
	if (type.kind == V_NONE)
		type = (struct value){.kind = V_DTYPE, .u.dt = type_of(e, c->operand[0])->elem};
	return COMPOSE(c->bi == BI_NEW_ZEROS ? BI_ZEROS : BI_ONES, c->v[1], type);
}

struct value rule_unflatten(struct emitter *e, struct builtin_call *c)
{
	struct hir_type t = *type_of(e, c->operand[0]);
	struct value sizes[HIR_MAX_RANK];
	uint32_t axis, n = item_count(c->v[2]), at = 0;
	if (!need_axis(e, c, 1, t.rank, &axis))
		return VALUE_POISON;
	if (!n || t.rank - 1u + n > HIR_MAX_RANK)
		return rule_error(e, c, DIAG_RANK, c->at, "the result must have at most %d dimensions", HIR_MAX_RANK);
	for (uint32_t k = 0; k < t.rank; k++)
		for (uint32_t i = 0; i < (k == axis ? n : 1); i++)
			sizes[at++] = k == axis ? item_of(c->v[2], i) : value_dim(e->b->dims, t.dims[k]);
	return COMPOSE(BI_RESHAPE, composed_shape_operand(c, 0), list_of(e, sizes, at));
}

/* fliplr, flipud */
struct value rule_flip_side(struct emitter *e, struct builtin_call *c)
{
	uint32_t axis = c->bi == BI_FLIPLR;
	if (rank_of(e, composed_shape_operand(c, 0)) <= axis)
		return rule_error(e, c, DIAG_RANK, c->ats[0], "needs a tensor of at least %u dimensions", axis + 1);
	return COMPOSE(BI_FLIP, composed_shape_operand(c, 0), value_int(axis));
}

/* hstack joins vectors, and the columns of others; vstack makes rows of vectors. */
struct value rule_stack_side(struct emitter *e, struct builtin_call *c)
{
	struct value list = c->v[0];
	uint32_t n = item_count(list);
	if (!value_is_seq(list) || !n || !is_tensor(item_of(list, 0)))
		return COMPOSE(BI_CONCAT, list); /* reports it */
	bool rows = c->bi == BI_VSTACK, lines = rank_of(e, item_of(list, 0)) == 1;
	struct value parts = value_seq(e->f->arena, V_LIST, n);
	for (uint32_t k = 0; k < n; k++)
		parts.u.seq->at[k] = rows && lines ? COMPOSE(BI_UNSQUEEZE, item_of(list, k), value_int(0)) : item_of(list, k);
	return COMPOSE(BI_CONCAT, parts, value_int(!rows && !lines));
}

/* Each element `repeats` times in a row: a new dimension behind its own is expanded, and both are joined. */
struct value rule_repeat_interleave(struct emitter *e, struct builtin_call *c)
{
	uint32_t axis = 0;
	dim times;
	bool all = c->v[2].kind == V_NONE;
	struct value x = all ? COMPOSE(BI_FLATTEN, composed_shape_operand(c, 0)) : composed_shape_operand(c, 0);
	if (!is_tensor(x) || !(all || need_axis(e, c, 2, rank_of(e, x), &axis)))
		return VALUE_POISON;
	if (!size_value(e, c->v[1], &times))
		return rule_error(e, c, DIAG_TYPE_MISMATCH, c->ats[1], "`repeats` must be one integer known at compile time, not %s",
				  value_text(e, c->v[1]));
	x = COMPOSE(BI_UNSQUEEZE, x, value_int(axis + 1));
	if (!is_tensor(x))
		return x;
	struct hir_type t = *type_of(e, x.u.t);
	t.dims[axis + 1] = times;
	return COMPOSE(BI_FLATTEN, COMPOSE(BI_EXPAND, x, list_of_sizes(e, &t)), value_int(axis), value_int(axis + 1));
}

/* ---- by an index ---- */

/* Returns the vector in argument 2 as an index of the shape of t along `axis`, which has its length there. */
static struct value index_along(struct emitter *e, struct builtin_call *c, struct hir_type t, uint32_t axis)
{
	hir_ref index = need_tensor(e, c, 2);
	if (index == HIR_NONE)
		return VALUE_POISON;
	struct hir_type line = *type_of(e, index);
	if (line.rank != 1)
		return rule_error(e, c, DIAG_RANK, c->ats[2], "`index` must be a vector of integers, not %s", type_text(e, index));
	t.elem = line.elem;
	t.dims[axis] = line.dims[0];
	line.rank = t.rank;
	for (uint32_t k = 0; k < t.rank; k++)
		line.dims[k] = k == axis ? t.dims[axis] : dim_const(e->b->dims, 1);
	return COMPOSE(BI_EXPAND, emit_reshape(e, index, &line, c->ats[2]), list_of_sizes(e, &t));
}

/* index_add, index_copy, index_fill: a scatter of whole slices. */
struct value rule_index_slices(struct emitter *e, struct builtin_call *c)
{
	uint32_t axis;
	struct value x = composed_shape_operand(c, 0), from = c->v[3];
	struct hir_type t = *type_of(e, x.u.t);
	if (!need_axis(e, c, 1, t.rank, &axis))
		return VALUE_POISON;
	struct value index = index_along(e, c, t, axis);
	if (c->bi == BI_INDEX_ADD && c->given[4])
		from = COMPOSE(BI_MUL, from, c->v[4]);
	return COMPOSE(c->bi == BI_INDEX_ADD ? BI_SCATTER_ADD : BI_SCATTER, x, value_int(axis), index, from);
}

/* Both broadcast, except along the dimension. */
static struct value gather_broadcast(struct emitter *e, struct builtin_call *c, struct value x, struct value index)
{
	uint32_t axis;
	struct hir_type tx = *type_of(e, x.u.t), ti = *type_of(e, index.u.t), both;
	if (!need_axis(e, c, 2, tx.rank, &axis))
		return VALUE_POISON;
	if (tx.rank != ti.rank)
		return rule_error(e, c, DIAG_RANK, c->ats[1], "`indices` must have %u dimensions, not %u", tx.rank, ti.rank);
	dim of_x = tx.dims[axis], of_index = ti.dims[axis];
	both = tx;
	both.dims[axis] = of_index;
	if (!broadcast_dims(e, &both, &ti))
		return rule_error(e, c, DIAG_SHAPE, c->at, "the shapes %s and %s do not broadcast", shape_text(e, &tx), shape_text(e, &ti));
	index = COMPOSE(BI_EXPAND, index, list_of_sizes(e, &both));
	both.dims[axis] = of_x;
	return COMPOSE(BI_GATHER, COMPOSE(BI_EXPAND, x, list_of_sizes(e, &both)), value_int(axis), index);
}

struct value rule_take_along_dim(struct emitter *e, struct builtin_call *c)
{
	struct value x = composed_shape_operand(c, 0), index = composed_shape_operand(c, 1);
	if (c->v[2].kind != V_NONE)
		return gather_broadcast(e, c, x, index);
	return COMPOSE(BI_GATHER, COMPOSE(BI_FLATTEN, x), value_int(0), COMPOSE(BI_FLATTEN, index));
}

/* src in place of a slice, between what is before and after it. */
struct value rule_slice_scatter(struct emitter *e, struct builtin_call *c)
{
	int64_t step;
	struct value x = composed_shape_operand(c, 0), src = composed_shape_operand(c, 1), along = c->v[2], start = c->v[3], end = c->v[4];
	if (!need_int(e, c, 5, &step))
		return VALUE_POISON;
	if (step != 1)
		return rule_error(e, c, DIAG_UNSUPPORTED, c->ats[5], "`step` must be 1");
	struct value part = COMPOSE(BI_SLICE, x, along, start, end);
	if (!is_tensor(part))
		return part;
	if (!shapes_agree(e, type_of(e, src.u.t), type_of(e, part.u.t)))
		return rule_error(e, c, DIAG_SHAPE, c->ats[1], "`src` has shape %s, but the slice has %s",
				  shape_text(e, type_of(e, src.u.t)), shape_text(e, type_of(e, part.u.t)));
	src = as_elem(e, src, type_of(e, x.u.t)->elem, c->at);
	struct value before = start.kind == V_NONE ? VALUE_NONE : COMPOSE(BI_SLICE, x, along, value_int(0), start);
	struct value after = end.kind == V_NONE ? VALUE_NONE : COMPOSE(BI_SLICE, x, along, end);
	if (before.kind == V_NONE)
		return after.kind == V_NONE ? src : COMPOSE(BI_CONCAT, LIST(src, after), along);
	return after.kind == V_NONE ? COMPOSE(BI_CONCAT, LIST(before, src), along) : COMPOSE(BI_CONCAT, LIST(before, src, after), along);
}

/* ---- grids, diagonals, products ---- */

/* Vector k varies along dimension k of all results; with "xy" the first two are swapped. */
struct value rule_meshgrid(struct emitter *e, struct builtin_call *c)
{
	static const char *const words[] = {"ij", "xy"};
	struct value list = c->v[0];
	uint32_t n = item_count(list), swaps;
	if (!need_word(e, c, 1, words, 2, &swaps))
		return VALUE_POISON;
	if (!value_is_seq(list) || !n || n > HIR_MAX_RANK)
		return rule_error(e, c, DIAG_ARG_VALUE, c->ats[0], "needs 1 to %d vectors", HIR_MAX_RANK);
	struct hir_type all = {.rank = (uint8_t)n}, lines[HIR_MAX_RANK];
	for (uint32_t k = 0; k < n; k++) {
		struct value v = item_of(list, k);
		uint32_t place = swaps && n > 1 && k < 2 ? 1 - k : k;
		if (is_poison(v))
			return v;
		if (!is_tensor(v) || rank_of(e, v) > 1)
			return rule_error(e, c, DIAG_RANK, c->ats[0], "needs vectors, not %s", value_text(e, v));
		all.dims[place] = rank_of(e, v) ? type_of(e, v.u.t)->dims[0] : dim_const(e->b->dims, 1);
		lines[k] = (struct hir_type){.elem = type_of(e, v.u.t)->elem, .rank = (uint8_t)n};
		for (uint32_t i = 0; i < n; i++)
			lines[k].dims[i] = i == place ? all.dims[place] : dim_const(e->b->dims, 1);
	}
	struct value grids = value_seq(e->f->arena, V_TUPLE, n);
	for (uint32_t k = 0; k < n; k++)
		grids.u.seq->at[k] = COMPOSE(BI_EXPAND, emit_reshape(e, item_of(list, k).u.t, &lines[k], c->at), list_of_sizes(e, &all));
	return grids;
}

/* Vectors of the last dimension on a diagonal of matrices, which are 0 elsewhere. The vector is padded to the size of the matrix. */
static struct value embed_diagonal(struct emitter *e, struct builtin_call *c, struct value x, int64_t offset)
{
	int64_t away = offset < 0 ? -offset : offset;
	if (away)
		x = COMPOSE(BI_PAD, x, LIST(value_int(0), value_int(away)));
	if (!is_tensor(x))
		return x;
	struct value n = value_dim(e->b->dims, type_of(e, x.u.t)->dims[rank_of(e, x) - 1]), at = COMPOSE(BI_ARANGE, n);
	struct value on = COMPOSE(BI_EQ, at, COMPOSE(BI_ADD, COMPOSE(BI_UNSQUEEZE, at, value_int(-1)), value_int(offset)));
	return COMPOSE(BI_WHERE, on, COMPOSE(BI_UNSQUEEZE, x, value_int(offset < 0 ? -2 : -1)), value_int(0));
}

/* diag: a matrix of a vector, the vector of a matrix; diag_embed: matrices of vectors. */
struct value rule_diag(struct emitter *e, struct builtin_call *c)
{
	int64_t offset;
	struct value x = composed_shape_operand(c, 0);
	uint32_t rank = rank_of(e, x);
	if (!need_int(e, c, 1, &offset))
		return VALUE_POISON;
	if (!rank || (c->bi == BI_DIAG && rank > 2) || rank == HIR_MAX_RANK)
		return rule_error(e, c, DIAG_RANK, c->ats[0], "needs a vector or a matrix, not %s", type_text(e, x.u.t));
	return c->bi == BI_DIAG && rank == 2 ? COMPOSE(BI_DIAGONAL, x, value_int(offset)) : embed_diagonal(e, c, x, offset);
}

/* (a × b)ᵢ = aᵢ₊₁ bᵢ₊₂ - aᵢ₊₂ bᵢ₊₁, cyclically. */
struct value rule_cross(struct emitter *e, struct builtin_call *c)
{
	struct value a = composed_shape_operand(c, 0), b = composed_shape_operand(c, 1), both = COMPOSE(BI_MUL, a, b), one = value_int(-1),
		     two = value_int(-2);
	uint32_t axis;
	int64_t n;
	if (!is_tensor(both) || !need_axis(e, c, 2, rank_of(e, both), &axis))
		return VALUE_POISON;
	if (dim_is_const(e->b->dims, type_of(e, both.u.t)->dims[axis], &n) && n != 3)
		return rule_error(e, c, DIAG_SHAPE, c->at, "dimension %u must have the size 3", axis);
	struct value plus = COMPOSE(BI_MUL, COMPOSE(BI_ROLL, a, one, c->v[2]), COMPOSE(BI_ROLL, b, two, c->v[2]));
	return COMPOSE(BI_SUB, plus, COMPOSE(BI_MUL, COMPOSE(BI_ROLL, a, two, c->v[2]), COMPOSE(BI_ROLL, b, one, c->v[2])));
}
