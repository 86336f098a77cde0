/* Rules of the builtins that take elements at places known only at run time: index, narrow, index_select, gather. */
#include "frontend/rules/builtin.h"

static void help_mask(struct emitter *e, struct diag *g)
{
	diag_help(e->report.out, g,
		  "the size of a result cannot depend on values: keep all elements, `where(mask, x, 0)`; or take a constant number of "
		  "them, `x[topk(int32(mask), 4)[1]]`");
}

/* ---- index ---- */

/* The indices of one call. */
struct indices {
	hir_ref at[HIR_MAX_RANK]; /* of each dimension, or HIR_NONE */
	struct hir_type shape;    /* they broadcast to it */
	uint32_t n, mask;
};

/* Returns index `v` as a tensor of integers, or HIR_NONE after an error. */
static hir_ref index_of(struct emitter *e, struct builtin_call *c, struct value v)
{
	if (v.kind == V_LIST)
		v = COMPOSE_AT(c->ats[1], BI_TENSOR, v);
	if (v.kind == V_INT || v.kind == V_DIM)
		return emit_scalar(e, v, DT_INT64, c->ats[1]);
	if (is_poison(v) || (v.kind == V_TENSOR && dtype_class(type_of(e, v.u.t)->elem) == DTC_INT))
		return is_poison(v) ? HIR_NONE : v.u.t;
	struct diag *g =
		report_error(e, DIAG_NOT_INDEXABLE, c->ats[1], "an index is an integer or a tensor of integers, not %s", value_text(e, v));
	if (v.kind == V_TENSOR && type_of(e, v.u.t)->elem == DT_BOOL)
		help_mask(e, g);
	return HIR_NONE;
}

/* An index that is known must be inside. */
static bool check_known_index(struct emitter *e, struct builtin_call *c, uint32_t axis, hir_ref index)
{
	const struct hir_node *node = node_at(e, index);
	const struct hir_type *t = type_of(e, c->operand[0]);
	int64_t size, n = 1, extent;
	if (node->kind != HIR_CONST || !node->data || !dim_is_const(e->b->dims, t->dims[axis], &size))
		return true;
	for (uint32_t k = 0; k < node->type.rank; k++)
		n *= dim_is_const(e->b->dims, node->type.dims[k], &extent) ? extent : 0;
	for (int64_t k = 0; k < n; k++) {
		int64_t i = dtype_int(node->type.elem, node->data, k);
		if (i >= -size && i < size)
			continue;
		struct diag *g = report_error(e, DIAG_INDEX_RANGE, c->ats[1], "index %lld is out of range", (long long)i);
		diag_label_primary(e->report.out, g, "dimension %u of %s has %lld elements", axis, shape_text(e, t), (long long)size);
		return false;
	}
	return true;
}

static bool add_index(struct emitter *e, struct builtin_call *c, struct indices *x, uint32_t axis, struct value v)
{
	hir_ref r = x->at[axis] = v.kind == V_NONE ? HIR_NONE : index_of(e, c, v);
	if (v.kind == V_NONE)
		return true;
	if (r == HIR_NONE || !check_known_index(e, c, axis, r))
		return false;
	struct hir_type t = *type_of(e, r);
	if (x->n && !broadcast_dims(e, &x->shape, &t))
		return report_false(e, DIAG_SHAPE, c->ats[1], "index tensors of the shapes %s and %s do not broadcast together",
				    shape_text(e, &x->shape), shape_text(e, &t));
	x->shape = x->n++ ? x->shape : t;
	x->mask |= 1u << axis;
	return true;
}

/* Where the dimensions of the indices are, as in NumPy: in place of adjacent dimensions, else first. */
static uint32_t index_place_of(const struct indices *x)
{
	uint32_t first = (uint32_t)__builtin_ctz(x->mask), run = x->mask >> first;
	return run & (run + 1) ? 0 : first;
}

struct value rule_index(struct emitter *e, struct builtin_call *c)
{
	struct hir_type t = *type_of(e, c->operand[0]), rest, out = {.elem = t.elem};
	struct indices x = {0};
	struct hir_arg items[HIR_MAX_RANK];
	uint32_t n = item_count(c->v[1]), place;
	if (n > t.rank)
		return rule_error(e, c, DIAG_RANK, c->ats[1], "%u indices for %u dimensions", n, t.rank);
	for (uint32_t k = 0; k < t.rank; k++) {
		if (!add_index(e, c, &x, k, k < n ? item_of(c->v[1], k) : VALUE_NONE))
			return VALUE_POISON;
		items[k] = x.at[k] == HIR_NONE ? arg_none() : arg_tensor(x.at[k]);
	}
	if (!x.n)
		return value_tensor(c->operand[0]);
	rest = reduce_dims(e, &t, x.mask, false);
	place = index_place_of(&x);
	if (c->v[2].kind != V_NONE && !need_axis(e, c, 2, rest.rank + 1u, &place))
		return VALUE_POISON;
	if (rest.rank + x.shape.rank > HIR_MAX_RANK)
		return report_poison(e, DIAG_RANK, c->at, "the result has %u dimensions; a tensor has at most %d", rest.rank + x.shape.rank,
				     HIR_MAX_RANK);
	for (uint32_t k = 0; k < rest.rank + x.shape.rank; k++)
		out.dims[out.rank++] = k < place                  ? rest.dims[k]
				       : k - place < x.shape.rank ? x.shape.dims[k - place]
								  : rest.dims[k - x.shape.rank];
	return EMIT(BI_INDEX, &out, arg_tensor(c->operand[0]), arg_list(e, items, t.rank), arg_int(place));
}

