/* Rules of scattering: tensors with some elements replaced or added to. */
#include "frontend/rules/builtin.h"

/* Reads the axis of x in argument `i`. */
static bool need_operand_axis(struct emitter *e, struct builtin_call *c, uint32_t i, uint32_t *axis)
{
	uint32_t rank = type_of(e, c->operand[0])->rank;
	return rank ? need_axis(e, c, i, rank, axis) : rule_reject(e, c, DIAG_RANK, c->ats[0], "the tensor must not be a scalar");
}

/* True if size a is known to be below b. */
static bool scatter_is_below(struct emitter *e, dim a, dim b)
{
	int64_t x, y;
	return const_sizes(e, a, b, &x, &y) && x < y;
}

/* Checks that index has the sizes of x, or smaller ones, except for the axis, and that src is no smaller than index. */
static bool check_scatter_shapes(struct emitter *e, struct builtin_call *c, const struct hir_type *x, const struct hir_type *index,
				 const struct hir_type *src, uint32_t axis)
{
	bool fits = index->rank == x->rank, covers = !src->rank || src->rank == index->rank;
	for (uint32_t k = 0; fits && k < x->rank; k++)
		fits = k == axis || dims_agree(e, index->dims[k], x->dims[k]) || scatter_is_below(e, index->dims[k], x->dims[k]);
	if (!fits)
		return rule_reject(e, c, DIAG_SHAPE, c->ats[2],
				   "`index` has shape %s, but must have at most the sizes of %s except in dimension %u",
				   shape_text(e, index), shape_text(e, x), axis);
	for (uint32_t k = 0; covers && k < src->rank; k++)
		covers = dims_agree(e, index->dims[k], src->dims[k]) || scatter_is_below(e, index->dims[k], src->dims[k]);
	return covers || rule_reject(e, c, DIAG_SHAPE, c->ats[3], "`src` has shape %s, but must have at least the sizes of `index`, %s",
				     shape_text(e, src), shape_text(e, index));
}

/* One scatter, whose index may be smaller than x: then it changes a corner of x. */
struct scatter {
	struct builtin_call *c;
	struct hir_type index;
	hir_ref at, src;
	uint32_t axis;
};

/* Scatters into x, which has the sizes of the index in dimensions below `from`. */
static struct value scatter_corner(struct emitter *e, const struct scatter *s, struct value x, uint32_t from)
{
	struct builtin_call *c = s->c;
	if (!is_tensor(x))
		return x;
	struct hir_type t = *type_of(e, x.u.t);
	while (from < t.rank && (from == s->axis || dims_agree(e, s->index.dims[from], t.dims[from])))
		from++;
	if (from == t.rank)
		return EMIT(c->bi, &t, arg_tensor(x.u.t), arg_int(s->axis), arg_tensor(s->at), arg_tensor(s->src));
	struct value along = value_int(from), n = value_dim(e->b->dims, s->index.dims[from]);
	struct value corner = scatter_corner(e, s, COMPOSE(BI_SLICE, x, along, value_int(0), n), from + 1);
	return COMPOSE(BI_CONCAT, LIST(corner, COMPOSE(BI_SLICE, x, along, n)), along);
}

struct value rule_scatter(struct emitter *e, struct builtin_call *c)
{
	uint32_t axis;
	hir_ref x = c->operand[0];
	if (!need_operand_axis(e, c, 1, &axis))
		return VALUE_POISON;
	hir_ref index = need_tensor(e, c, 2);
	struct hir_type t = *type_of(e, x);
	if (index == HIR_NONE)
		return VALUE_POISON;
	hir_ref src = value_is_scalar(c->v[3]) ? emit_scalar(e, c->v[3], t.elem, c->ats[3]) : need_tensor(e, c, 3);
	if (src == HIR_NONE)
		return VALUE_POISON;
	struct hir_type ti = *type_of(e, index), ts = *type_of(e, src);
	if (dtype_class(ti.elem) != DTC_INT)
		return rule_error(e, c, DIAG_TYPE_MISMATCH, c->ats[2], "`index` must be a tensor of integers, not %s", type_text(e, index));
	if (!dtype_widens(ts.elem, t.elem))
		return rule_error(e, c, DIAG_OPERANDS, c->ats[3], "`src` has element type %s, which does not convert to %s",
				  dtype_text(ts.elem), dtype_text(t.elem));
	if (!check_scatter_shapes(e, c, &t, &ti, &ts, axis))
		return VALUE_POISON;
	struct value part = value_tensor(emit_cast(e, src, t.elem, c->ats[3]));
	for (uint32_t k = 0; k < ts.rank; k++)
		if (scatter_is_below(e, ti.dims[k], ts.dims[k]))
			part = COMPOSE(BI_SLICE, part, value_int(k), value_int(0), value_dim(e->b->dims, ti.dims[k]));
	return scatter_corner(e, &(struct scatter){c, ti, index, part.u.t, axis}, value_tensor(x), 0);
}

/* Loads the index as an int64 scalar; checks it if it is known at compile time. HIR_NONE: reported. */
static hir_ref need_index(struct emitter *e, struct builtin_call *c, dim size)
{
	struct value v = c->v[3];
	int64_t n;
	if (v.kind == V_INT && dim_is_const(e->b->dims, size, &n) && (v.u.i < -n || v.u.i >= n)) {
		rule_report(e, c, DIAG_INDEX_RANGE, c->ats[3], "index %lld is out of range for a dimension of %lld", (long long)v.u.i,
			    (long long)n);
		return HIR_NONE;
	}
	if (v.kind == V_INT && v.u.i < 0)
		v = value_dim(e->b->dims, dim_add(e->b->dims, size, dim_const(e->b->dims, v.u.i)));
	if (v.kind == V_INT || v.kind == V_DIM)
		return emit_scalar(e, v, DT_INT64, c->ats[3]);
	if (v.kind == V_TENSOR && !type_of(e, v.u.t)->rank && dtype_class(type_of(e, v.u.t)->elem) == DTC_INT)
		return emit_cast(e, v.u.t, DT_INT64, c->ats[3]);
	rule_report(e, c, DIAG_TYPE_MISMATCH, c->ats[3], "`index` must be an integer, not %s", value_text(e, v));
	return HIR_NONE;
}

struct value rule_select_scatter(struct emitter *e, struct builtin_call *c)
{
	uint32_t axis;
	hir_ref x = c->operand[0];
	if (!need_operand_axis(e, c, 2, &axis))
		return VALUE_POISON;
	struct hir_type t = *type_of(e, x), part = reduce_dims(e, &t, 1u << axis, false);
	hir_ref src = value_is_scalar(c->v[1]) ? emit_scalar(e, c->v[1], t.elem, c->ats[1]) : need_tensor(e, c, 1);
	if (src == HIR_NONE)
		return VALUE_POISON;
	struct hir_type ts = *type_of(e, src);
	if (!shapes_agree(e, &ts, &part) || !dtype_widens(ts.elem, t.elem))
		return rule_error(e, c, DIAG_SHAPE, c->ats[1], "`src` is %s, but must be %s%s", value_text(e, value_tensor(src)),
				  dtype_text(t.elem), shape_text(e, &part));
	hir_ref at = need_index(e, c, t.dims[axis]);
	if (at == HIR_NONE)
		return VALUE_POISON;
	return EMIT(c->bi, &t, arg_tensor(x), arg_tensor(emit_cast(e, src, t.elem, c->ats[1])), arg_int(axis), arg_tensor(at));
}
