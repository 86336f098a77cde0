/* Rules of attention and rotary position embedding. */
#include "frontend/rules/builtin.h"

enum { Q, K, V, MASK };

/* Grouped-query attention: if keys or values have fewer heads than the queries, gives them the number of query heads. */
static void repeat_heads(struct emitter *e, const struct hir_type *type, struct hir_type *kv)
{
	int64_t nq, n;
	if (type->rank < 3 || kv->rank < 3 || !const_sizes(e, type->dims[type->rank - 3], kv->dims[kv->rank - 3], &nq, &n))
		return;
	if (n > 1 && nq > n && nq % n == 0)
		kv->dims[kv->rank - 3] = type->dims[type->rank - 3];
}

static bool load_operand(struct emitter *e, struct builtin_call *c, uint32_t i, hir_ref *r, struct hir_type *t)
{
	*r = need_float(e, c, i);
	if (*r == HIR_NONE)
		return false;
	*t = *type_of(e, *r);
	if (t->rank >= 2)
		return true;
	return rule_reject(e, c, DIAG_RANK, c->ats[i], "needs tensors [..., length, features], not %s", type_text(e, *r));
}

static void label_shape(struct emitter *e, struct builtin_call *c, struct diag *g, uint32_t i, const struct hir_type *t)
{
	diag_secondary(e->report.out, g, c->ats[i], "`%s` has shape %s", arg_name(e, c, i), shape_text(e, t));
}

static bool attention_same_size(struct emitter *e, struct builtin_call *c, const struct hir_type *t, uint32_t i, uint32_t from_end,
				uint32_t k, const char *what)
{
	const struct hir_type *a = &t[i], *b = &t[k];
	if (dims_agree(e, a->dims[a->rank - from_end], b->dims[b->rank - from_end]))
		return true;
	struct diag *g = report_error(e, DIAG_SHAPE, c->ats[k], "`attention`: %s", what);
	label_shape(e, c, g, i, a);
	label_shape(e, c, g, k, b);
	return false;
}

static bool join_batch(struct emitter *e, struct builtin_call *c, uint32_t i, const struct hir_type *t, struct hir_type *out)
{
	struct hir_type batch = t[i];
	if (batch.rank < 2)
		return true;
	batch.rank -= 2;
	if (broadcast_dims(e, out, &batch))
		return true;
	struct diag *g =
		report_error(e, DIAG_BROADCAST, c->ats[i], "`attention`: the leading dimensions %s of `%s` do not broadcast with %s",
			     shape_text(e, &batch), arg_name(e, c, i), shape_text(e, out));
	label_shape(e, c, g, Q, &t[Q]);
	label_shape(e, c, g, i, &t[i]);
	diag_help(e->report.out, g,
		  "leading dimensions must broadcast; the heads of q (dimension -3) may also be a multiple of those of k and v");
	return false;
}

/* A mask broadcasts to the scores [.., L, S]. Floats are added to the scores; false hides a key. */
static bool load_mask(struct emitter *e, struct builtin_call *c, struct hir_type *t, dtype elem, struct hir_arg *out)
{
	hir_ref r = need_tensor(e, c, MASK);
	if (r == HIR_NONE)
		return false;
	t[MASK] = *type_of(e, r);
	if (t[MASK].elem != DT_BOOL && (dtype_class(t[MASK].elem) != DTC_FLOAT || !dtype_widens(t[MASK].elem, elem))) {
		struct diag *g = report_error(e, DIAG_OPERANDS, c->ats[MASK], "the mask must be bools or %s, not %s", dtype_text(elem),
					      value_text(e, c->v[MASK]));
		diag_help(e->report.out, g, "use true where a query may see a key, or floats that are added to the scores");
		return false;
	}
	struct hir_type scores = {.rank = 2, .dims = {t[Q].dims[t[Q].rank - 2], t[K].dims[t[K].rank - 2]}}, tail = t[MASK], both = scores;
	if (tail.rank > 2) {
		tail.rank = 2;
		tail.dims[0] = t[MASK].dims[t[MASK].rank - 2];
		tail.dims[1] = t[MASK].dims[t[MASK].rank - 1];
	}
	if (!broadcast_dims(e, &both, &tail) || !dims_agree(e, both.dims[0], scores.dims[0]) ||
	    !dims_agree(e, both.dims[1], scores.dims[1])) {
		struct diag *g = report_error(e, DIAG_BROADCAST, c->ats[MASK], "the mask's shape %s does not broadcast to the scores %s",
					      shape_text(e, &t[MASK]), shape_text(e, &scores));
		diag_note(e->report.out, g, "the scores have a row for each query and a column for each key");
		return false;
	}
	*out = arg_tensor(t[MASK].elem == DT_BOOL ? r : emit_cast(e, r, elem, c->ats[MASK]));
	return true;
}

