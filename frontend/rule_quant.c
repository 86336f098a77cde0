/* Rules of the quantizers. Those that are given their threshold return trits, those that take a scale from the data return it as well. */
#include <string.h>
#include "frontend/builtin.h"

/* A threshold: a number, or a tensor of floats that broadcasts to x. */
static bool need_threshold(struct elab *e, struct bcall *c, const struct core_type *x, struct core_arg *out)
{
	double number;
	if (c->v[1].kind != V_TENSOR) {
		if (!need_float_value(e, c, 1, &number))
			return false;
		*out = (struct core_arg){.kind = ARG_FLOAT, .u.f = number};
		if (!(number < 0))
			return true;
		elab_error(e, DIAG_ARG_VALUE, c->ats[1], "the threshold cannot be negative");
		return false;
	}
	core_ref r = need_float(e, c, 1);
	if (r == CORE_NONE)
		return false;
	struct core_type t = *type_of(e, r);
	if (!broadcasts_to(e, &t, x))
		return shape_error(e, c, DIAG_BROADCAST, c->ats[1], "a threshold of shape %s does not broadcast to %s",
				   elab_shape_text(e, &t), elab_shape_text(e, x)),
		       false;
	*out = arg_tensor(emit_cast(e, r, x->elem, c->ats[1]));
	return true;
}

struct value rule_to_trit(struct elab *e, struct bcall *c)
{
	core_ref r = need_float(e, c, 0);
	if (r == CORE_NONE)
		return VALUE_POISON;
	struct core_type t = *type_of(e, r);
	struct core_arg a[3] = {arg_tensor(r), arg_none(), arg_none()};
	if (!need_threshold(e, c, &t, &a[1]))
		return VALUE_POISON;
	if (c->bi == BI_TERNARY_QUANTIZE) {
		const char *m = c->v[2].kind == V_STR ? c->v[2].u.s : "";
		if (strcmp(m, "threshold") && strcmp(m, "stochastic") && strcmp(m, "learned")) {
			elab_error(e, DIAG_ARG_VALUE, c->ats[2], "`method` is \"threshold\", \"stochastic\" or \"learned\"");
			return VALUE_POISON;
		}
		a[2] = plain_arg(c->v[2]);
	}
	t.elem = DT_TRIT;
	return value_tensor(emit_builtin(e, c->bi, &t, a, c->sig->n, c->at));
}

/* ---- with a scale from the data ---- */

/* Scales are float32, or float64 for x of float64; x comes in that type. */
static core_ref widened(struct elab *e, struct bcall *c)
{
	core_ref x = need_float(e, c, 0);
	return x == CORE_NONE || type_of(e, x)->elem == DT_FLOAT64 ? x : emit_cast(e, x, DT_FLOAT32, c->at);
}

static struct value two_results(struct elab *e, core_ref r, const struct core_type *a, const struct core_type *b, span at)
{
	struct value v = value_seq(e->f->arena, V_TUPLE, 2);
	v.u.seq->at[0] = value_tensor(emit_result(e, r, 0, a, at));
	v.u.seq->at[1] = value_tensor(emit_result(e, r, 1, b, at));
	return v;
}

struct value rule_absmean_quantize(struct elab *e, struct bcall *c)
{
	core_ref x = widened(e, c);
	if (x == CORE_NONE)
		return VALUE_POISON;
	struct core_type q = *type_of(e, x), s = {.elem = q.elem};
	q.elem = DT_TRIT;
	struct core_arg a = arg_tensor(x);
	return two_results(e, emit_builtin(e, c->bi, &q, &a, 1, c->at), &q, &s, c->at);
}

struct value rule_absmax_quantize(struct elab *e, struct bcall *c)
{
	uint32_t axis;
	core_ref x = widened(e, c);
	if (x == CORE_NONE || !need_axis(e, c, 1, type_of(e, x)->rank, &axis))
		return VALUE_POISON;
	struct core_type q = *type_of(e, x), s = q;
	q.elem = DT_INT8;
	s.dims[axis] = dim_const(e->b->dims, 1);
	struct core_arg a[2] = {arg_tensor(x), arg_int(axis)};
	return two_results(e, emit_builtin(e, c->bi, &q, a, 2, c->at), &q, &s, c->at);
}

