/* Rules of sorting, of what is read off sorted elements, of running totals and of scattering. */
#include <string.h>
#include "frontend/rules/builtin.h"

static const char *param_name(struct emitter *e, const struct bcall *c, uint32_t i) { return name_text(e->f, c->sig->params[i].name); }

/* The arguments of the call as they are, x and the axis checked. */
static void plain_args(struct bcall *c, hir_ref x, struct hir_arg *a)
{
	a[0] = arg_tensor(x);
	for (uint32_t i = 1; i < c->sig->n; i++)
		a[i] = plain_arg(c->v[i]);
}

/* The tensor x, and the axis that argument `i` names; HIR_NONE: reported. */
static hir_ref along(struct emitter *e, struct bcall *c, uint32_t i, uint32_t *axis)
{
	hir_ref x = need_tensor(e, c, 0);
	if (x == HIR_NONE)
		return x;
	uint32_t rank = type_of(e, x)->rank;
	if (!rank) {
		shape_error(e, c, DIAG_RANK, c->ats[0], "a scalar has no dimension to work on");
		return HIR_NONE;
	}
	return need_axis(e, c, i, rank, axis) ? x : HIR_NONE;
}

static struct value both(struct emitter *e, hir_ref node, const struct hir_type *t, span at)
{
	struct value out = value_seq(e->f->arena, V_TUPLE, 2);
	struct hir_type index = *t;
	index.elem = DT_INT64;
	out.u.seq->at[0] = value_tensor(emit_result(e, node, 0, t, at));
	out.u.seq->at[1] = value_tensor(emit_result(e, node, 1, &index, at));
	return out;
}

static struct value emit_both(struct emitter *e, struct bcall *c, const struct hir_type *t, const struct hir_arg *a)
{
	return both(e, emit_builtin(e, c->bi, t, a, c->sig->n, c->at), t, c->at);
}

static bool need_flags(struct emitter *e, struct bcall *c, uint32_t from)
{
	bool flag;
	for (uint32_t i = from; i < c->sig->n; i++)
		if (!need_bool(e, c, i, &flag))
			return false;
	return true;
}

struct value rule_sort(struct emitter *e, struct bcall *c)
{
	uint32_t axis;
	struct hir_arg a[BUILTIN_MAX_PARAMS];
	hir_ref x = along(e, c, 1, &axis);
	if (x == HIR_NONE || !need_flags(e, c, 2))
		return VALUE_POISON;
	struct hir_type t = *type_of(e, x);
	plain_args(c, x, a);
	a[1] = arg_int(axis);
	if (c->bi == BI_SORT)
		return emit_both(e, c, &t, a);
	t.elem = DT_INT64;
	return value_tensor(emit_builtin(e, c->bi, &t, a, c->sig->n, c->at));
}

/* k, of the elements along the axis. */
static bool need_count(struct emitter *e, struct bcall *c, const struct hir_type *t, uint32_t axis, int64_t least, int64_t *k)
{
	int64_t n;
	if (!need_int(e, c, 1, k))
		return false;
	bool known = dim_is_const(e->b->dims, t->dims[axis], &n);
	if (*k >= least && (!known || *k <= n))
		return true;
	if (known)
		shape_error(e, c, DIAG_ARG_VALUE, c->ats[1], "k is %lld, but dimension %u has %lld elements", (long long)*k, axis,
			    (long long)n);
	else
		shape_error(e, c, DIAG_ARG_VALUE, c->ats[1], "k must be at least %lld", (long long)least);
	return false;
}

struct value rule_topk(struct emitter *e, struct bcall *c)
{
	uint32_t axis;
	int64_t k;
	struct hir_arg a[BUILTIN_MAX_PARAMS];
	hir_ref x = along(e, c, 2, &axis);
	if (x == HIR_NONE || !need_flags(e, c, 3))
		return VALUE_POISON;
	struct hir_type t = *type_of(e, x);
	if (!need_count(e, c, &t, axis, 0, &k))
		return VALUE_POISON;
	t.dims[axis] = dim_const(e->b->dims, k);
	plain_args(c, x, a);
	a[2] = arg_int(axis);
	return emit_both(e, c, &t, a);
}

