/* Rules of the normalizations. */
#include <float.h>
#include "frontend/rules/builtin.h"

/* Loads an optional argument with the shape of `want`, converted to its element type. */
static bool need_shaped(struct emitter *e, struct builtin_call *c, uint32_t i, const struct hir_type *want, struct hir_arg *out)
{
	*out = arg_none();
	if (c->v[i].kind == V_NONE)
		return true;
	hir_ref r = need_tensor(e, c, i);
	if (r == HIR_NONE)
		return false;
	struct hir_type t = *type_of(e, r);
	if (!shapes_agree(e, &t, want)) {
		struct diag *g = report_error(e, DIAG_SHAPE, c->ats[i], "`%s` of `%s` has shape %s, but must have %s", arg_name(e, c, i),
					      c->sig->name, shape_text(e, &t), shape_text(e, want));
		diag_secondary(e->report.out, g, c->ats[0], "the input is %s", value_text(e, c->v[0]));
		return false;
	}
	if (!dtype_widens(t.elem, want->elem))
		return report_false(e, DIAG_OPERANDS, c->ats[i], "`%s` of `%s` has element type %s, which does not convert to %s",
				    arg_name(e, c, i), c->sig->name, dtype_text(t.elem), dtype_text(want->elem));
	*out = arg_tensor(emit_cast(e, r, want->elem, c->at));
	return true;
}

/* Returns the relative precision of a type, the default eps of PyTorch's rms_norm. */
static double precision(dtype t)
{
	switch (t) {
	case DT_FLOAT16: return 0x1p-10;
	case DT_BFLOAT16: return 0x1p-7;
	case DT_FLOAT64: return DBL_EPSILON;
	default: return FLT_EPSILON;
	}
}

/* Emits the normalization. Parameters `from` … to-1 have the shape `want`; the last parameter is eps. */
static struct value norm_emit_norm(struct emitter *e, struct builtin_call *c, hir_ref x, const struct hir_type *want, struct hir_arg *a,
				   uint32_t from, uint32_t to)
{
	struct hir_type t = *type_of(e, x);
	uint32_t eps = c->sig->n - 1;
	double v;
	a[0] = arg_tensor(x);
	for (uint32_t i = from; i < to; i++)
		if (!need_shaped(e, c, i, want, &a[i]))
			return VALUE_POISON;
	if (c->v[eps].kind == V_NONE)
		v = precision(t.elem);
	else if (!need_float_value(e, c, eps, &v))
		return VALUE_POISON;
	a[eps] = arg_float(v);
	return value_tensor(emit_builtin(e, c->bi, &t, a, c->sig->n, c->at));
}

/* Shifts the arguments of layer_norm(x, weight, bias), which has no shape. */
static void insert_missing_shape(struct builtin_call *c)
{
	uint32_t eps = c->sig->n - 1;
	if (c->v[1].kind != V_TENSOR)
		return;
	bool four = c->v[eps - 1].kind == V_FLOAT || c->v[eps - 1].kind == V_INT;
	for (uint32_t i = four ? eps : eps - 1; i > 1; i--)
		if (i == eps || !c->given[i] || c->given[i - 1]) {
			c->v[i] = c->v[i - 1];
			c->ats[i] = c->ats[i - 1];
		}
	c->v[1] = (struct value){.kind = V_NONE};
}

/* Finds the normalized dimensions: those of normalized_shape, else of the weight or bias, else the last one. */
static bool find_normalized_shape(struct emitter *e, struct builtin_call *c, const struct hir_type *t, struct hir_type *want)
{
	uint32_t n = 1;
	*want = (struct hir_type){.elem = t->elem};
	if (c->v[1].kind != V_NONE) {
		if (!need_sizes(e, c, 1, want->dims, &n, NULL))
			return false;
	} else {
		for (uint32_t i = c->sig->n - 2; i >= 2; i--)
			if (c->v[i].kind == V_TENSOR)
				n = type_of(e, c->v[i].u.t)->rank;
		for (uint32_t k = 0; k < n && n <= t->rank; k++)
			want->dims[k] = t->dims[t->rank - n + k];
	}
	want->rank = (uint8_t)n;
	bool fits = n && n <= t->rank;
	for (uint32_t k = 0; fits && k < n; k++)
		fits = dims_agree(e, want->dims[k], t->dims[t->rank - n + k]);
	if (fits)
		return true;
	if (c->v[1].kind == V_NONE)
		return rule_reject(e, c, DIAG_RANK, c->at, "the input %s does not have the %u dimensions of the weight or bias",
				   shape_text(e, t), n);
	struct diag *g = report_error(e, DIAG_SHAPE, c->ats[1], "`%s`: the last dimensions of the input are not the normalized_shape %s",
				      c->sig->name, shape_text(e, want));
	diag_secondary(e->report.out, g, c->ats[0], "%s has shape %s", source_excerpt(e, c->ats[0]), shape_text(e, t));
	return false;
}

