/* Quantisation. */
#include "backend/lower/state.h"

static ir_ref round_to_scale(struct lower *l, ir_ref x, ir_ref scale, double limit)
{
	ir_ref q = lower_op1(l, OP_ROUND, lower_op2(l, OP_DIV, x, scale));
	return lower_op2c(l, OP_MIN, lower_op2c(l, OP_MAX, q, -limit), limit);
}

/* x > t: 1; x < -t: -1; else 0 */
void lower_bi_to_trit(struct lower *l, ir_ref *r)
{
	ir_ref x = lower_widen(l, lower_tensor(l, 0)), t = lower_tensor(l, 1);
	dtype e = lower_of(l, x)->elem;
	t = t == IR_NONE ? lower_const_float(l, e, lower_float(l, 1)) : lower_cast(l, t, e);
	ir_ref low = lower_op2(l, OP_LT, x, lower_op1(l, OP_NEG, t)), high = lower_op2(l, OP_LT, t, x);
	ir_ref below = lower_select(l, low, lower_const_float(l, DT_TRIT, -1), lower_const_float(l, DT_TRIT, 0));
	r[0] = lower_select(l, high, lower_const_float(l, DT_TRIT, 1), below);
}

void lower_bi_absmean_quantize(struct lower *l, ir_ref *r)
{
	ir_ref w = lower_widen(l, lower_tensor(l, 0));
	uint32_t all = (1u << lower_of(l, w)->rank) - 1;
	ir_ref scale = lower_op2c(l, OP_MAX, lower_mean(l, lower_op1(l, OP_ABS, w), all, false), 1e-5);
	r[0] = lower_cast(l, round_to_scale(l, w, scale, 1), DT_TRIT);
	r[1] = scale;
}

void lower_bi_absmax_quantize(struct lower *l, ir_ref *r)
{
	ir_ref x = lower_widen(l, lower_tensor(l, 0));
	uint32_t mask = lower_mask(l, 1, lower_of(l, x)->rank);
	ir_ref most = lower_reduce(l, OP_REDUCE_MAX, lower_op1(l, OP_ABS, x), mask, true);
	ir_ref scale = lower_op2c(l, OP_DIV, lower_op2c(l, OP_MAX, most, 1e-5), 127);
	r[0] = lower_cast(l, round_to_scale(l, x, scale, 127), DT_INT8);
	r[1] = scale;
}

/* Ternary weight networks: the scale is the mean of the absolute values above the threshold, or 0 if there are none. */
void lower_bi_adaptive_threshold_quantize(struct lower *l, ir_ref *r)
{
	ir_ref x = lower_widen(l, lower_tensor(l, 0)), size = lower_op1(l, OP_ABS, x);
	uint32_t mask = lower_mask(l, 2, lower_of(l, x)->rank);
	bool keep = lower_has(l, 2);
	dtype e = lower_of(l, x)->elem;
	ir_ref limit = lower_op2c(l, OP_MUL, lower_mean(l, size, mask, keep), lower_float(l, 1));
	ir_ref far = lower_op2(l, OP_LT, limit, size), zero = lower_const_float(l, e, 0);
	ir_ref sum = lower_reduce(l, OP_REDUCE_SUM, lower_select(l, far, size, zero), mask, keep);
	ir_ref n = lower_reduce(l, OP_REDUCE_SUM, lower_cast(l, far, e), mask, keep);
	r[0] = lower_select(l, far, lower_cast(l, lower_op1(l, OP_SIGN, x), DT_TRIT), lower_const_float(l, DT_TRIT, 0));
	r[1] = lower_op2(l, OP_DIV, sum, lower_op2c(l, OP_MAX, n, 1));
}

