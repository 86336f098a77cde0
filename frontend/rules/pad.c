/* Rules of padding and resizing. */
#include "frontend/rules/window.h"

enum pad_mode { PAD_CONSTANT, PAD_REFLECT, PAD_REPLICATE, PAD_CIRCULAR, PAD_MODES };

struct padding {
	dim before[HIR_MAX_RANK], after[HIR_MAX_RANK];
};

/* [left, right, top, bottom, …]: pairs, the last dimension first. */
static bool pad_read_padding(struct emitter *e, struct builtin_call *c, uint32_t rank, struct padding *p)
{
	struct value v = c->v[1];
	dim zero = dim_const(e->b->dims, 0);
	for (uint32_t k = 0; k < rank; k++)
		p->before[k] = p->after[k] = zero;
	if (!value_is_seq(v) || v.u.seq->n % 2)
		return rule_reject(e, c, DIAG_ARG_VALUE, c->ats[1],
				   "`padding` must be a list of pairs, the last dimension first: [left, right, top, bottom]");
	if (v.u.seq->n / 2 > rank)
		return rule_reject(e, c, DIAG_RANK, c->ats[1], "`padding` has pairs for %u dimensions, but the input has %u",
				   v.u.seq->n / 2, rank);
	for (uint32_t k = 0; k < v.u.seq->n; k++) {
		dim *out = k % 2 ? &p->after[rank - 1 - k / 2] : &p->before[rank - 1 - k / 2];
		if (!size_value(e, v.u.seq->at[k], out))
			return rule_reject(e, c, DIAG_TYPE_MISMATCH, c->ats[1], "`padding` must be integers, not %s",
					   value_text(e, v.u.seq->at[k]));
	}
	return true;
}

/* Checks the padding of a mode that repeats elements of the input. */
static bool check_repeating_mode(struct emitter *e, struct builtin_call *c, enum pad_mode mode, const struct hir_type *t,
				 const struct padding *p)
{
	int64_t size, n;
	for (uint32_t k = 0; k < 2u * t->rank && mode != PAD_CONSTANT; k++) {
		dim pad = k % 2 ? p->after[k / 2] : p->before[k / 2];
		if (!dim_is_const(e->b->dims, pad, &n))
			continue;
		if (n < 0)
			return rule_reject(e, c, DIAG_ARG_VALUE, c->ats[1], "negative padding (%lld) requires mode \"constant\"",
					   (long long)n);
		if (!n || !dim_is_const(e->b->dims, t->dims[k / 2], &size))
			continue;
		if (mode == PAD_REFLECT ? n >= size : mode == PAD_CIRCULAR ? n > size : !size)
			return rule_reject(e, c, DIAG_SHAPE, c->ats[1], "padding %lld is too large for dimension %u of %s in mode \"%s\"",
					   (long long)n, k / 2, shape_text(e, t), c->v[2].u.s);
	}
	return true;
}

/* Returns the number of elements that negative padding removes. */
static int64_t count_removed(struct emitter *e, dim before, dim after)
{
	int64_t a, b;
	a = dim_is_const(e->b->dims, before, &a) && a < 0 ? a : 0;
	b = dim_is_const(e->b->dims, after, &b) && b < 0 ? b : 0;
	return a < INT64_MIN / 2 || b < INT64_MIN / 2 ? INT64_MAX : -a - b;
}

static bool infer_padded_type(struct emitter *e, struct builtin_call *c, const struct hir_type *in, const struct padding *p,
			      struct hir_type *out)
{
	int64_t n;
	*out = *in;
	for (uint32_t k = 0; k < in->rank; k++) {
		int64_t removed = count_removed(e, p->before[k], p->after[k]);
		if (dim_is_const(e->b->dims, in->dims[k], &n) && removed > n)
			return rule_reject(e, c, DIAG_SHAPE, c->ats[1], "negative padding would remove %lld elements of dimension %u of %s",
					   (long long)removed, k, shape_text(e, in));
		out->dims[k] = dim_add(e->b->dims, in->dims[k], dim_add(e->b->dims, p->before[k], p->after[k]));
		if (dim_is_const(e->b->dims, out->dims[k], &n) && n < 0)
			return rule_reject(e, c, DIAG_SHAPE, c->ats[1], "dimension %u of %s would have %lld elements", k, shape_text(e, in),
					   (long long)n);
	}
	return true;
}

struct value rule_pad(struct emitter *e, struct builtin_call *c)
{
	static const char *const modes[PAD_MODES] = {"constant", "reflect", "replicate", "circular"};
	struct padding p;
	struct hir_type out;
	uint32_t mode;
	hir_ref x = c->operand[0], value = HIR_NONE;
	if (!need_word(e, c, 2, modes, PAD_MODES, &mode))
		return VALUE_POISON;
	struct hir_type t = *type_of(e, x);
	if (!pad_read_padding(e, c, t.rank, &p) || !check_repeating_mode(e, c, (enum pad_mode)mode, &t, &p) ||
	    !infer_padded_type(e, c, &t, &p, &out))
		return VALUE_POISON;
	if (c->v[3].kind == V_TENSOR)
		value = emit_cast(e, c->v[3].u.t, t.elem, c->ats[3]);
	else if (t.elem == DT_BOOL && c->v[3].kind == V_INT && !c->given[3])
		value = emit_scalar(e, value_bool(false), t.elem, c->ats[3]);
	else
		value = emit_scalar(e, c->v[3], t.elem, c->ats[3]);
	if (value == HIR_NONE)
		return VALUE_POISON;
	if (type_of(e, value)->rank)
		return rule_error(e, c, DIAG_RANK, c->ats[3], "`value` must be a scalar, not %s", type_text(e, value));
	struct hir_arg sizes[2 * HIR_MAX_RANK], a[4] = {arg_tensor(x)};
	for (uint32_t k = 0; k < t.rank; k++) {
		sizes[2 * k] = arg_dim(p.before[k]);
		sizes[2 * k + 1] = arg_dim(p.after[k]);
	}
	a[1] = arg_list(e, sizes, 2u * t.rank);
	a[2] = plain_arg(c->v[2]);
	a[3] = arg_tensor(value);
	return value_tensor(emit_builtin(e, BI_PAD, &out, a, 4, c->at));
}

