/* Rules of the quantizers that take a scale from the data and return it as well. */
#include "frontend/rules/builtin.h"

static struct value two_values(struct emitter *e, struct value a, struct value b)
{
	struct value v = value_seq(e->f->arena, V_TUPLE, 2);
	v.u.seq->at[0] = a;
	v.u.seq->at[1] = b;
	return v;
}

static struct value two_results(struct emitter *e, hir_ref r, const struct hir_type *a, const struct hir_type *b, span at)
{
	struct value first = value_tensor(emit_result(e, r, 0, a, at)), second = value_tensor(emit_result(e, r, 1, b, at));
	return two_values(e, first, second);
}

/* Trits stay what they are: those of element type `elem`, with ones as the scale of shape s. */
static struct value unscaled(struct emitter *e, struct bcall *c, dtype elem, const struct hir_type *s)
{
	struct hir_arg sizes[HIR_MAX_RANK], a[2] = {arg_none(), arg_none()};
	struct hir_type t = *s;
	hir_ref x = need_tensor(e, c, 0);
	t.elem = DT_FLOAT32;
	for (uint32_t i = 0; i < t.rank; i++)
		sizes[i] = arg_dim(t.dims[i]);
	a[0] = arg_list(e, sizes, t.rank);
	struct value trits = value_tensor(emit_cast(e, x, elem, c->at)), ones = value_tensor(emit_builtin(e, BI_ONES, &t, a, 2, c->at));
	return two_values(e, trits, ones);
}

struct value rule_absmean_quantize(struct emitter *e, struct bcall *c)
{
	if (is_trits(e, c, 0))
		return unscaled(e, c, DT_TRIT, &(struct hir_type){0});
	hir_ref x = need_wide_float(e, c, 0);
	if (x == HIR_NONE)
		return VALUE_POISON;
	struct hir_type q = *type_of(e, x), s = {.elem = q.elem};
	q.elem = DT_TRIT;
	struct hir_arg a = arg_tensor(x);
	return two_results(e, emit_builtin(e, c->bi, &q, &a, 1, c->at), &q, &s, c->at);
}

struct value rule_absmax_quantize(struct emitter *e, struct bcall *c)
{
	uint32_t axis;
	bool trits = is_trits(e, c, 0);
	hir_ref x = need_wide_float(e, c, 0);
	if (x == HIR_NONE || !need_axis(e, c, 1, type_of(e, x)->rank, &axis))
		return VALUE_POISON;
	struct hir_type q = *type_of(e, x), s = q;
	q.elem = DT_INT8;
	s.dims[axis] = dim_const(e->b->dims, 1);
	if (trits)
		return unscaled(e, c, DT_INT8, &s);
	struct hir_arg a[2] = {arg_tensor(x), arg_int(axis)};
	return two_results(e, emit_builtin(e, c->bi, &q, a, 2, c->at), &q, &s, c->at);
}

/* A scale over everything, of rank 0, or with `dim` (argument i) one for each place along the others, `dim` kept. */
static bool scale_type(struct emitter *e, struct bcall *c, uint32_t i, const struct hir_type *x, struct hir_type *s, struct hir_arg *where)
{
	uint32_t axis;
	*s = (struct hir_type){.elem = x->elem};
	*where = arg_none();
	if (c->v[i].kind == V_NONE)
		return true;
	if (!need_axis(e, c, i, x->rank, &axis))
		return false;
	*s = *x;
	s->dims[axis] = dim_const(e->b->dims, 1);
	*where = arg_int(axis);
	return true;
}

/* Trits by the threshold under which the share of |x| lies that argument i says. */
static struct value by_share(struct emitter *e, struct bcall *c, uint32_t i, struct value x)
{
	double share;
	struct value v = c->v[i];
	if (v.kind != V_TENSOR) {
		if (!need_float_value(e, c, i, &share))
			return VALUE_POISON;
		if (share < 0 || share > 1)
			return shape_error(e, c, DIAG_ARG_VALUE, c->ats[i], "a share lies between 0 and 1, not %g", share);
		v = value_float(share);
	}
	struct arg given[] = {{.v = call1(e, BI_ABS, x, c->at), .at = c->ats[0]},
			      {.v = v, .at = c->ats[i]},
			      {.v = c->v[2], .at = c->ats[2]},
			      {.v = value_bool(c->v[2].kind != V_NONE), .at = c->at}};
	struct args args = {4, given};
	return call2(e, BI_THRESHOLD_QUANTIZE, x, call_builtin(e, BI_QUANTILE, &args, c->at), c->at);
}

struct value rule_adaptive_threshold_quantize(struct emitter *e, struct bcall *c)
{
	double factor;
	bool trits = is_trits(e, c, 0);
	hir_ref x = need_wide_float(e, c, 0);
	if (x == HIR_NONE)
		return VALUE_POISON;
	enum { PERCENTILE = 3, TARGET_SPARSITY };
	bool percentile = c->v[PERCENTILE].kind != V_NONE, sparsity = c->v[TARGET_SPARSITY].kind != V_NONE;
	if ((percentile && sparsity) || (c->given[1] && (percentile || sparsity)))
		return shape_error(e, c, DIAG_ARG_VALUE, c->at, "needs one of `factor`, `percentile` and `target_sparsity`");
	if (percentile || sparsity)
		return trits ? value_tensor(need_tensor(e, c, 0))
			     : by_share(e, c, percentile ? PERCENTILE : TARGET_SPARSITY, value_tensor(x));
	struct hir_type q = *type_of(e, x), s;
	struct hir_arg a[BUILTIN_MAX_PARAMS] = {arg_tensor(x)};
	if (!need_float_value(e, c, 1, &factor) || !scale_type(e, c, 2, &q, &s, &a[2]))
		return VALUE_POISON;
	if (factor < 0)
		return shape_error(e, c, DIAG_ARG_VALUE, c->ats[1], "the factor cannot be negative");
	if (trits)
		return unscaled(e, c, DT_TRIT, &s);
	a[1] = (struct hir_arg){.kind = ARG_FLOAT, .u.f = factor};
	q.elem = DT_TRIT;
	return two_results(e, emit_builtin(e, c->bi, &q, a, c->sig->n, c->at), &q, &s, c->at);
}

struct value rule_xnor_quantize(struct emitter *e, struct bcall *c)
{
	bool binary, trits = is_trits(e, c, 0);
	hir_ref x = need_wide_float(e, c, 0);
	if (x == HIR_NONE || !need_bool(e, c, 2, &binary))
		return VALUE_POISON;
	struct hir_type q = *type_of(e, x), s;
	struct hir_arg a[3] = {arg_tensor(x), arg_none(), plain_arg(c->v[2])};
	if (!scale_type(e, c, 1, &q, &s, &a[1]))
		return VALUE_POISON;
	if (trits)
		return unscaled(e, c, DT_TRIT, &s);
	q.elem = DT_TRIT;
	return two_results(e, emit_builtin(e, c->bi, &q, a, 3, c->at), &q, &s, c->at);
}
