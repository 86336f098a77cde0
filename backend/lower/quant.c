/* Quantisation. */
#include "backend/lower/state.h"

static ir_ref round_to_scale(struct lower *l, ir_ref x, ir_ref scale, double limit)
{
	ir_ref q = ir_build_op1(l->b, OP_ROUND, ir_build_op2(l->b, OP_DIV, x, scale));
	return ir_build_op2c(l->b, OP_MIN, ir_build_op2c(l->b, OP_MAX, q, -limit), limit);
}

/* x > t: 1; x < -t: -1; else 0 */
void lower_bi_to_trit(struct lower *l, ir_ref *r)
{
	ir_ref x = ir_build_widen(l->b, lower_tensor(l, 0)), t = lower_tensor(l, 1);
	dtype e = ir_type_of(l->f, x)->elem;
	t = t == IR_NONE ? ir_build_const_float(l->b, e, lower_float(l, 1)) : ir_build_cast(l->b, t, e);
	ir_ref low = ir_build_op2(l->b, OP_LT, x, ir_build_op1(l->b, OP_NEG, t)), high = ir_build_op2(l->b, OP_LT, t, x);
	ir_ref below = ir_build_select(l->b, low, ir_build_const_float(l->b, DT_TRIT, -1), ir_build_const_float(l->b, DT_TRIT, 0));
	r[0] = ir_build_select(l->b, high, ir_build_const_float(l->b, DT_TRIT, 1), below);
}

void lower_bi_absmean_quantize(struct lower *l, ir_ref *r)
{
	ir_ref w = ir_build_widen(l->b, lower_tensor(l, 0));
	uint32_t all = (1u << ir_type_of(l->f, w)->rank) - 1;
	ir_ref scale = ir_build_op2c(l->b, OP_MAX, ir_build_mean(l->b, ir_build_op1(l->b, OP_ABS, w), all, false), 1e-5);
	r[0] = ir_build_cast(l->b, round_to_scale(l, w, scale, 1), DT_TRIT);
	r[1] = scale;
}

void lower_bi_absmax_quantize(struct lower *l, ir_ref *r)
{
	ir_ref x = ir_build_widen(l->b, lower_tensor(l, 0));
	uint32_t mask = lower_mask(l, 1, ir_type_of(l->f, x)->rank);
	ir_ref most = ir_build_reduce(l->b, OP_REDUCE_MAX, ir_build_op1(l->b, OP_ABS, x), mask, true);
	ir_ref scale = ir_build_op2c(l->b, OP_DIV, ir_build_op2c(l->b, OP_MAX, most, 1e-5), 127);
	r[0] = ir_build_cast(l->b, round_to_scale(l, x, scale, 127), DT_INT8);
	r[1] = scale;
}

/* Ternary weight networks: the scale is the mean of the absolute values above the threshold, or 0 if there are none. */
void lower_bi_adaptive_threshold_quantize(struct lower *l, ir_ref *r)
{
	ir_ref x = ir_build_widen(l->b, lower_tensor(l, 0)), size = ir_build_op1(l->b, OP_ABS, x);
	uint32_t mask = lower_mask(l, 2, ir_type_of(l->f, x)->rank);
	bool keep = lower_has(l, 2);
	dtype e = ir_type_of(l->f, x)->elem;
	ir_ref limit = ir_build_op2c(l->b, OP_MUL, ir_build_mean(l->b, size, mask, keep), lower_float(l, 1));
	ir_ref far = ir_build_op2(l->b, OP_LT, limit, size), zero = ir_build_const_float(l->b, e, 0);
	ir_ref sum = ir_build_reduce(l->b, OP_REDUCE_SUM, ir_build_select(l->b, far, size, zero), mask, keep);
	ir_ref n = ir_build_reduce(l->b, OP_REDUCE_SUM, ir_build_cast(l->b, far, e), mask, keep);
	r[0] = ir_build_select(l->b, far, ir_build_cast(l->b, ir_build_op1(l->b, OP_SIGN, x), DT_TRIT),
			       ir_build_const_float(l->b, DT_TRIT, 0));
	r[1] = ir_build_op2(l->b, OP_DIV, sum, ir_build_op2c(l->b, OP_MAX, n, 1));
}