static struct hir_type without(struct emitter *e, const struct hir_type *t, uint32_t axis, bool keep)
{
	struct hir_type out = {.elem = t->elem};
	for (uint32_t k = 0; k < t->rank; k++) {
		if (k != axis)
			out.dims[out.rank++] = t->dims[k];
		else if (keep)
			out.dims[out.rank++] = dim_const(e->b->dims, 1);
	}
	return out;
}

struct value rule_kthvalue(struct emitter *e, struct bcall *c)
{
	uint32_t axis;
	int64_t k;
	bool keep;
	struct hir_arg a[BUILTIN_MAX_PARAMS];
	hir_ref x = along(e, c, 2, &axis);
	if (x == HIR_NONE || !need_bool(e, c, 3, &keep))
		return VALUE_POISON;
	struct hir_type t = *type_of(e, x);
	if (!need_count(e, c, &t, axis, 1, &k))
		return VALUE_POISON;
	t = without(e, &t, axis, keep);
	plain_args(c, x, a);
	a[2] = arg_int(axis);
	return emit_both(e, c, &t, a);
}

/* Is there an element, as far as is known? Reports. `all`: of any dimension, else along the axis. */
static bool has_elements(struct emitter *e, struct bcall *c, const struct hir_type *t, bool all, uint32_t axis)
{
	int64_t n;
	for (uint32_t k = 0; k < t->rank; k++)
		if ((all || k == axis) && dim_is_const(e->b->dims, t->dims[k], &n) && !n)
			return shape_error(e, c, DIAG_SHAPE, c->at, "a tensor of shape %s has no elements to choose from",
					   shape_text(e, t)),
			       false;
	return true;
}

/* Without `dim`, argument `i`, of all elements: the result is a scalar, whatever keepdim, argument i + 1, says. */
static bool reduced_type(struct emitter *e, struct bcall *c, hir_ref x, uint32_t i, struct hir_type *t, struct hir_arg *axis)
{
	bool keep, all = c->v[i].kind == V_NONE;
	uint32_t k = 0;
	*axis = arg_none();
	if (!need_bool(e, c, i + 1, &keep) || (!all && !need_axis(e, c, i, type_of(e, x)->rank, &k)))
		return false;
	struct hir_type in = *type_of(e, x);
	*t = (struct hir_type){.elem = in.elem};
	if (!all) {
		*t = without(e, &in, k, keep);
		*axis = arg_int(k);
	} else if (keep && i == 2) { /* quantile keeps them all */
		for (t->rank = 0; t->rank < in.rank; t->rank++)
			t->dims[t->rank] = dim_const(e->b->dims, 1);
	}
	return has_elements(e, c, &in, all, k);
}

struct value rule_median(struct emitter *e, struct bcall *c)
{
	struct hir_type t;
	struct hir_arg a[BUILTIN_MAX_PARAMS];
	hir_ref x = need_tensor(e, c, 0);
	if (x == HIR_NONE)
		return VALUE_POISON;
	plain_args(c, x, a);
	if (!reduced_type(e, c, x, 1, &t, &a[1]))
		return VALUE_POISON;
	if (c->v[1].kind != V_NONE)
		return emit_both(e, c, &t, a);
	return value_tensor(emit_builtin(e, c->bi, &t, a, c->sig->n, c->at));
}

/* The shares, a number, a list of numbers, or a tensor with at most one dimension, as a tensor of the element type. */
static hir_ref need_shares(struct emitter *e, struct bcall *c, dtype elem)
{
	struct value v = c->v[1];
	uint32_t n = value_is_seq(v) ? v.u.seq->n : 1;
	for (uint32_t k = 0; k < n && v.kind != V_TENSOR; k++) {
		struct value one = value_is_seq(v) ? v.u.seq->at[k] : v;
		double q = one.kind == V_INT ? (double)one.u.i : one.u.f;
		if ((one.kind == V_INT || one.kind == V_FLOAT) && (q < 0 || q > 1)) {
			shape_error(e, c, DIAG_ARG_VALUE, c->ats[1], "a share lies between 0 and 1, not %g", q);
			return HIR_NONE;
		}
	}
	if (value_is_seq(v)) {
		struct arg parts[2] = {{.v = v, .at = c->ats[1]}, {.v = {.kind = V_DTYPE, .u.dt = elem}, .at = c->ats[1]}};
		struct args args = {2, parts};
		v = call_builtin(e, BI_TENSOR, &args, c->ats[1]);
		if (is_poison(v))
			return HIR_NONE;
		c->v[1] = v;
	} else if (v.kind == V_FLOAT || v.kind == V_INT) {
		return emit_scalar(e, v, elem, c->ats[1]);
	}
	hir_ref q = need_float(e, c, 1);
	if (q != HIR_NONE && type_of(e, q)->rank > 1) {
		shape_error(e, c, DIAG_RANK, c->ats[1], "`%s` has at most one dimension, not %s", param_name(e, c, 1), type_text(e, q));
		return HIR_NONE;
	}
	return q == HIR_NONE ? q : emit_cast(e, q, elem, c->ats[1]);
}

