/* Rules of matrix products, normalisations and embedding. */
#include <float.h>
#include <string.h>
#include "frontend/builtin.h"

/* The element type of a @ b, DT_COUNT: there is none. */
static dtype matmul_type(dtype a, dtype b)
{
	enum dtype_class ka = dtype_class(a), kb = dtype_class(b);
	if (ka == DTC_BOOL || kb == DTC_BOOL)
		return DT_COUNT;
	if (ka == DTC_TRIT && kb == DTC_TRIT)
		return DT_INT32;
	if (ka == DTC_TRIT || kb == DTC_TRIT) {
		dtype other = ka == DTC_TRIT ? b : a;
		return dtype_class(other) == DTC_FLOAT ? other : dtype_join(other, DT_INT32);
	}
	if (ka == DTC_INT && kb == DTC_INT)
		return dtype_join(dtype_join(a, b), DT_INT32);
	return dtype_join(a, b);
}

static struct value inner_mismatch(struct elab *e, struct bcall *c, const struct core_type *a, const struct core_type *b)
{
	uint32_t ka = a->rank - 1u, kb = b->rank > 1 ? b->rank - 2u : 0;
	struct buf da = {0}, db = {0};
	dim_print(e->b->dims, a->dims[ka], &da);
	dim_print(e->b->dims, b->dims[kb], &db);
	struct diag *g = elab_error(e, DIAG_MATMUL_SHAPE, c->at, "matrix product of shapes %s and %s: %s columns meet %s rows",
				    elab_shape_text(e, a), elab_shape_text(e, b), da.at, db.at);
	diag_secondary(e->out, g, c->ats[0], "%s has shape %s", elab_source_text(e, c->ats[0]), elab_shape_text(e, a));
	diag_secondary(e->out, g, c->ats[1], "%s has shape %s", elab_source_text(e, c->ats[1]), elab_shape_text(e, b));
	if (b->rank >= 2 && dim_eq(a->dims[ka], b->dims[b->rank - 1]))
		diag_help(e->out, g, "transpose the second operand: `.transpose(-2, -1)`");
	buf_free(&da);
	buf_free(&db);
	return VALUE_POISON;
}

static bool matmul_shape(struct elab *e, struct bcall *c, const struct core_type *a, const struct core_type *b, struct core_type *out)
{
	if (!a->rank || !b->rank) {
		elab_error(e, DIAG_RANK, c->ats[!a->rank ? 0 : 1],
			   "a matrix product needs operands of at least one dimension, not a scalar");
		return false;
	}
	if (!dims_agree(e, a->dims[a->rank - 1], b->dims[b->rank > 1 ? b->rank - 2 : 0]))
		return inner_mismatch(e, c, a, b), false;
	struct core_type batch_a = *a, batch_b = *b;
	batch_a.rank = a->rank > 2 ? (uint8_t)(a->rank - 2) : 0;
	batch_b.rank = b->rank > 2 ? (uint8_t)(b->rank - 2) : 0;
	*out = batch_a;
	if (!broadcast_dims(e, out, &batch_b)) {
		struct diag *g = elab_error(e, DIAG_BROADCAST, c->at, "the batch dimensions of %s and %s do not broadcast",
					    elab_shape_text(e, a), elab_shape_text(e, b));
		diag_secondary(e->out, g, c->ats[0], "%s", elab_shape_text(e, a));
		diag_secondary(e->out, g, c->ats[1], "%s", elab_shape_text(e, b));
		return false;
	}
	if (out->rank + 2 > CORE_MAX_RANK)
		return shape_error(e, c, DIAG_RANK, c->at, "a tensor has at most %d dimensions", CORE_MAX_RANK), false;
	if (a->rank > 1)
		out->dims[out->rank++] = a->dims[a->rank - 2];
	if (b->rank > 1)
		out->dims[out->rank++] = b->dims[b->rank - 1];
	return true;
}

