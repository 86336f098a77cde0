/* Rules of sorting, order statistics and running totals. */
#include <string.h>
#include "frontend/rules/builtin.h"

/* Fills in x and the other arguments, which are numbers, bools and strings. */
static void set_plain_args(struct builtin_call *c, hir_ref x, struct hir_arg *a)
{
	a[0] = arg_tensor(x);
	for (uint32_t i = 1; i < c->sig->n; i++)
		a[i] = plain_arg(c->v[i]);
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
	if (!need_axis(e, c, 1, type_of(e, x)->rank, &axis) || !need_flags(e, c, 2))
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
	if (!need_axis(e, c, 2, type_of(e, x)->rank, &axis) || !need_flags(e, c, 3))
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
	if (!need_axis(e, c, 2, type_of(e, x)->rank, &axis) || !need_bool(e, c, 3, &keep))
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
	}
	v = apply_binary(e, TOK_SLASH, v, value_float(100), c->ats[1], c->ats[1], c->ats[1]);
	for (uint32_t i = 0; i < args.n; i++)
		given[i] = (struct arg){.v = i == 1 ? v : c->v[i], .at = c->ats[i]};
	return call_builtin(e, BI_QUANTILE, &args, c->at);
}

struct value rule_cumulate(struct emitter *e, struct builtin_call *c)
{
	uint32_t axis;
	hir_ref x = c->operand[0];
	if (!need_axis(e, c, 1, type_of(e, x)->rank, &axis))
		return VALUE_POISON;
	struct hir_type t = *type_of(e, x);
	if (dtype_class(t.elem) != DTC_FLOAT)
		t.elem = DT_INT64;
	return EMIT(c->bi, &t, arg_tensor(x), arg_int(axis));
}