/* layer_norm, rms_norm */
struct value rule_normalize_last_dims(struct emitter *e, struct builtin_call *c)
{
	struct hir_type want;
	struct hir_arg a[BUILTIN_MAX_PARAMS];
	hir_ref x = c->operand[0];
	insert_missing_shape(c);
	struct hir_type t = *type_of(e, x);
	if (!t.rank)
		return rule_error(e, c, DIAG_RANK, c->ats[0], "the input must not be a scalar");
	if (!find_normalized_shape(e, c, &t, &want))
		return VALUE_POISON;
	a[1] = arg_sizes(e, &want);
	return norm_emit_norm(e, c, x, &want, a, 2, c->sig->n - 1);
}

/* Loads floats [N, C, …]. */
static hir_ref need_channels(struct emitter *e, struct builtin_call *c)
{
	hir_ref x = need_float(e, c, 0);
	if (x == HIR_NONE || type_of(e, x)->rank >= 2)
		return x;
	rule_report(e, c, DIAG_RANK, c->ats[0], "needs a tensor [N, C, …], not %s", type_text(e, x));
	return HIR_NONE;
}

enum { BN_TRAINING = 5, BN_MOMENTUM, BN_EPS };

struct value rule_batch_norm(struct emitter *e, struct builtin_call *c)
{
	bool training = false;
	double momentum;
	hir_ref x = need_channels(e, c);
	if (x == HIR_NONE)
		return VALUE_POISON;
	struct hir_type t = *type_of(e, x);
	if ((c->v[1].kind == V_NONE) != (c->v[2].kind == V_NONE))
		return rule_error(e, c, DIAG_ARG_VALUE, c->at, "`running_mean` and `running_var` must be passed together");
	bool is_eps = (c->v[BN_TRAINING].kind == V_FLOAT || c->v[BN_TRAINING].kind == V_INT) && !c->given[BN_EPS];
	if (is_eps)
		c->v[BN_EPS] = c->v[BN_TRAINING];
	else if (!need_bool(e, c, BN_TRAINING, &training))
		return VALUE_POISON;
	if (c->v[BN_MOMENTUM].kind != V_NONE && !need_float_value(e, c, BN_MOMENTUM, &momentum))
		return VALUE_POISON;
	if (training)
		c->v[1] = c->v[2] = (struct value){.kind = V_NONE};
	struct hir_arg a[BUILTIN_MAX_PARAMS] = {[BN_TRAINING] = arg_none(), [BN_MOMENTUM] = arg_none()};
	struct hir_type want = {.elem = t.elem, .rank = 1, .dims = {t.dims[1]}};
	return norm_emit_norm(e, c, x, &want, a, 1, BN_TRAINING);
}

struct value rule_group_norm(struct emitter *e, struct builtin_call *c)
{
	int64_t groups, rest;
	hir_ref x = need_channels(e, c);
	if (x == HIR_NONE)
		return VALUE_POISON;
	struct hir_type t = *type_of(e, x);
	if (!need_int(e, c, 1, &groups))
		return VALUE_POISON;
	if (groups < 1)
		return rule_error(e, c, DIAG_ARG_VALUE, c->ats[1], "`num_groups` must be at least 1, not %lld", (long long)groups);
	if (dim_is_const(e->b->dims, dim_mod(e->b->dims, t.dims[1], dim_const(e->b->dims, groups)), &rest) && rest) {
		struct diag *g = report_error(e, DIAG_SHAPE, c->ats[1], "`group_norm`: the channels are not divisible by %lld groups",
					      (long long)groups);
		diag_secondary(e->report.out, g, c->ats[0], "%s has shape %s; dimension 1 is the channels", source_excerpt(e, c->ats[0]),
			       shape_text(e, &t));
		return VALUE_POISON;
	}
	struct hir_arg a[BUILTIN_MAX_PARAMS] = {[1] = arg_int(groups)};
	struct hir_type want = {.elem = t.elem, .rank = 1, .dims = {t.dims[1]}};
	return norm_emit_norm(e, c, x, &want, a, 2, 4);
}
