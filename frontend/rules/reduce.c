/* Rules of reductions. */
#include <string.h>
#include "frontend/rules/builtin.h"

struct axes {
	bool all; /* without `dim` */
	uint32_t mask;
	struct hir_arg arg;
};

static bool add_axis(struct emitter *e, struct builtin_call *c, int64_t v, uint32_t rank, uint32_t *mask)
{
	uint32_t k;
	if (!axis_of(e, c, v, rank, c->ats[1], &k))
		return false;
	if (*mask >> k & 1)
		return rule_reject(e, c, DIAG_ARG_VALUE, c->ats[1], "dimension %u is given twice", k);
	*mask |= 1u << k;
	return true;
}

static bool read_axes(struct emitter *e, struct builtin_call *c, uint32_t rank, bool many, struct axes *out)
{
	struct value v = c->v[1];
	int64_t i;
	*out = (struct axes){.arg = arg_none()};
	if (v.kind == V_NONE) {
		out->all = true;
		out->mask = (1u << rank) - 1;
		return true;
	}
	if (!many || !value_is_seq(v)) {
		if (!need_int(e, c, 1, &i) || !add_axis(e, c, i, rank, &out->mask))
			return false;
		out->arg = arg_int(__builtin_ctz(out->mask));
		return true;
	}
	for (uint32_t k = 0; k < v.u.seq->n; k++)
		if (v.u.seq->at[k].kind != V_INT || !add_axis(e, c, v.u.seq->at[k].u.i, rank, &out->mask))
			return false;
	struct hir_arg items[HIR_MAX_RANK];
	uint32_t n = 0;
	for (uint32_t k = 0; k < rank; k++)
		if (out->mask >> k & 1)
			items[n++] = arg_int(k);
	out->arg = n == 1 ? items[0] : arg_list(e, items, n);
	return true;
}

static struct hir_type reduce_shape(struct emitter *e, const struct hir_type *t, uint32_t mask, bool keep)
{
	struct hir_type out = {.elem = t->elem};
	for (uint32_t i = 0; i < t->rank; i++) {
		if (!(mask >> i & 1))
			out.dims[out.rank++] = t->dims[i];
		else if (keep)
			out.dims[out.rank++] = dim_const(e->b->dims, 1);
	}
	return out;
}

/* False if a reduced dimension has no elements, which is reported. */
static bool check_not_empty(struct emitter *e, struct builtin_call *c, hir_ref x, uint32_t mask)
{
	struct hir_type t = *type_of(e, x);
	for (uint32_t i = 0; i < t.rank; i++) {
		int64_t n;
		if ((mask >> i & 1) && dim_is_const(e->b->dims, t.dims[i], &n) && !n)
			return rule_reject(e, c, DIAG_SHAPE, c->at, "a tensor of shape %s has no elements", shape_text(e, &t));
	}
	return true;
}

/* Reads `dim` and `keepdim`, the last parameter, and finds the result type. */
static bool infer_reduced_type(struct emitter *e, struct builtin_call *c, bool many, hir_ref *x, struct axes *ax, struct hir_type *out)
{
	bool keep;
	if (*x == HIR_NONE || !read_axes(e, c, type_of(e, *x)->rank, many, ax) || !need_bool(e, c, c->sig->n - 1, &keep))
		return false;
	struct hir_type t = *type_of(e, *x);
	*out = reduce_shape(e, &t, ax->mask, keep);
	return true;
}

static struct value emit_reduce(struct emitter *e, struct builtin_call *c, hir_ref x, const struct axes *ax, const struct hir_type *t)
{
	struct hir_arg a[4] = {arg_tensor(x), ax->arg};
	for (uint32_t i = 2; i < c->sig->n; i++)
		a[i] = plain_arg(c->v[i]);
	return value_tensor(emit_builtin(e, c->bi, t, a, c->sig->n, c->at));
}

struct value rule_reduce_sum(struct emitter *e, struct builtin_call *c)
{
	struct axes ax;
	struct hir_type t;
	hir_ref x = need_tensor(e, c, 0);
	if (!infer_reduced_type(e, c, true, &x, &ax, &t))
		return VALUE_POISON;
	if (dtype_class(t.elem) != DTC_FLOAT)
		t.elem = DT_INT64;
	return emit_reduce(e, c, x, &ax, &t);
}