static bool need_interpolation(struct emitter *e, struct bcall *c)
{
	static const char *const kinds[] = {"linear", "lower", "higher", "midpoint", "nearest"};
	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
		if (c->v[4].kind == V_STR && !strcmp(c->v[4].u.s, kinds[k]))
			return true;
	shape_error(e, c, DIAG_ARG_VALUE, c->ats[4], "the interpolation is \"linear\", \"lower\", \"higher\", \"midpoint\" or \"nearest\"");
	return false;
}

struct value rule_quantile(struct emitter *e, struct bcall *c)
{
	struct hir_type t;
	struct hir_arg a[BUILTIN_MAX_PARAMS];
	hir_ref x = need_float(e, c, 0);
	if (x == HIR_NONE || !need_interpolation(e, c))
		return VALUE_POISON;
	hir_ref q = need_shares(e, c, type_of(e, x)->elem);
	if (q == HIR_NONE)
		return VALUE_POISON;
	plain_args(c, x, a);
	a[1] = arg_tensor(q);
	if (!reduced_type(e, c, x, 2, &t, &a[2]))
		return VALUE_POISON;
	struct hir_type shares = *type_of(e, q);
	if (shares.rank) {
		if (t.rank == HIR_MAX_RANK)
			return shape_error(e, c, DIAG_RANK, c->at, "a tensor has at most %d dimensions", HIR_MAX_RANK);
		for (uint32_t k = t.rank++; k > 0; k--)
			t.dims[k] = t.dims[k - 1];
		t.dims[0] = shares.dims[0];
	}
	return value_tensor(emit_builtin(e, c->bi, &t, a, c->sig->n, c->at));
}

/* The shares in percent. */
struct value rule_percentile(struct emitter *e, struct bcall *c)
{
	struct value v = c->v[1];
	struct arg given[5];
	struct args args = {5, given};
	if (value_is_seq(v))
		v = call1(e, BI_TENSOR, v, c->ats[1]);
	if (v.kind == V_INT || v.kind == V_FLOAT) {
		double q = v.kind == V_INT ? (double)v.u.i : v.u.f;
		if (q < 0 || q > 100)
			return shape_error(e, c, DIAG_ARG_VALUE, c->ats[1], "a percentage lies between 0 and 100, not %g", q);
		v = value_float(q / 100);
	} else {
		v = call2(e, BI_DIV, v, value_float(100), c->ats[1]);
	}
	for (uint32_t i = 0; i < args.n; i++)
		given[i] = (struct arg){.v = i == 1 ? v : c->v[i], .at = c->ats[i]};
	return call_builtin(e, BI_QUANTILE, &args, c->at);
}

struct value rule_cumulate(struct emitter *e, struct bcall *c)
{
	uint32_t axis;
	hir_ref x = along(e, c, 1, &axis);
	if (x == HIR_NONE)
		return VALUE_POISON;
	struct hir_type t = *type_of(e, x);
	if (dtype_class(t.elem) != DTC_FLOAT)
		t.elem = DT_INT64;
	struct hir_arg a[2] = {arg_tensor(x), arg_int(axis)};
	return value_tensor(emit_builtin(e, c->bi, &t, a, 2, c->at));
}