bool product_types(struct elab *e, struct bcall *c, core_ref *a, core_ref *b, dtype *elem)
{
	dtype ta = type_of(e, *a)->elem, tb = type_of(e, *b)->elem;
	*elem = matmul_type(ta, tb);
	if (*elem == DT_COUNT) {
		struct diag *g = elab_error(e, DIAG_OPERANDS, c->at, "no %s of %s and %s",
					    c->bi == BI_MATMUL || c->bi == BI_TERNARY_MATMUL ? "matrix product" : "convolution",
					    dtype_text(ta), dtype_text(tb));
		diag_secondary(e->out, g, c->ats[0], "%s", elab_type_text(e, *a));
		diag_secondary(e->out, g, c->ats[1], "%s", elab_type_text(e, *b));
		return false;
	}
	if (dtype_class(*elem) == DTC_FLOAT) {
		*a = ta == DT_TRIT ? *a : emit_cast(e, *a, *elem, c->ats[0]);
		*b = tb == DT_TRIT ? *b : emit_cast(e, *b, *elem, c->ats[1]);
	}
	return true;
}

struct value rule_matmul(struct elab *e, struct bcall *c)
{
	struct core_type out;
	core_ref a = need_tensor(e, c, 0), b = need_tensor(e, c, 1);
	if (a == CORE_NONE || b == CORE_NONE)
		return VALUE_POISON;
	struct core_type ta = *type_of(e, a), tb = *type_of(e, b);
	dtype elem;
	if (!product_types(e, c, &a, &b, &elem) || !matmul_shape(e, c, &ta, &tb, &out))
		return VALUE_POISON;
	out.elem = elem;
	struct core_arg args[2] = {arg_tensor(a), arg_tensor(b)};
	return value_tensor(emit_builtin(e, BI_MATMUL, &out, args, 2, c->at));
}

struct value rule_ternary_matmul(struct elab *e, struct bcall *c)
{
	core_ref w = need_tensor(e, c, 1);
	if (w != CORE_NONE && type_of(e, w)->elem != DT_TRIT) {
		elab_error(e, DIAG_TYPE_MISMATCH, c->ats[1], "the weights of `ternary_matmul` must be trits, not %s",
			   elab_value_text(e, c->v[1]));
		return VALUE_POISON;
	}
	return rule_matmul(e, c);
}

static bool need_vectors(struct elab *e, struct bcall *c)
{
	for (uint32_t i = 0; i < 2; i++) {
		core_ref r = need_tensor(e, c, i);
		if (r == CORE_NONE)
			return false;
		if (type_of(e, r)->rank != 1)
			return shape_error(e, c, DIAG_RANK, c->ats[i], "needs vectors, not %s", elab_type_text(e, r)), false;
	}
	return true;
}

struct value rule_dot(struct elab *e, struct bcall *c) { return need_vectors(e, c) ? rule_matmul(e, c) : VALUE_POISON; }

struct value rule_outer(struct elab *e, struct bcall *c)
{
	if (!need_vectors(e, c))
		return VALUE_POISON;
	struct core_type t = *type_of(e, c->v[0].u.t);
	t.dims[t.rank++] = dim_const(e->b->dims, 1);
	struct arg two[] = {{.v = emit_reshape(e, c->v[0].u.t, &t, c->at), .at = c->ats[0]}, {.v = c->v[1], .at = c->ats[1]}};
	struct args args = {2, two};
	return call_builtin(e, BI_MUL, &args, c->at);
}

/* ---- normalisations ---- */