/* A scale over everything, of rank 0, or with `dim` (the last parameter) one for each place along the others, `dim` kept. */
static bool scale_type(struct elab *e, struct bcall *c, const struct core_type *x, struct core_type *s, struct core_arg *where)
{
	uint32_t axis, last = c->sig->n - 1;
	*s = (struct core_type){.elem = x->elem};
	*where = arg_none();
	if (c->v[last].kind == V_NONE)
		return true;
	if (!need_axis(e, c, last, x->rank, &axis))
		return false;
	*s = *x;
	s->dims[axis] = dim_const(e->b->dims, 1);
	*where = arg_int(axis);
	return true;
}

struct value rule_scaled_trits(struct elab *e, struct bcall *c)
{
	core_ref x = widened(e, c);
	double factor = 0;
	if (x == CORE_NONE)
		return VALUE_POISON;
	struct core_type q = *type_of(e, x), s;
	struct core_arg a[3] = {arg_tensor(x)};
	if (!scale_type(e, c, &q, &s, &a[c->sig->n - 1]))
		return VALUE_POISON;
	if (c->bi == BI_ADAPTIVE_THRESHOLD_QUANTIZE) {
		if (!need_float_value(e, c, 1, &factor))
			return VALUE_POISON;
		if (factor < 0)
			return shape_error(e, c, DIAG_ARG_VALUE, c->ats[1], "the factor cannot be negative");
		a[1] = (struct core_arg){.kind = ARG_FLOAT, .u.f = factor};
	}
	q.elem = DT_TRIT;
	return two_results(e, emit_builtin(e, c->bi, &q, a, c->sig->n, c->at), &q, &s, c->at);
}

/* ---- packing ---- */

static bool has_last(struct elab *e, struct bcall *c, core_ref r, dtype elem, const char *what)
{
	if (r == CORE_NONE)
		return false;
	if (type_of(e, r)->elem != elem) {
		elab_error(e, DIAG_TYPE_MISMATCH, c->ats[0], "`%s` needs %s, not %s", bcall_name(c), what, elab_value_text(e, c->v[0]));
		return false;
	}
	if (type_of(e, r)->rank)
		return true;
	shape_error(e, c, DIAG_RANK, c->ats[0], "a scalar has no last dimension to work on");
	return false;
}

struct value rule_pack(struct elab *e, struct bcall *c)
{
	struct dims *d = e->b->dims;
	core_ref r = need_tensor(e, c, 0);
	if (!has_last(e, c, r, DT_TRIT, "trits"))
		return VALUE_POISON;
	struct core_type t = *type_of(e, r);
	t.elem = DT_INT8;
	t.dims[t.rank - 1] = dim_floordiv(d, dim_add(d, t.dims[t.rank - 1], dim_const(d, 3)), dim_const(d, 4));
	return emit1(e, c, c->bi, &t, r);
}

struct value rule_unpack(struct elab *e, struct bcall *c)
{
	struct dims *d = e->b->dims;
	int64_t n, most;
	core_ref r = need_tensor(e, c, 0);
	if (!has_last(e, c, r, DT_INT8, "the int8 bytes that `pack` makes"))
		return VALUE_POISON;
	struct core_type t = *type_of(e, r);
	dim whole = dim_mul(d, t.dims[t.rank - 1], dim_const(d, 4)), size = whole;
	if (c->v[1].kind != V_NONE && !size_value(e, c->v[1], &size))
		return shape_error(e, c, DIAG_TYPE_MISMATCH, c->ats[1], "the size must be an integer, not %s", elab_value_text(e, c->v[1]));
	if (dim_is_const(d, size, &n) && (n < 0 || (dim_is_const(d, whole, &most) && (n > most || n + 4 <= most))))
		return shape_error(e, c, DIAG_SHAPE, c->ats[1], "%s hold four trits a byte, not %lld in all", elab_type_text(e, r),
				   (long long)n);
	t.elem = DT_TRIT;
	t.dims[t.rank - 1] = size;
	struct core_arg a[2] = {arg_tensor(r), arg_dim(size)};
	return value_tensor(emit_builtin(e, c->bi, &t, a, 2, c->at));
}