/* ---- narrow ---- */

/* A slice that begins at an index known only at run time. */
static struct value narrow_at(struct emitter *e, struct builtin_call *c, hir_ref start, dim length)
{
	uint32_t axis;
	int64_t n, size;
	if (!need_axis(e, c, 1, type_of(e, c->operand[0])->rank, &axis))
		return VALUE_POISON;
	struct hir_type t = *type_of(e, c->operand[0]);
	if (const_sizes(e, length, t.dims[axis], &n, &size) && (n < 0 || n > size))
		return report_poison(e, DIAG_INDEX_RANGE, c->at, "a slice of %lld elements does not fit dimension %u of %s", (long long)n,
				     axis, shape_text(e, &t));
	t.dims[axis] = length;
	return EMIT(BI_NARROW, &t, arg_tensor(c->operand[0]), arg_int(axis), arg_tensor(start), arg_dim(length));
}

struct value rule_narrow(struct emitter *e, struct builtin_call *c)
{
	dim from, n;
	struct value start = c->v[2];
	if (!size_value(e, c->v[3], &n) || !is_integer_scalar(e, start))
		return rule_error(e, c, DIAG_TYPE_MISMATCH, c->at,
				  "`start` must be an integer, and `length` an integer known at compile time");
	if (!size_value(e, start, &from))
		return narrow_at(e, c, start.u.t, n);
	return COMPOSE(BI_SLICE, c->v[0], c->v[1], start, value_dim(e->b->dims, dim_add(e->b->dims, from, n)));
}

/* ---- index_select, gather ---- */

struct value rule_index_select(struct emitter *e, struct builtin_call *c)
{
	uint32_t axis;
	hir_ref r = c->operand[0], index = c->operand[2];
	if (!need_axis(e, c, 1, type_of(e, r)->rank, &axis))
		return VALUE_POISON;
	struct hir_type t = *type_of(e, r), ti = *type_of(e, index);
	if (dtype_class(ti.elem) != DTC_INT || ti.rank > 1) {
		struct diag *g = report_error(e, DIAG_TYPE_MISMATCH, c->ats[2],
					      "`index_select`: the index must be a tensor of integers with at most one dimension, not %s",
					      type_text(e, index));
		if (ti.elem == DT_BOOL)
			help_mask(e, g);
		else if (dtype_class(ti.elem) == DTC_INT)
			diag_help(e->report.out, g, "write `x[%sindex]`, which takes indices of any shape",
				  axis > 1 ? "..., "
				  : axis   ? ":, "
					   : "");
		return VALUE_POISON;
	}
	if (ti.rank)
		t.dims[axis] = ti.dims[0];
	else
		t = reduce_dims(e, &t, 1u << axis, false);
	return EMIT(BI_INDEX_SELECT, &t, arg_tensor(r), arg_int(axis), arg_tensor(index));
}

struct value rule_gather(struct emitter *e, struct builtin_call *c)
{
	uint32_t axis;
	int64_t n, most;
	hir_ref r = c->operand[0], index = c->operand[2];
	if (!need_axis(e, c, 1, type_of(e, r)->rank, &axis))
		return VALUE_POISON;
	struct hir_type t = *type_of(e, r), ti = *type_of(e, index);
	if (dtype_class(ti.elem) != DTC_INT)
		return rule_error(e, c, DIAG_TYPE_MISMATCH, c->ats[2], "`index` must be a tensor of integers, not %s", type_text(e, index));
	if (ti.rank != t.rank)
		return rule_error(e, c, DIAG_RANK, c->ats[2], "`index` must have as many dimensions as %s, but is %s", type_text(e, r),
				  type_text(e, index));
	for (uint32_t k = 0; k < t.rank; k++) {
		bool fits = k == axis || dims_agree(e, ti.dims[k], t.dims[k]) ||
			    (const_sizes(e, ti.dims[k], t.dims[k], &n, &most) && n <= most);
		if (!fits)
			return rule_error(e, c, DIAG_SHAPE, c->ats[2], "the shape of `index`, %s, %s %s in dimension %u",
					  shape_text(e, &ti),
					  const_sizes(e, ti.dims[k], t.dims[k], &n, &most) ? "is larger than" : "may be larger than",
					  shape_text(e, &t), k);
	}
	ti.elem = t.elem;
	return EMIT(BI_GATHER, &ti, arg_tensor(r), arg_int(axis), arg_tensor(index));
}