/* An optional argument of the shape `want` that converts to the element type of `want`. */
static bool need_shaped(struct elab *e, struct bcall *c, uint32_t i, const struct core_type *want, struct core_arg *out)
{
	*out = arg_none();
	if (c->v[i].kind == V_NONE)
		return true;
	core_ref r = need_tensor(e, c, i);
	if (r == CORE_NONE)
		return false;
	struct core_type t = *type_of(e, r);
	bool fits = t.rank == want->rank;
	for (uint32_t k = 0; fits && k < t.rank; k++)
		fits = dims_agree(e, t.dims[k], want->dims[k]);
	if (!fits) {
		struct diag *g = elab_error(e, DIAG_SHAPE, c->ats[i], "`%s` of `%s` has shape %s, but %s is needed",
					    name_text(e->f, c->sig->params[i].name), bcall_name(c), elab_shape_text(e, &t),
					    elab_shape_text(e, want));
		diag_secondary(e->out, g, c->ats[0], "for %s", elab_value_text(e, c->v[0]));
		return false;
	}
	if (!dtype_widens(t.elem, want->elem)) {
		elab_error(e, DIAG_OPERANDS, c->ats[i], "`%s` of `%s` has elements of type %s, which do not convert to %s",
			   name_text(e->f, c->sig->params[i].name), bcall_name(c), dtype_text(t.elem), dtype_text(want->elem));
		return false;
	}
	*out = arg_tensor(emit_cast(e, r, want->elem, c->at));
	return true;
}

/* The relative precision of a type: what PyTorch's rms_norm adds where no eps is given. */
static double precision(dtype t)
{
	switch (t) {
	case DT_FLOAT16: return 0x1p-10;
	case DT_BFLOAT16: return 0x1p-7;
	case DT_FLOAT64: return DBL_EPSILON;
	default: return FLT_EPSILON;
	}
}

/* Parameters `from` … to-1 have the shape `want`; the last is eps. */
static struct value normalise(struct elab *e, struct bcall *c, core_ref x, const struct core_type *want, struct core_arg *a, uint32_t from,
			      uint32_t to)
{
	struct core_type t = *type_of(e, x);
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
	a[eps] = (struct core_arg){.kind = ARG_FLOAT, .u.f = v};
	return value_tensor(emit_builtin(e, c->bi, &t, a, c->sig->n, c->at));
}

/* layer_norm(x, weight, bias): the shape may be left out. */
static void insert_shape(struct bcall *c)
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

/* The dims that are normalised over: those of normalized_shape, else of the weight or bias, else the last. */
static bool normal_shape(struct elab *e, struct bcall *c, const struct core_type *t, struct core_type *want)
{
	uint32_t n = 1;
	*want = (struct core_type){.elem = t->elem};
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
		return shape_error(e, c, DIAG_RANK, c->at, "%s does not have the %u dimensions to normalise over", elab_shape_text(e, t),
				   n),
		       false;
	struct diag *g = elab_error(e, DIAG_SHAPE, c->ats[1], "`%s`: the input's last dimensions are not the normalized_shape %s",
				    bcall_name(c), elab_shape_text(e, want));
	diag_secondary(e->out, g, c->ats[0], "%s has shape %s", elab_source_text(e, c->ats[0]), elab_shape_text(e, t));
	return false;
}

static struct value last_dims(struct elab *e, struct bcall *c)
{
	struct core_type want;
	struct core_arg a[BUILTIN_MAX_PARAMS], sizes[CORE_MAX_RANK];
	core_ref x = need_float(e, c, 0);
	insert_shape(c);
	if (x == CORE_NONE)
		return VALUE_POISON;
	struct core_type t = *type_of(e, x);
	if (!t.rank)
		return shape_error(e, c, DIAG_RANK, c->ats[0], "a scalar has no last dimension");
	if (!normal_shape(e, c, &t, &want))
		return VALUE_POISON;
	for (uint32_t k = 0; k < want.rank; k++)
		sizes[k] = arg_dim(want.dims[k]);
	a[1] = arg_list(e, sizes, want.rank);
	return normalise(e, c, x, &want, a, 2, c->sig->n - 1);
}

struct value rule_layer_norm(struct elab *e, struct bcall *c) { return last_dims(e, c); }
struct value rule_rms_norm(struct elab *e, struct bcall *c) { return last_dims(e, c); }

enum { BN_TRAINING = 5, BN_MOMENTUM, BN_EPS };

