/* Rules of affine quantization: integers q stand for (q - zero_point) * scale. A zero point of floats is in the units of x: q * scale + zero_point. */
#include "frontend/rules/builtin.h"

enum { X, SCALE, ZERO_POINT, DIM };

/* float(t) * scale, in the float type asked for, else in that of the scale. */
struct value rule_ternary_dequantize(struct emitter *e, struct bcall *c)
{
	dtype t = c->v[1].kind == V_TENSOR ? type_of(e, c->v[1].u.t)->elem : DT_FLOAT32;
	hir_ref r = need_tensor(e, c, 0);
	if (r == HIR_NONE)
		return VALUE_POISON;
	if (dtype_class(t) != DTC_FLOAT)
		t = DT_FLOAT32;
	bool integers = c->bi == BI_DEQUANTIZE && dtype_class(type_of(e, r)->elem) == DTC_INT;
	if (!is_trits(e, c, 0) && !integers) {
		report_error(e, DIAG_TYPE_MISMATCH, c->ats[0], "`%s` needs trits%s, not %s", bcall_name(c),
			     c->bi == BI_DEQUANTIZE ? " or integers" : "", value_text(e, c->v[0]));
		return VALUE_POISON;
	}
	if (c->v[2].kind != V_NONE && !need_dtype(e, c, 2, &t))
		return VALUE_POISON;
	if (dtype_class(t) != DTC_FLOAT)
		return shape_error(e, c, DIAG_ARG_VALUE, c->ats[2], "the result is floats, not %s", dtype_text(t));
	struct value x = value_tensor(emit_cast(e, r, t, c->at));
	if (c->v[1].kind == V_FLOAT && c->v[1].u.f == 1.0)
		return x;
	return as_elem(e, call2(e, BI_MUL, x, c->v[1], c->at), t, c->at);
}

/* A scale or zero point: a number; a tensor that broadcasts; a vector of one for each place along `dim`. */
static bool need_per_channel(struct emitter *e, struct bcall *c, uint32_t i, const struct hir_type *x, struct value *out)
{
	uint32_t axis;
	int64_t n;
	*out = c->v[i];
	if (c->v[i].kind != V_TENSOR)
		return need_tensor(e, c, i) != HIR_NONE;
	struct hir_type t = *type_of(e, c->v[i].u.t), shape = *x;
	if (t.rank == 1 && x->rank > 1 && !(dim_is_const(e->b->dims, t.dims[0], &n) && n == 1)) {
		if (!need_axis(e, c, DIM, x->rank, &axis))
			return false;
		for (uint32_t k = 0; k < x->rank; k++)
			shape.dims[k] = dim_const(e->b->dims, 1);
		shape.elem = t.elem;
		shape.dims[axis] = t.dims[0];
		*out = emit_reshape(e, c->v[i].u.t, &shape, c->ats[i]);
		t = shape;
	}
	if (broadcasts_to(e, &t, x))
		return true;
	shape_error(e, c, DIAG_BROADCAST, c->ats[i], "a `%s` of shape %s does not fit %s", name_text(e->f, c->sig->params[i].name),
		    shape_text(e, type_of(e, c->v[i].u.t)), shape_text(e, x));
	return false;
}

static bool is_float(struct emitter *e, struct value v)
{
	return dtype_class(v.kind == V_TENSOR ? type_of(e, v.u.t)->elem : scalar_type(v)) == DTC_FLOAT;
}

/* The zero point as a value of x's floats: an exact conversion. */
static struct value as_float(struct emitter *e, struct value v, dtype t, span at)
{
	return v.kind == V_TENSOR ? as_elem(e, v, t, at) : v.kind == V_INT ? value_float((double)v.u.i) : v;
}

static void limits(dtype t, double *low, double *high)
{
	*high = t == DT_TRIT ? 1 : (double)((UINT64_C(1) << (8 * dtype_size(t) - 1)) - 1);
	*low = t == DT_TRIT ? -1 : -*high - 1;
}

struct value rule_affine_quantize(struct emitter *e, struct bcall *c)
{
	struct value scale, zero;
	double low, high;
	dtype t;
	hir_ref r = need_wide_float(e, c, X);
	if (r == HIR_NONE || !need_dtype(e, c, 4, &t))
		return VALUE_POISON;
	if (t != DT_TRIT && t != DT_INT8 && t != DT_INT16 && t != DT_INT32)
		return shape_error(e, c, DIAG_ARG_VALUE, c->ats[4], "the quantized values are int8, int16, int32 or trit, not %s",
				   dtype_text(t));
	struct hir_type shape = *type_of(e, r);
	if (!need_per_channel(e, c, SCALE, &shape, &scale) || !need_per_channel(e, c, ZERO_POINT, &shape, &zero))
		return VALUE_POISON;
	bool offset = is_float(e, zero);
	struct value x = value_tensor(r);
	zero = as_float(e, zero, shape.elem, c->ats[ZERO_POINT]);
	scale = as_float(e, scale, shape.elem, c->ats[SCALE]);
	x = call2(e, BI_DIV, offset ? call2(e, BI_SUB, x, zero, c->at) : x, scale, c->at);
	x = call1(e, BI_ROUND, x, c->at);
	if (!offset)
		x = call2(e, BI_ADD, x, zero, c->at);
	limits(t, &low, &high);
	x = call2(e, BI_MINIMUM, call2(e, BI_MAXIMUM, x, value_float(low), c->at), value_float(high), c->at);
	return as_elem(e, x, t, c->at);
}

struct value rule_affine_dequantize(struct emitter *e, struct bcall *c)
{
	struct value scale, zero;
	dtype t = DT_FLOAT32;
	hir_ref r = need_tensor(e, c, X);
	if (r == HIR_NONE || !need_dtype(e, c, 4, &t))
		return VALUE_POISON;
	if (dtype_class(t) != DTC_FLOAT)
		return shape_error(e, c, DIAG_ARG_VALUE, c->ats[4], "the result is floats, not %s", dtype_text(t));
	dtype wide = t == DT_FLOAT64 ? t : DT_FLOAT32;
	struct hir_type shape = *type_of(e, r);
	if (!need_per_channel(e, c, SCALE, &shape, &scale) || !need_per_channel(e, c, ZERO_POINT, &shape, &zero))
		return VALUE_POISON;
	bool offset = is_float(e, zero);
	struct value x = value_tensor(emit_cast(e, r, wide, c->at));
	zero = as_float(e, zero, wide, c->ats[ZERO_POINT]);
	scale = as_float(e, scale, wide, c->ats[SCALE]);
	x = offset ? call2(e, BI_ADD, call2(e, BI_MUL, x, scale, c->at), zero, c->at)
		   : call2(e, BI_MUL, call2(e, BI_SUB, x, zero, c->at), scale, c->at);
	return as_elem(e, x, t, c->at);
}