struct value rule_reduce_mean(struct emitter *e, struct builtin_call *c)
{
	struct axes ax;
	struct hir_type t;
	int64_t correction;
	hir_ref x = need_tensor(e, c, 0);
	if (x != HIR_NONE && type_of(e, x)->elem == DT_TRIT)
		x = need_float(e, c, 0);
	if (x != HIR_NONE && dtype_class(type_of(e, x)->elem) != DTC_FLOAT) {
		struct diag *g =
			report_error(e, DIAG_OPERANDS, c->ats[0], "`%s` needs floats, not %s", c->sig->name, value_text(e, c->v[0]));
		diag_help(e->report.out, g, "convert with `float32(…)`");
		return VALUE_POISON;
	}
	if (c->sig->n == 4 && c->v[2].kind == V_BOOL) /* unbiased */
		c->v[2] = value_int(c->v[2].u.b);
	if (!infer_reduced_type(e, c, true, &x, &ax, &t) || (c->sig->n == 4 && !need_int(e, c, 2, &correction)))
		return VALUE_POISON;
	return emit_reduce(e, c, x, &ax, &t);
}

struct value rule_reduce_bool(struct emitter *e, struct builtin_call *c)
{
	struct axes ax;
	struct hir_type t;
	hir_ref x = need_tensor(e, c, 0);
	if (!infer_reduced_type(e, c, true, &x, &ax, &t))
		return VALUE_POISON;
	t.elem = DT_BOOL;
	return emit_reduce(e, c, x, &ax, &t);
}

struct value rule_reduce_extreme(struct emitter *e, struct builtin_call *c)
{
	struct axes ax;
	struct hir_type t;
	hir_ref x = need_tensor(e, c, 0);
	if (!infer_reduced_type(e, c, true, &x, &ax, &t) || !check_not_empty(e, c, x, ax.mask))
		return VALUE_POISON;
	return emit_reduce(e, c, x, &ax, &t);
}

struct value rule_logsumexp(struct emitter *e, struct builtin_call *c)
{
	struct axes ax;
	struct hir_type t;
	hir_ref x = need_float(e, c, 0);
	if (!infer_reduced_type(e, c, true, &x, &ax, &t))
		return VALUE_POISON;
	return emit_reduce(e, c, x, &ax, &t);
}

struct value rule_reduce_minmax(struct emitter *e, struct builtin_call *c)
{
	struct axes ax;
	struct hir_type t;
	bool scalar = c->v[0].kind == V_TENSOR && !type_of(e, c->v[0].u.t)->rank;
	bool number = c->v[1].kind == V_FLOAT || c->v[1].kind == V_INT || c->v[1].kind == V_DIM;
	if (c->v[1].kind == V_TENSOR || (scalar && number && !c->named[1])) { /* max(a, b) of two tensors or scalars */
		struct arg two[] = {{.v = c->v[0], .at = c->ats[0]}, {.v = c->v[1], .at = c->ats[1]}};
		struct args args = {2, two};
		return call_builtin(e, c->bi == BI_MAX ? BI_MAXIMUM : BI_MINIMUM, &args, c->at);
	}
	hir_ref x = need_tensor(e, c, 0);
	if (!infer_reduced_type(e, c, false, &x, &ax, &t) || !check_not_empty(e, c, x, ax.mask))
		return VALUE_POISON;
	struct value v = emit_reduce(e, c, x, &ax, &t);
	if (ax.all)
		return v;
	struct hir_type indices = t;
	indices.elem = DT_INT64;
	return emit_two_results(e, v.u.t, &t, &indices, c->at);
}

struct value rule_reduce_arg(struct emitter *e, struct builtin_call *c)
{
	struct axes ax;
	struct hir_type t;
	hir_ref x = need_tensor(e, c, 0);
	if (!infer_reduced_type(e, c, false, &x, &ax, &t) || !check_not_empty(e, c, x, ax.mask))
		return VALUE_POISON;
	t.elem = DT_INT64;
	return emit_reduce(e, c, x, &ax, &t);
}

struct value rule_softmax(struct emitter *e, struct builtin_call *c)
{
	uint32_t axis;
	hir_ref x = need_float(e, c, 0);
	if (x == HIR_NONE || !need_axis(e, c, 1, type_of(e, x)->rank, &axis))
		return VALUE_POISON;
	struct hir_type t = *type_of(e, x);
	struct hir_arg a[2] = {arg_tensor(x), arg_int(axis)};
	return value_tensor(emit_builtin(e, c->bi, &t, a, 2, c->at));
}
