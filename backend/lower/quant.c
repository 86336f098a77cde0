/* Quantisation and packed trits. float16 and bfloat16 are quantised as float32. */
#include "backend/lower/state.h"

static ir_ref emit_codes(struct lower *l, dtype elem, const ir_ref *x, uint32_t n, struct ir_quantize a)
{
	struct hir_type t = *ir_type_of(l->f, x[0]);
	t.elem = elem;
	ir_ref r = ir_build(l->b, OP_QUANTIZE, &t, x, n);
	ir_set_quantize(l->f, r, a);
	return r;
}

/* Emits the codes, and the scale of the dims in the mask. */
static void emit_quantizer(struct lower *l, dtype elem, ir_ref x, struct ir_quantize a, ir_ref *r)
{
	r[0] = emit_codes(l, elem, &x, 1, a);
	r[1] = ir_build_as(l->b, OP_QUANT_SCALE, &a, &x, 1);
}

void lower_bi_to_trit(struct lower *l, ir_ref *r)
{
	ir_ref x[2] = {ir_build_widen(l->b, lower_tensor(l, 0)), lower_tensor(l, 1)};
	dtype e = ir_type_of(l->f, x[0])->elem;
	x[1] = x[1] == IR_NONE ? ir_build_const_float(l->b, e, lower_float(l, 1)) : ir_build_cast(l->b, x[1], e);
	r[0] = emit_codes(l, DT_TRIT, x, 2, (struct ir_quantize){.kind = QUANTIZE_THRESHOLD});
}

void lower_bi_absmean_quantize(struct lower *l, ir_ref *r)
{
	ir_ref w = ir_build_widen(l->b, lower_tensor(l, 0));
	uint32_t all = (1u << ir_type_of(l->f, w)->rank) - 1;
	emit_quantizer(l, DT_TRIT, w, (struct ir_quantize){.kind = QUANTIZE_ABSMEAN, .mask = all}, r);
}

void lower_bi_absmax_quantize(struct lower *l, ir_ref *r)
{
	ir_ref x = ir_build_widen(l->b, lower_tensor(l, 0));
	uint32_t mask = lower_mask(l, 1, ir_type_of(l->f, x)->rank);
	emit_quantizer(l, DT_INT8, x, (struct ir_quantize){.kind = QUANTIZE_ABSMAX, .mask = mask, .keep = true}, r);
}

void lower_bi_adaptive_threshold_quantize(struct lower *l, ir_ref *r)
{
	ir_ref x = ir_build_widen(l->b, lower_tensor(l, 0));
	struct ir_quantize a = {.kind = QUANTIZE_ADAPTIVE, .keep = lower_has(l, 2), .factor = lower_float(l, 1)};
	a.mask = lower_mask(l, 2, ir_type_of(l->f, x)->rank);
	emit_quantizer(l, DT_TRIT, x, a, r);
}

void lower_bi_xnor_quantize(struct lower *l, ir_ref *r)
{
	ir_ref x = ir_build_widen(l->b, lower_tensor(l, 0));
	struct ir_quantize a = {.kind = lower_int(l, 2) ? QUANTIZE_BINARY : QUANTIZE_SIGN, .keep = lower_has(l, 1)};
	a.mask = lower_mask(l, 1, ir_type_of(l->f, x)->rank);
	emit_quantizer(l, DT_TRIT, x, a, r);
}

void lower_bi_ternary_dequantize(struct lower *l, ir_ref *r)
{
	struct hir_type t = lower_node_type(l);
	ir_ref operands[2] = {lower_tensor(l, 0), lower_tensor(l, 1)};
	operands[1] =
		operands[1] == IR_NONE ? ir_build_const_float(l->b, t.elem, lower_float(l, 1)) : ir_build_cast(l->b, operands[1], t.elem);
	r[0] = ir_build(l->b, OP_DEQUANTIZE, &t, operands, 2);
}

/* ---- packing ---- */

/* 4^i, the weight of trit i in a byte. */
static ir_ref trit_weights(struct lower *l)
{
	static const int32_t powers[4] = {1, 4, 16, 64};
	struct hir_type t = {.elem = DT_INT32, .rank = 1, .dims = {dim_const(l->f->dims, 4)}};
	ir_ref r = ir_build(l->b, OP_CONST, &t, NULL, 0);
	ir_set_const(l->f, r, powers);
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