/* XNOR-Net: binary weights, or signs with 0. The scale is the mean of the absolute values. */
void lower_bi_xnor_quantize(struct lower *l, ir_ref *r)
{
	ir_ref x = lower_widen(l, lower_tensor(l, 0)), zero = lower_const_float(l, lower_of(l, x)->elem, 0);
	uint32_t mask = lower_mask(l, 1, lower_of(l, x)->rank);
	r[0] = lower_int(l, 2)
		       ? lower_select(l, lower_op2(l, OP_LE, zero, x), lower_const_float(l, DT_TRIT, 1), lower_const_float(l, DT_TRIT, -1))
		       : lower_cast(l, lower_op1(l, OP_SIGN, x), DT_TRIT);
	r[1] = lower_mean(l, lower_op1(l, OP_ABS, x), mask, lower_has(l, 1));
}

void lower_bi_ternary_dequantize(struct lower *l, ir_ref *r)
{
	dtype e = l->n->type.elem;
	ir_ref scale = lower_tensor(l, 1);
	scale = scale == IR_NONE ? lower_const_float(l, e, lower_float(l, 1)) : lower_cast(l, scale, e);
	r[0] = lower_op2(l, OP_MUL, lower_cast(l, lower_tensor(l, 0), e), scale);
}

/* ---- packing ---- */

/* 4^i, the weight of trit i in a byte. */
static ir_ref trit_weights(struct lower *l)
{
	static const int32_t powers[4] = {1, 4, 16, 64};
	struct hir_type t = {.elem = DT_INT32, .rank = 1, .dims = {dim_const(l->f->dims, 4)}};
	ir_ref r = lower_emit(l, OP_CONST, &t, NULL, 0);
	ir_set_data(l->f, r, (struct ir_data){powers});
	return r;
}

/* Reshapes [.., K] to [.., ceil(K / 4), 4], padded with trits 0. */
static ir_ref group_by_four(struct lower *l, ir_ref x)
{
	struct dims *d = l->f->dims;
	struct hir_type t = *lower_of(l, x), fill = t;
	uint32_t last = t.rank - 1u;
	int64_t missing;
	dim four = dim_const(d, 4), bytes = lower_node_type(l).dims[last];
	fill.dims[last] = dim_sub(d, dim_mul(d, bytes, four), t.dims[last]);
	if (!dim_is_const(d, fill.dims[last], &missing) || missing) {
		ir_ref parts[2] = {x, lower_broadcast(l, lower_const_float(l, DT_TRIT, 0), &fill)};
		x = lower_concat(l, parts, 2, last);
	}
	t.dims[last] = bytes;
	t.dims[t.rank++] = four;
	return lower_reshape(l, x, t.dims, t.rank);
}

void lower_bi_pack(struct lower *l, ir_ref *r)
{
	ir_ref codes = lower_op2c(l, OP_ADD, lower_cast(l, group_by_four(l, lower_tensor(l, 0)), DT_INT32), 1);
	uint32_t last = 1u << (lower_of(l, codes)->rank - 1);
	r[0] = lower_reduce(l, OP_REDUCE_SUM, lower_op2(l, OP_MUL, codes, trit_weights(l)), last, false);
}

void lower_bi_unpack(struct lower *l, ir_ref *r)
{
	ir_ref bytes = lower_cast(l, lower_tensor(l, 0), DT_INT32);
	struct hir_type t = lower_node_type(l), one = *lower_of(l, bytes);
	uint32_t last = t.rank - 1u;
	dim all = dim_mul(l->f->dims, one.dims[last], dim_const(l->f->dims, 4)), size = t.dims[last];
	one.dims[one.rank++] = dim_const(l->f->dims, 1);
	ir_ref code = lower_op2(l, OP_FLOORDIV, lower_reshape(l, bytes, one.dims, one.rank), trit_weights(l));
	ir_ref trits = lower_cast(l, lower_op2c(l, OP_SUB, lower_op2c(l, OP_MOD, code, 4), 1), DT_TRIT);
	t.dims[last] = all;
	r[0] = lower_reshape(l, trits, t.dims, t.rank);
	if (!dim_eq(all, size))
		r[0] = lower_slice(l, r[0], last, dim_const(l->f->dims, 0), 1, size);
}
