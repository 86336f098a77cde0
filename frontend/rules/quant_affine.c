/* Rules of affine quantization: an integer q has the value (q - zero_point) * scale; with a float zero point, q * scale + zero_point. */
#include "frontend/rules/builtin.h"

enum { X, SCALE, ZERO_POINT, DIM };

/* float(t) * scale, in the type `dtype`, or that of the scale. */
struct value rule_ternary_dequantize(struct emitter *e, struct builtin_call *c)
{
	dtype t = c->v[1].kind == V_TENSOR ? type_of(e, c->v[1].u.t)->elem : DT_FLOAT32;
	hir_ref r = need_tensor(e, c, 0);
	if (r == HIR_NONE)
		return VALUE_POISON;
	if (dtype_class(t) != DTC_FLOAT)
		t = DT_FLOAT32;
	bool integers = c->bi == BI_DEQUANTIZE && dtype_class(type_of(e, r)->elem) == DTC_INT;
	if (!is_trits(e, c, 0) && !integers)
		return report_poison(e, DIAG_TYPE_MISMATCH, c->ats[0], "`%s` needs trits%s, not %s", c->sig->name,
				     c->bi == BI_DEQUANTIZE ? " or integers" : "", value_text(e, c->v[0]));
	if (c->v[2].kind != V_NONE && !need_dtype(e, c, 2, &t))
		return VALUE_POISON;
	if (dtype_class(t) != DTC_FLOAT)
		return rule_error(e, c, DIAG_ARG_VALUE, c->ats[2], "`dtype` must be a float type, not %s", dtype_text(t));
	struct value x = value_tensor(emit_cast(e, r, t, c->at));
	if (c->v[1].kind == V_FLOAT && c->v[1].u.f == 1.0)
		return x;
	return as_elem(e, COMPOSE(BI_MUL, x, c->v[1]), t, c->at);
}

/* Loads a scale or zero point: a number, a tensor that broadcasts, or a vector with a value for each channel, dimension `dim`. */
static bool need_per_channel(struct emitter *e, struct builtin_call *c, uint32_t i, const struct hir_type *x, struct value *out)
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
	return rule_reject(e, c, DIAG_BROADCAST, c->ats[i], "the shape of `%s`, %s, does not broadcast to %s", arg_name(e, c, i),
			   shape_text(e, type_of(e, c->v[i].u.t)), shape_text(e, x));
}

static bool quant_affine_is_float(struct emitter *e, struct value v)
{
	return dtype_class(v.kind == V_TENSOR ? type_of(e, v.u.t)->elem : scalar_type(v)) == DTC_FLOAT;
}

/* Converts the scale or zero point to the float type t. */
static struct value convert_to_float(struct emitter *e, struct value v, dtype t, span at)
{
	return v.kind == V_TENSOR ? as_elem(e, v, t, at) : v.kind == V_INT || v.kind == V_FLOAT ? value_with_type(v, t) : v;
}

struct value rule_affine_quantize(struct emitter *e, struct builtin_call *c)
{
	struct value scale, zero;
	dtype t;
	hir_ref r = c->operand[X];
	if (!need_dtype(e, c, 4, &t))
		return VALUE_POISON;
	if (t == DT_BOOL || t == DT_INT64 || dtype_class(t) == DTC_FLOAT)
		return rule_error(e, c, DIAG_ARG_VALUE, c->ats[4], "`dtype` must be uint8, int8, int16, int32 or trit, not %s",
				  dtype_text(t));
	struct hir_type shape = *type_of(e, r);
	if (!need_per_channel(e, c, SCALE, &shape, &scale) || !need_per_channel(e, c, ZERO_POINT, &shape, &zero))
		return VALUE_POISON;
	bool offset = quant_affine_is_float(e, zero);
	struct value x = value_tensor(r);
	zero = convert_to_float(e, zero, shape.elem, c->ats[ZERO_POINT]);
	scale = convert_to_float(e, scale, shape.elem, c->ats[SCALE]);
	x = COMPOSE(BI_DIV, offset ? COMPOSE(BI_SUB, x, zero) : x, scale);
	x = COMPOSE(BI_ROUND, x);
	if (!offset)
		x = COMPOSE(BI_ADD, x, zero);
	x = COMPOSE(BI_MAXIMUM, x, value_float((double)dtype_least_int(t)));
	x = COMPOSE(BI_MINIMUM, x, value_float((double)dtype_largest_int(t)));
	return as_elem(e, x, t, c->at);
}

struct value rule_affine_dequantize(struct emitter *e, struct builtin_call *c)
{
	struct value scale, zero;
	dtype t = DT_FLOAT32;
	hir_ref r = c->operand[X];
	if (!need_dtype(e, c, 4, &t))
		return VALUE_POISON;
	if (dtype_class(t) != DTC_FLOAT)
		return rule_error(e, c, DIAG_ARG_VALUE, c->ats[4], "`dtype` must be a float type, not %s", dtype_text(t));
	dtype wide = t == DT_FLOAT64 ? t : DT_FLOAT32;
	struct hir_type shape = *type_of(e, r);
	if (!need_per_channel(e, c, SCALE, &shape, &scale) || !need_per_channel(e, c, ZERO_POINT, &shape, &zero))
		return VALUE_POISON;
	bool offset = quant_affine_is_float(e, zero);
	struct value x = value_tensor(emit_cast(e, r, wide, c->at));
	zero = convert_to_float(e, zero, wide, c->ats[ZERO_POINT]);
	scale = convert_to_float(e, scale, wide, c->ats[SCALE]);
	x = offset ? COMPOSE(BI_ADD, COMPOSE(BI_MUL, x, scale), zero) : COMPOSE(BI_MUL, COMPOSE(BI_SUB, x, zero), scale);
	return as_elem(e, x, t, c->at);
}