/* The shapes of index and src, and that of x beside the axis, are the same. */
static bool scatter_fits(struct emitter *e, struct bcall *c, const struct hir_type *x, const struct hir_type *index,
			 const struct hir_type *src, uint32_t axis)
{
	bool fits = index->rank == x->rank;
	for (uint32_t k = 0; fits && k < x->rank; k++)
		fits = k == axis || dims_agree(e, x->dims[k], index->dims[k]);
	if (!fits)
		return shape_error(e, c, DIAG_SHAPE, c->ats[2], "the index has shape %s; it must have the sizes of %s but in dimension %u",
				   shape_text(e, index), shape_text(e, x), axis),
		       false;
	fits = !src->rank || src->rank == index->rank;
	for (uint32_t k = 0; fits && k < src->rank; k++)
		fits = dims_agree(e, src->dims[k], index->dims[k]);
	if (!fits)
		shape_error(e, c, DIAG_SHAPE, c->ats[3], "`src` has shape %s, the index %s: they must be the same", shape_text(e, src),
			    shape_text(e, index));
	return fits;
}

struct value rule_scatter(struct emitter *e, struct bcall *c)
{
	uint32_t axis;
	hir_ref x = along(e, c, 1, &axis);
	if (x == HIR_NONE)
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
		return shape_error(e, c, DIAG_TYPE_MISMATCH, c->ats[2], "the index must be a tensor of integers, not %s",
				   type_text(e, index));
	if (!dtype_widens(ts.elem, t.elem))
		return shape_error(e, c, DIAG_OPERANDS, c->ats[3], "elements of %s do not convert to %s, x's", dtype_text(ts.elem),
				   dtype_text(t.elem));
	if (!scatter_fits(e, c, &t, &ti, &ts, axis))
		return VALUE_POISON;
	struct hir_arg a[4] = {arg_tensor(x), arg_int(axis), arg_tensor(index), arg_tensor(emit_cast(e, src, t.elem, c->ats[3]))};
	return value_tensor(emit_builtin(e, c->bi, &t, a, 4, c->at));
}

/* The index as an int64 scalar; one that is known is checked. HIR_NONE: reported. */
static hir_ref need_place(struct emitter *e, struct bcall *c, dim size)
{
	struct value v = c->v[3];
	int64_t n;
	if (v.kind == V_INT && dim_is_const(e->b->dims, size, &n) && (v.u.i < -n || v.u.i >= n)) {
		shape_error(e, c, DIAG_INDEX_RANGE, c->ats[3], "index %lld is out of range for a dimension of %lld", (long long)v.u.i,
			    (long long)n);
		return HIR_NONE;
	}
	if (v.kind == V_INT && v.u.i < 0)
		v = value_dim(e->b->dims, dim_add(e->b->dims, size, dim_const(e->b->dims, v.u.i)));
	if (v.kind == V_INT || v.kind == V_DIM)
		return emit_scalar(e, v, DT_INT64, c->ats[3]);
	if (v.kind == V_TENSOR && !type_of(e, v.u.t)->rank && dtype_class(type_of(e, v.u.t)->elem) == DTC_INT)
		return emit_cast(e, v.u.t, DT_INT64, c->ats[3]);
	shape_error(e, c, DIAG_TYPE_MISMATCH, c->ats[3], "an index must be an integer, not %s", value_text(e, v));
	return HIR_NONE;
}

struct value rule_select_scatter(struct emitter *e, struct bcall *c)
{
	uint32_t axis;
	hir_ref x = along(e, c, 2, &axis);
	if (x == HIR_NONE)
		return VALUE_POISON;
	struct hir_type t = *type_of(e, x), part = without(e, &t, axis, false);
	hir_ref src = value_is_scalar(c->v[1]) ? emit_scalar(e, c->v[1], t.elem, c->ats[1]) : need_tensor(e, c, 1);
	if (src == HIR_NONE)
		return VALUE_POISON;
	struct hir_type ts = *type_of(e, src);
	bool fits = ts.rank == part.rank && dtype_widens(ts.elem, t.elem);
	for (uint32_t k = 0; fits && k < part.rank; k++)
		fits = dims_agree(e, ts.dims[k], part.dims[k]);
	if (!fits)
		return shape_error(e, c, DIAG_SHAPE, c->ats[1], "`src` is %s, but %s%s is needed", value_text(e, value_tensor(src)),
				   dtype_text(t.elem), shape_text(e, &part));
	hir_ref at = need_place(e, c, t.dims[axis]);
	if (at == HIR_NONE)
		return VALUE_POISON;
	struct hir_arg a[4] = {arg_tensor(x), arg_tensor(emit_cast(e, src, t.elem, c->ats[1])), arg_int(axis), arg_tensor(at)};
	return value_tensor(emit_builtin(e, c->bi, &t, a, 4, c->at));
}