/* XNOR-Net: binary weights, or signs with 0. The scale is the mean of the absolute values. */
void lower_bi_xnor_quantize(struct lower *l, ir_ref *r)
{
	ir_ref x = ir_build_widen(l->b, lower_tensor(l, 0)), zero = ir_build_const_float(l->b, ir_type_of(l->f, x)->elem, 0);
	uint32_t mask = lower_mask(l, 1, ir_type_of(l->f, x)->rank);
	r[0] = lower_int(l, 2) ? ir_build_select(l->b, ir_build_op2(l->b, OP_LE, zero, x), ir_build_const_float(l->b, DT_TRIT, 1),
						 ir_build_const_float(l->b, DT_TRIT, -1))
			       : ir_build_cast(l->b, ir_build_op1(l->b, OP_SIGN, x), DT_TRIT);
	r[1] = ir_build_mean(l->b, ir_build_op1(l->b, OP_ABS, x), mask, lower_has(l, 1));
}

void lower_bi_ternary_dequantize(struct lower *l, ir_ref *r)
{
	dtype e = l->n->type.elem;
	ir_ref scale = lower_tensor(l, 1);
	scale = scale == IR_NONE ? ir_build_const_float(l->b, e, lower_float(l, 1)) : ir_build_cast(l->b, scale, e);
	r[0] = ir_build_op2(l->b, OP_MUL, ir_build_cast(l->b, lower_tensor(l, 0), e), scale);
}

/* ---- packing ---- */

/* 4^i, the weight of trit i in a byte. */
static ir_ref trit_weights(struct lower *l)
{
	static const int32_t powers[4] = {1, 4, 16, 64};
	struct hir_type t = {.elem = DT_INT32, .rank = 1, .dims = {dim_const(l->f->dims, 4)}};
	ir_ref r = ir_build(l->b, OP_CONST, &t, NULL, 0);
	ir_set_data(l->f, r, (struct ir_data){powers});
	return r;
}

/* Reshapes [.., K] to [.., ceil(K / 4), 4], padded with trits 0. */
static ir_ref group_by_four(struct lower *l, ir_ref x)
{
	struct dims *d = l->f->dims;
	struct hir_type t = *ir_type_of(l->f, x), fill = t;
	uint32_t last = t.rank - 1u;
	int64_t missing;
	dim four = dim_const(d, 4), bytes = lower_node_type(l).dims[last];
	fill.dims[last] = dim_sub(d, dim_mul(d, bytes, four), t.dims[last]);
	if (!dim_is_const(d, fill.dims[last], &missing) || missing) {
		ir_ref parts[2] = {x, ir_build_broadcast(l->b, ir_build_const_float(l->b, DT_TRIT, 0), &fill)};
		x = ir_build_concat(l->b, parts, 2, last);
	}
	t.dims[last] = bytes;
	t.dims[t.rank++] = four;
	return ir_build_reshape(l->b, x, t.dims, t.rank);
}

void lower_bi_pack(struct lower *l, ir_ref *r)
{
	ir_ref codes = ir_build_op2c(l->b, OP_ADD, ir_build_cast(l->b, group_by_four(l, lower_tensor(l, 0)), DT_INT32), 1);
	uint32_t last = 1u << (ir_type_of(l->f, codes)->rank - 1);
	r[0] = ir_build_reduce(l->b, OP_REDUCE_SUM, ir_build_op2(l->b, OP_MUL, codes, trit_weights(l)), last, false);
}

void lower_bi_unpack(struct lower *l, ir_ref *r)
{
	ir_ref bytes = ir_build_cast(l->b, lower_tensor(l, 0), DT_INT32);
	struct hir_type t = lower_node_type(l), one = *ir_type_of(l->f, bytes);
	uint32_t last = t.rank - 1u;
	dim all = dim_mul(l->f->dims, one.dims[last], dim_const(l->f->dims, 4)), size = t.dims[last];
	one.dims[one.rank++] = dim_const(l->f->dims, 1);
	ir_ref code = ir_build_op2(l->b, OP_FLOORDIV, ir_build_reshape(l->b, bytes, one.dims, one.rank), trit_weights(l));
	ir_ref trits = ir_build_cast(l->b, ir_build_op2c(l->b, OP_SUB, ir_build_op2c(l->b, OP_MOD, code, 4), 1), DT_TRIT);
	t.dims[last] = all;
	r[0] = ir_build_reshape(l->b, trits, t.dims, t.rank);
	if (!dim_eq(all, size))
		r[0] = ir_build_slice(l->b, r[0], last, dim_const(l->f->dims, 0), 1, size);
}