/* ---- upsample2d ---- */

static bool pad_is_whole(double v) { return v < 0x1p62 && v == (double)(int64_t)v; }

static bool scale_value(struct emitter *e, struct builtin_call *c, struct value v, double *scale)
{
	if (v.kind == V_DIM && e->checking)
		return false;
	if (v.kind != V_INT && v.kind != V_FLOAT)
		return rule_reject(e, c, DIAG_TYPE_MISMATCH, c->ats[1], "`scale_factor` must be a number known at compile time, not %s",
				   value_text(e, v));
	*scale = number_value(v);
	if (*scale > 0x1p-30 && *scale < 0x1p30)
		return true;
	return rule_reject(e, c, DIAG_ARG_VALUE, c->ats[1], "`scale_factor` is out of range: %g", *scale);
}

static bool scale_size(struct emitter *e, struct builtin_call *c, double scale, dim *io)
{
	struct dims *d = e->b->dims;
	int64_t n;
	if (dim_is_const(d, *io, &n) && (double)n * scale < 0x1p62)
		*io = dim_const(d, (int64_t)((double)n * scale));
	else if (pad_is_whole(scale))
		*io = dim_mul(d, *io, dim_const(d, (int64_t)scale));
	else if (pad_is_whole(1 / scale))
		*io = dim_floordiv(d, *io, dim_const(d, (int64_t)(1 / scale)));
	else if (e->checking)
		*io = fresh_dim(e);
	else
		return rule_reject(e, c, DIAG_ARG_VALUE, c->ats[1],
				   "`scale_factor` %g needs a size known at compile time; pass `size`, or a whole factor", scale);
	return true;
}

static bool infer_result_size(struct emitter *e, struct builtin_call *c, uint32_t k, dim *io, double *scale)
{
	int64_t n;
	for (uint32_t i = 1; i < 3; i++)
		if (value_is_seq(c->v[i]) && c->v[i].u.seq->n != 2)
			return rule_reject(e, c, DIAG_ARG_VALUE, c->ats[i], "`%s` must be a number or a pair", arg_name(e, c, i));
	if (c->v[1].kind != V_NONE) {
		if (!scale_value(e, c, item_of(c->v[1], k), scale) || !scale_size(e, c, *scale, io))
			return false;
	} else if (!size_value(e, item_of(c->v[2], k), io))
		return rule_reject(e, c, DIAG_TYPE_MISMATCH, c->ats[2], "`size` must be an integer, not %s",
				   value_text(e, item_of(c->v[2], k)));
	if (dim_is_const(e->b->dims, *io, &n) && n < 1)
		return rule_reject(e, c, DIAG_ARG_VALUE, c->at, "the result would have %lld elements along the %s", (long long)n,
				   k ? "width" : "height");
	return true;
}

struct value rule_upsample2d(struct emitter *e, struct builtin_call *c)
{
	static const char *const modes[2] = {"nearest", "bilinear"};
	uint32_t mode;
	double scale[2];
	bool align = false, dropped;
	hir_ref x = c->operand[0];
	if (!need_word(e, c, 3, modes, 2, &mode))
		return VALUE_POISON;
	if (c->v[4].kind != V_NONE && !need_bool(e, c, 4, &align))
		return VALUE_POISON;
	if ((c->v[1].kind == V_NONE) == (c->v[2].kind == V_NONE))
		return rule_error(e, c, DIAG_ARG_VALUE, c->at, "takes either `scale_factor` or `size`");
	if (align && !mode)
		return rule_error(e, c, DIAG_ARG_VALUE, c->ats[4], "`align_corners` requires mode \"bilinear\"");
	if (mode && (x = need_float(e, c, 0)) == HIR_NONE)
		return VALUE_POISON;
	if ((x = with_batch(e, c, x, 4, &dropped)) == HIR_NONE)
		return VALUE_POISON;
	struct hir_type t = *type_of(e, x);
	struct hir_arg sizes[2], scales[2], a[5] = {arg_tensor(x), arg_none()};
	for (uint32_t k = 0; k < 2; k++) {
		if (!infer_result_size(e, c, k, &t.dims[2 + k], &scale[k]))
			return VALUE_POISON;
		sizes[k] = arg_dim(t.dims[2 + k]);
		scales[k] = arg_float(scale[k]);
	}
	if (c->v[1].kind != V_NONE)
		a[1] = arg_list(e, scales, 2);
	a[2] = arg_list(e, sizes, 2);
	a[3] = plain_arg(c->v[3]);
	a[4] = plain_arg(value_bool(align));
	return drop_batch(e, c, emit_builtin(e, BI_UPSAMPLE2D, &t, a, 5, c->at), dropped);
}