struct value rule_batch_norm(struct elab *e, struct bcall *c)
{
	bool training = false;
	double momentum;
	core_ref x = need_float(e, c, 0);
	if (x == CORE_NONE)
		return VALUE_POISON;
	struct core_type t = *type_of(e, x);
	if (t.rank < 2)
		return shape_error(e, c, DIAG_RANK, c->ats[0], "needs at least two dimensions, [N, C, …], not %s", elab_type_text(e, x));
	if ((c->v[1].kind == V_NONE) != (c->v[2].kind == V_NONE))
		return shape_error(e, c, DIAG_ARG_VALUE, c->at, "running_mean and running_var come together");
	bool is_eps = (c->v[BN_TRAINING].kind == V_FLOAT || c->v[BN_TRAINING].kind == V_INT) && !c->given[BN_EPS];
	if (is_eps)
		c->v[BN_EPS] = c->v[BN_TRAINING];
	else if (!need_bool(e, c, BN_TRAINING, &training))
		return VALUE_POISON;
	if (c->v[BN_MOMENTUM].kind != V_NONE && !need_float_value(e, c, BN_MOMENTUM, &momentum))
		return VALUE_POISON;
	if (training)
		c->v[1] = c->v[2] = (struct value){.kind = V_NONE};
	struct core_arg a[BUILTIN_MAX_PARAMS] = {[BN_TRAINING] = arg_none(), [BN_MOMENTUM] = arg_none()};
	struct core_type want = {.elem = t.elem, .rank = 1, .dims = {t.dims[1]}};
	return normalise(e, c, x, &want, a, 1, BN_TRAINING);
}

struct value rule_group_norm(struct elab *e, struct bcall *c)
{
	int64_t groups, rest;
	core_ref x = need_float(e, c, 0);
	if (x == CORE_NONE)
		return VALUE_POISON;
	struct core_type t = *type_of(e, x);
	if (t.rank < 2)
		return shape_error(e, c, DIAG_RANK, c->ats[0], "needs at least two dimensions, [N, C, …], not %s", elab_type_text(e, x));
	if (!need_int(e, c, 1, &groups))
		return VALUE_POISON;
	if (groups < 1)
		return shape_error(e, c, DIAG_ARG_VALUE, c->ats[1], "num_groups must be at least 1, not %lld", (long long)groups);
	if (dim_is_const(e->b->dims, dim_mod(e->b->dims, t.dims[1], dim_const(e->b->dims, groups)), &rest) && rest) {
		struct diag *g =
			elab_error(e, DIAG_SHAPE, c->ats[1], "`group_norm`: %lld groups do not divide the channels", (long long)groups);
		diag_secondary(e->out, g, c->ats[0], "%s has shape %s: its channels are dimension 1", elab_source_text(e, c->ats[0]),
			       elab_shape_text(e, &t));
		return VALUE_POISON;
	}
	struct core_arg a[BUILTIN_MAX_PARAMS] = {[1] = arg_int(groups)};
	struct core_type want = {.elem = t.elem, .rank = 1, .dims = {t.dims[1]}};
	return normalise(e, c, x, &want, a, 2, 4);
}

struct value rule_embedding(struct elab *e, struct bcall *c)
{
	core_ref x = need_tensor(e, c, 0), w = need_tensor(e, c, 1);
	if (x == CORE_NONE || w == CORE_NONE)
		return VALUE_POISON;
	struct core_type t = *type_of(e, x), tw = *type_of(e, w);
	if (dtype_class(t.elem) != DTC_INT)
		return shape_error(e, c, DIAG_TYPE_MISMATCH, c->ats[0], "the indices must be integers, not %s", elab_type_text(e, x));
	if (tw.rank != 2 || t.rank == CORE_MAX_RANK)
		return shape_error(e, c, DIAG_RANK, c->ats[1], "the table must have two dimensions, not %s", elab_type_text(e, w));
	t.elem = tw.elem;
	t.dims[t.rank++] = tw.dims[1];
	struct core_arg a[2] = {arg_tensor(x), arg_tensor(w)};
	return value_tensor(emit_builtin(e, BI_EMBEDDING, &t, a, 2, c->at));
}
