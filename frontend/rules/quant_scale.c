/* Rules of the quantizers that compute a scale from the data and return it, too. */
#include "frontend/rules/builtin.h"

/* Returns trits unchanged, in element type `elem`, with a scale of ones in shape s. */
static struct value keep_trits(struct emitter *e, struct builtin_call *c, dtype elem, const struct hir_type *type)
{
	struct hir_type t = *type;
	t.elem = DT_FLOAT32;
	struct hir_arg a[2] = {arg_sizes(e, &t), arg_none()};
	hir_ref trits = emit_cast(e, need_tensor(e, c, 0), elem, c->at);
	return TUPLE(value_tensor(trits), value_tensor(emit_builtin(e, BI_ONES, &t, a, 2, c->at)));
}

struct value rule_absmean_quantize(struct emitter *e, struct builtin_call *c)
{
	if (is_trits(e, c, 0))
		return keep_trits(e, c, DT_TRIT, &(struct hir_type){0});
	hir_ref x = need_wide_float(e, c, 0);
	if (x == HIR_NONE)
		return VALUE_POISON;
	struct hir_type q = *type_of(e, x), s = {.elem = q.elem};
	q.elem = DT_TRIT;
	struct hir_arg a = arg_tensor(x);
	return emit_two_results(e, emit_builtin(e, c->bi, &q, &a, 1, c->at), &q, &s, c->at);
}

struct value rule_absmax_quantize(struct emitter *e, struct builtin_call *c)
{
	uint32_t axes[HIR_MAX_RANK], n = 1;
	struct hir_arg items[HIR_MAX_RANK];
	bool trits = is_trits(e, c, 0);
	hir_ref x = c->operand[0];
	if (!need_axes(e, c, 1, type_of(e, x)->rank, axes, &n))
		return VALUE_POISON;
	if (!n)
		return rule_error(e, c, DIAG_ARG_VALUE, c->ats[1], "at least one dimension is needed");
	struct hir_type q = *type_of(e, x), s = q;
	q.elem = DT_INT8;
	for (uint32_t k = 0; k < n; k++) {
		s.dims[axes[k]] = dim_const(e->b->dims, 1);
		items[k] = arg_int(axes[k]);
	}
	if (trits)
		return keep_trits(e, c, DT_INT8, &s);
	struct hir_arg a[2] = {arg_tensor(x), n == 1 ? items[0] : arg_list(e, items, n)};
	return emit_two_results(e, emit_builtin(e, c->bi, &q, a, 2, c->at), &q, &s, c->at);
}

/* Sets the type of the scale: rank 0, or with `dim` (argument i) the shape of x with that dimension reduced to 1. */
static bool scale_type(struct emitter *e, struct builtin_call *c, uint32_t i, const struct hir_type *x, struct hir_type *type,
		       struct hir_arg *axis_arg)
{
	uint32_t axis;
	*type = (struct hir_type){.elem = x->elem};
	*axis_arg = arg_none();
	if (c->v[i].kind == V_NONE)
		return true;
	if (!need_axis(e, c, i, x->rank, &axis))
		return false;
	*type = *x;
	type->dims[axis] = dim_const(e->b->dims, 1);
	*axis_arg = arg_int(axis);
	return true;
}

/* Quantizes by the quantile of |x| in argument i as the threshold. */
static struct value quantize_by_quantile(struct emitter *e, struct builtin_call *c, uint32_t i, struct value x)
{
	double share;
	struct value v = c->v[i];
	if (v.kind != V_TENSOR) {
		if (!need_float_value(e, c, i, &share))
			return VALUE_POISON;
		if (share < 0 || share > 1)
			return rule_error(e, c, DIAG_ARG_VALUE, c->ats[i], "`%s` must be between 0 and 1, not %g", arg_name(e, c, i),
					  share);
		v = value_float(share);
	}
	struct arg given[] = {{.v = COMPOSE(BI_ABS, x), .at = c->ats[0]},
			      {.v = v, .at = c->ats[i]},
			      {.v = c->v[2], .at = c->ats[2]},
			      {.v = value_bool(c->v[2].kind != V_NONE), .at = c->at}};
	struct args args = {4, given};
	return COMPOSE(BI_THRESHOLD_QUANTIZE, x, call_builtin(e, BI_QUANTILE, &args, c->at));
}

struct value rule_adaptive_threshold_quantize(struct emitter *e, struct builtin_call *c)
{
	double factor;
	bool trits = is_trits(e, c, 0);
	hir_ref x = c->operand[0];
	enum { PERCENTILE = 3, TARGET_SPARSITY };
	bool percentile = c->v[PERCENTILE].kind != V_NONE, sparsity = c->v[TARGET_SPARSITY].kind != V_NONE;
	if ((percentile && sparsity) || (c->given[1] && (percentile || sparsity)))
		return rule_error(e, c, DIAG_ARG_VALUE, c->at, "takes only one of `factor`, `percentile` and `target_sparsity`");
	if (percentile || sparsity)
		return trits ? value_tensor(need_tensor(e, c, 0))
			     : quantize_by_quantile(e, c, percentile ? PERCENTILE : TARGET_SPARSITY, value_tensor(x));
	struct hir_type q = *type_of(e, x), s;
	struct hir_arg a[BUILTIN_MAX_PARAMS] = {arg_tensor(x)};
	if (!need_float_value(e, c, 1, &factor) || !scale_type(e, c, 2, &q, &s, &a[2]))
		return VALUE_POISON;
	if (factor < 0)
		return rule_error(e, c, DIAG_ARG_VALUE, c->ats[1], "`factor` must not be negative");
	if (trits)
		return keep_trits(e, c, DT_TRIT, &s);
	a[1] = arg_float(factor);
	q.elem = DT_TRIT;
	return emit_two_results(e, emit_builtin(e, c->bi, &q, a, c->sig->n, c->at), &q, &s, c->at);
}

struct value rule_xnor_quantize(struct emitter *e, struct builtin_call *c)
{
	bool binary, trits = is_trits(e, c, 0);
	hir_ref x = c->operand[0];
	if (!need_bool(e, c, 2, &binary))
		return VALUE_POISON;
	struct hir_type q = *type_of(e, x), s;
	struct hir_arg a[3] = {arg_tensor(x), arg_none(), plain_arg(c->v[2])};
	if (!scale_type(e, c, 1, &q, &s, &a[1]))
		return VALUE_POISON;
	if (trits)
		return keep_trits(e, c, DT_TRIT, &s);
	q.elem = DT_TRIT;
	return emit_two_results(e, emit_builtin(e, c->bi, &q, a, 3, c->at), &q, &s, c->at);
}
