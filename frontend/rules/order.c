/* Rules of sorting, order statistics, running totals and scattering. */
#include <string.h>
#include "frontend/rules/builtin.h"

/* Fills in x and the other arguments, which are numbers, bools and strings. */
static void set_plain_args(struct builtin_call *c, hir_ref x, struct hir_arg *a)
{
	a[0] = arg_tensor(x);
	for (uint32_t i = 1; i < c->sig->n; i++)
		a[i] = plain_arg(c->v[i]);
}

/* Reads the axis of x in argument `i`. */
static bool need_operand_axis(struct emitter *e, struct builtin_call *c, uint32_t i, uint32_t *axis)
{
	uint32_t rank = type_of(e, c->operand[0])->rank;
	return rank ? need_axis(e, c, i, rank, axis) : rule_reject(e, c, DIAG_RANK, c->ats[0], "the tensor must not be a scalar");
}

/* Emits a builtin that returns values and int64 indices of the same shape. */
static struct value emit_values_and_indices(struct emitter *e, struct builtin_call *c, const struct hir_type *t, const struct hir_arg *a)
{
	struct hir_type indices = *t;
	indices.elem = DT_INT64;
	return emit_two_results(e, emit_builtin(e, c->bi, t, a, c->sig->n, c->at), t, &indices, c->at);
}

static bool need_flags(struct emitter *e, struct builtin_call *c, uint32_t from)
{
	bool flag;
	for (uint32_t i = from; i < c->sig->n; i++)
		if (!need_bool(e, c, i, &flag))
			return false;
	return true;
}

struct value rule_sort(struct emitter *e, struct builtin_call *c)
{
	uint32_t axis;
	struct hir_arg a[BUILTIN_MAX_PARAMS];
	hir_ref x = c->operand[0];
	if (!need_operand_axis(e, c, 1, &axis) || !need_flags(e, c, 2))
		return VALUE_POISON;
	struct hir_type t = *type_of(e, x);
	set_plain_args(c, x, a);
	a[1] = arg_int(axis);
	if (c->bi == BI_SORT)
		return emit_values_and_indices(e, c, &t, a);
	t.elem = DT_INT64;
	return value_tensor(emit_builtin(e, c->bi, &t, a, c->sig->n, c->at));
}

/* Reads `k`, a number of elements along the axis. */
static bool need_k(struct emitter *e, struct builtin_call *c, const struct hir_type *t, uint32_t axis, int64_t least, int64_t *k)
{
	int64_t n;
	if (!need_int(e, c, 1, k))
		return false;
	bool known = dim_is_const(e->b->dims, t->dims[axis], &n);
	if (*k >= least && (!known || *k <= n))
		return true;
	if (!known)
		return rule_reject(e, c, DIAG_ARG_VALUE, c->ats[1], "`k` must be at least %lld", (long long)least);
	return rule_reject(e, c, DIAG_ARG_VALUE, c->ats[1], "`k` is %lld, but dimension %u has %lld elements", (long long)*k, axis,
			   (long long)n);
}

struct value rule_topk(struct emitter *e, struct builtin_call *c)
{
	uint32_t axis;
	int64_t k;
	struct hir_arg a[BUILTIN_MAX_PARAMS];
	hir_ref x = c->operand[0];
	if (!need_operand_axis(e, c, 2, &axis) || !need_flags(e, c, 3))
		return VALUE_POISON;
	struct hir_type t = *type_of(e, x);
	if (!need_k(e, c, &t, axis, 0, &k))
		return VALUE_POISON;
	t.dims[axis] = dim_const(e->b->dims, k);
	set_plain_args(c, x, a);
	a[2] = arg_int(axis);
	return emit_values_and_indices(e, c, &t, a);
}

struct value rule_kthvalue(struct emitter *e, struct builtin_call *c)
{
	uint32_t axis;
	int64_t k;
	bool keep;
	struct hir_arg a[BUILTIN_MAX_PARAMS];
	hir_ref x = c->operand[0];
	if (!need_operand_axis(e, c, 2, &axis) || !need_bool(e, c, 3, &keep))
		return VALUE_POISON;
	struct hir_type t = *type_of(e, x);
	if (!need_k(e, c, &t, axis, 1, &k))
		return VALUE_POISON;
	t = reduce_dims(e, &t, 1u << axis, keep);
	set_plain_args(c, x, a);
	a[2] = arg_int(axis);
	return emit_values_and_indices(e, c, &t, a);
}

/* Finds the result type from `dim`, argument i, and `keepdim`, argument i + 1. Without `dim` the result is a scalar, also with `keepdim`,
 * except for quantile. */
static bool infer_reduced_type(struct emitter *e, struct builtin_call *c, hir_ref x, uint32_t i, struct hir_type *t, struct hir_arg *axis)
{
	bool keep, all = c->v[i].kind == V_NONE;
	uint32_t k = 0;
	*axis = arg_none();
	if (!need_bool(e, c, i + 1, &keep) || (!all && !need_axis(e, c, i, type_of(e, x)->rank, &k)))
		return false;
	struct hir_type in = *type_of(e, x);
	if (!all)
		*axis = arg_int(k);
	*t = reduce_dims(e, &in, all ? UINT32_MAX : 1u << k, keep && (!all || c->bi == BI_QUANTILE));
	return check_not_empty(e, c, &in, all ? UINT32_MAX : 1u << k);
}