struct value rule_attention(struct emitter *e, struct builtin_call *c)
{
	hir_ref r[3];
	struct hir_type t[4] = {0}, out;
	struct hir_arg a[6];
	bool causal;
	double scale;
	for (uint32_t i = Q; i <= V; i++)
		if (!load_operand(e, c, i, &r[i], &t[i]))
			return VALUE_POISON;
	if (!need_bool(e, c, 4, &causal) || (c->v[5].kind != V_NONE && !need_float_value(e, c, 5, &scale)))
		return VALUE_POISON;
	if (!attention_same_size(e, c, t, Q, 1, K, "queries and keys have different numbers of features") ||
	    !attention_same_size(e, c, t, K, 2, V, "keys and values have different lengths"))
		return VALUE_POISON;
	dtype elem = dtype_join(dtype_join(t[Q].elem, t[K].elem), t[V].elem);
	a[MASK] = arg_none();
	if (c->v[MASK].kind != V_NONE && !load_mask(e, c, t, elem, &a[MASK]))
		return VALUE_POISON;
	repeat_heads(e, &t[Q], &t[K]);
	repeat_heads(e, &t[Q], &t[V]);
	out = t[Q];
	out.rank -= 2;
	for (uint32_t i = K; i <= MASK; i++)
		if (!join_batch(e, c, i, t, &out))
			return VALUE_POISON;
	out.elem = elem;
	out.dims[out.rank++] = t[Q].dims[t[Q].rank - 2];
	out.dims[out.rank++] = t[V].dims[t[V].rank - 1];
	for (uint32_t i = Q; i <= V; i++)
		a[i] = arg_tensor(emit_cast(e, r[i], elem, c->ats[i]));
	a[4] = plain_arg(c->v[4]);
	a[5] = c->v[5].kind == V_NONE ? arg_none() : arg_float(scale);
	return value_tensor(emit_builtin(e, c->bi, &out, a, 6, c->at));
}

/* ---- rope ---- */

/* Positions: none (from 0), the first one (an integer or a scalar tensor), or one for each row. */
static bool load_positions(struct emitter *e, struct builtin_call *c, const struct hir_type *x, uint32_t axis, struct hir_arg *out)
{
	struct value v = c->v[1];
	dim first;
	*out = arg_none();
	if (v.kind == V_NONE)
		return true;
	if (v.kind == V_INT && v.u.i < 0)
		return rule_reject(e, c, DIAG_ARG_VALUE, c->ats[1], "a position must not be negative");
	if (size_value(e, v, &first))
		return *out = arg_dim(first), true;
	hir_ref r = need_tensor(e, c, 1);
	if (r == HIR_NONE)
		return false;
	struct hir_type t = *type_of(e, r), rows = *x;
	if (dtype_class(t.elem) != DTC_INT)
		return rule_reject(e, c, DIAG_TYPE_MISMATCH, c->ats[1], "positions must be integers, not %s", type_text(e, r));
	rows.rank--;
	bool fits = t.rank == 1 ? dims_agree(e, t.dims[0], x->dims[axis]) : broadcasts_to(e, &t, &rows);
	if (!fits)
		return rule_reject(e, c, DIAG_BROADCAST, c->ats[1], "positions of shape %s do not broadcast to the rows %s of x",
				   shape_text(e, &t), shape_text(e, &rows));
	*out = arg_tensor(r);
	return true;
}

struct value rule_rope(struct emitter *e, struct builtin_call *c)
{
	uint32_t axis;
	int64_t features;
	double base;
	bool interleaved;
	hir_ref x = c->operand[0];
	if (!need_float_value(e, c, 2, &base) || !need_bool(e, c, 3, &interleaved))
		return VALUE_POISON;
	struct hir_type t = *type_of(e, x);
	if (t.rank < 2)
		return rule_error(e, c, DIAG_RANK, c->ats[0], "needs a tensor [..., length, features], not %s", type_text(e, x));
	if (!need_axis(e, c, 4, t.rank, &axis))
		return VALUE_POISON;
	if (t.rank == HIR_MAX_RANK)
		return rule_error(e, c, DIAG_RANK, c->ats[0], "the tensor must have at most %d dimensions", HIR_MAX_RANK - 1);
	if (axis == t.rank - 1u)
		return rule_error(e, c, DIAG_ARG_VALUE, c->ats[4], "`dim` must not be the last dimension, which has the features");
	if (base <= 0)
		return rule_error(e, c, DIAG_ARG_VALUE, c->ats[2], "`base` must be positive");
	if (!dim_is_const(e->b->dims, t.dims[t.rank - 1], &features)) {
		if (!e->checking)
			return rule_error(e, c, DIAG_SHAPE, c->ats[0], "the number of features must be known at compile time: %s",
					  type_text(e, x));
	} else if (features % 2) {
		return rule_error(e, c, DIAG_SHAPE, c->ats[0], "the number of features must be even, but %s has %lld", type_text(e, x),
				  (long long)features);
	}
	struct hir_arg a[5] = {arg_tensor(x), arg_none(), arg_float(base), plain_arg(c->v[3]), arg_int(axis)};
	if (!load_positions(e, c, &t, axis, &a[1]))
		return VALUE_POISON;
	return value_tensor(emit_builtin(e, c->bi, &t, a, 5, c->at));
}