struct value rule_median(struct emitter *e, struct builtin_call *c)
{
	struct hir_type t;
	struct hir_arg a[BUILTIN_MAX_PARAMS];
	hir_ref x = c->operand[0];
	set_plain_args(c, x, a);
	if (!infer_reduced_type(e, c, x, 1, &t, &a[1]))
		return VALUE_POISON;
	if (c->v[1].kind != V_NONE)
		return emit_values_and_indices(e, c, &t, a);
	return value_tensor(emit_builtin(e, c->bi, &t, a, c->sig->n, c->at));
}

/* Loads `q`, a number, a list of numbers or a tensor with at most one dimension, as a tensor of the element type. */
static hir_ref need_quantiles(struct emitter *e, struct builtin_call *c, dtype elem)
{
	struct value v = c->v[1];
	uint32_t n = item_count(v);
	for (uint32_t k = 0; k < n && v.kind != V_TENSOR; k++) {
		struct value one = item_of(v, k);
		double q = number_value(one);
		if ((one.kind == V_INT || one.kind == V_FLOAT) && (q < 0 || q > 1)) {
			rule_report(e, c, DIAG_ARG_VALUE, c->ats[1], "`q` must be between 0 and 1, not %g", q);
			return HIR_NONE;
		}
	}
	if (value_is_seq(v)) {
		v = COMPOSE_AT(c->ats[1], BI_TENSOR, v, ((struct value){.kind = V_DTYPE, .u.dt = elem}));
		if (is_poison(v))
			return HIR_NONE;
		c->v[1] = v;
	} else if (v.kind == V_FLOAT || v.kind == V_INT) {
		return emit_scalar(e, v, elem, c->ats[1]);
	}
	hir_ref q = need_float(e, c, 1);
	if (q != HIR_NONE && type_of(e, q)->rank > 1) {
		rule_report(e, c, DIAG_RANK, c->ats[1], "`%s` must have at most one dimension, not %s", arg_name(e, c, 1), type_text(e, q));
		return HIR_NONE;
	}
	return q == HIR_NONE ? q : emit_cast(e, q, elem, c->ats[1]);
}

struct value rule_quantile(struct emitter *e, struct builtin_call *c)
{
	static const char *const interpolations[] = {"linear", "lower", "higher", "midpoint", "nearest"};
	struct hir_type t;
	struct hir_arg a[BUILTIN_MAX_PARAMS];
	uint32_t interpolation;
	hir_ref x = c->operand[0];
	if (!need_word(e, c, 4, interpolations, 5, &interpolation))
		return VALUE_POISON;
	hir_ref q = need_quantiles(e, c, type_of(e, x)->elem);
	if (q == HIR_NONE)
		return VALUE_POISON;
	set_plain_args(c, x, a);
	a[1] = arg_tensor(q);
	if (!infer_reduced_type(e, c, x, 2, &t, &a[2]))
		return VALUE_POISON;
	struct hir_type tq = *type_of(e, q);
	if (tq.rank) {
		if (t.rank == HIR_MAX_RANK)
			return rule_error(e, c, DIAG_RANK, c->at, "a tensor has at most %d dimensions", HIR_MAX_RANK);
		for (uint32_t k = t.rank++; k > 0; k--)
			t.dims[k] = t.dims[k - 1];
		t.dims[0] = tq.dims[0];
	}
	return value_tensor(emit_builtin(e, c->bi, &t, a, c->sig->n, c->at));
}

/* quantile with `q` in percent. */
struct value rule_percentile(struct emitter *e, struct builtin_call *c)
{
	struct value v = c->v[1];
	struct arg given[5];
	struct args args = {5, given};
	if (value_is_seq(v))
		v = COMPOSE_AT(c->ats[1], BI_TENSOR, v);
	if (v.kind == V_INT || v.kind == V_FLOAT) {
		double q = number_value(v);
		if (q < 0 || q > 100)
			return rule_error(e, c, DIAG_ARG_VALUE, c->ats[1], "`q` must be between 0 and 100, not %g", q);
		v = value_float(q / 100);
	} else {
		v = COMPOSE_AT(c->ats[1], BI_DIV, v, value_float(100));
	}
	for (uint32_t i = 0; i < args.n; i++)
		given[i] = (struct arg){.v = i == 1 ? v : c->v[i], .at = c->ats[i]};
	return call_builtin(e, BI_QUANTILE, &args, c->at);
}

struct value rule_cumulate(struct emitter *e, struct builtin_call *c)
{
	uint32_t axis;
	hir_ref x = c->operand[0];
	if (!need_operand_axis(e, c, 1, &axis))
		return VALUE_POISON;
	struct hir_type t = *type_of(e, x);
	if (dtype_class(t.elem) != DTC_FLOAT)
		t.elem = DT_INT64;
	return EMIT(c->bi, &t, arg_tensor(x), arg_int(axis));
}

/* Checks that index and src have the same shape, which is that of x except for the axis. */
static bool check_scatter_shapes(struct emitter *e, struct builtin_call *c, const struct hir_type *x, const struct hir_type *index,
				 const struct hir_type *src, uint32_t axis)
{
	if (!shapes_agree_except(e, index, x, axis))
		return rule_reject(e, c, DIAG_SHAPE, c->ats[2],
				   "`index` has shape %s, but must have the sizes of %s except in dimension %u", shape_text(e, index),
				   shape_text(e, x), axis);
	if (src->rank && !shapes_agree(e, src, index))
		return rule_reject(e, c, DIAG_SHAPE, c->ats[3], "`src` has shape %s, but must have that of `index`, %s", shape_text(e, src),
				   shape_text(e, index));
	return true;
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
	return EMIT(c->bi, &t, arg_tensor(x), arg_int(axis), arg_tensor(index), arg_tensor(emit_cast(e, src, t.elem, c->ats[3])));
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
