/* Softmax and the normalisations. float16 and bfloat16 are computed in float32 and rounded once. */
#include "backend/lower/state.h"

/* Subtracts the maximum along the dim, so that exp does not overflow. */
static ir_ref subtract_max(struct lower *l, ir_ref x, uint32_t mask)
{
	return ir_build_op2(l->b, OP_SUB, x, ir_build_reduce(l->b, OP_REDUCE_MAX, x, mask, true));
}

void lower_bi_softmax(struct lower *l, ir_ref *r)
{
	ir_ref x = ir_build_widen(l->b, lower_tensor(l, 0));
	uint32_t mask = lower_mask(l, 1, ir_type_of(l->f, x)->rank);
	ir_ref e = ir_build_op1(l->b, OP_EXP, subtract_max(l, x, mask));
	r[0] = ir_build_op2(l->b, OP_DIV, e, ir_build_reduce(l->b, OP_REDUCE_SUM, e, mask, true));
}

ir_ref lower_log_softmax(struct lower *l, ir_ref x, uint32_t mask)
{
	x = subtract_max(l, x, mask);
	ir_ref sum = ir_build_reduce(l->b, OP_REDUCE_SUM, ir_build_op1(l->b, OP_EXP, x), mask, true);
	return ir_build_op2(l->b, OP_SUB, x, ir_build_op1(l->b, OP_LOG, sum));
}

void lower_bi_log_softmax(struct lower *l, ir_ref *r)
{
	ir_ref x = ir_build_widen(l->b, lower_tensor(l, 0));
	r[0] = lower_log_softmax(l, x, lower_mask(l, 1, ir_type_of(l->f, x)->rank));
}

/* Returns argument k in the element type of x, or IR_NONE. */
static ir_ref argument_like(struct lower *l, uint32_t k, ir_ref x)
{
	ir_ref t = lower_tensor(l, k);
	return t == IR_NONE ? t : ir_build_cast(l->b, t, ir_type_of(l->f, x)->elem);
}

static ir_ref scale_and_shift(struct lower *l, ir_ref x, ir_ref weight, ir_ref bias)
{
	if (weight != IR_NONE)
		x = ir_build_op2(l->b, OP_MUL, x, weight);
	return bias == IR_NONE ? x : ir_build_op2(l->b, OP_ADD, x, bias);
}

static ir_ref inverse_deviation(struct lower *l, ir_ref variance, double eps)
{
	return ir_build_op1(l->b, OP_RSQRT, ir_build_op2c(l->b, OP_ADD, variance, eps));
}

/* (x - mean) / sqrt(variance + eps) over the masked dims */
static ir_ref standardise(struct lower *l, ir_ref x, uint32_t mask, double eps)
{
	ir_ref away = ir_build_op2(l->b, OP_SUB, x, ir_build_mean(l->b, x, mask, true));
	ir_ref variance = ir_build_mean(l->b, ir_build_op2(l->b, OP_MUL, away, away), mask, true);
	return ir_build_op2(l->b, OP_MUL, away, inverse_deviation(l, variance, eps));
}

/* Returns a mask of as many last dims as argument 1 has sizes. */
static uint32_t normalised_dims(struct lower *l, ir_ref x)
{
	const struct hir_arg *sizes = NULL;
	uint32_t rank = ir_type_of(l->f, x)->rank, n = lower_list(l, 1, &sizes);
	return ((1u << n) - 1) << (rank - n);
}

void lower_bi_layer_norm(struct lower *l, ir_ref *r)
{
	ir_ref x = ir_build_widen(l->b, lower_tensor(l, 0));
	r[0] = scale_and_shift(l, standardise(l, x, normalised_dims(l, x), lower_float(l, 4)), argument_like(l, 2, x),
			       argument_like(l, 3, x));
}

void lower_bi_rms_norm(struct lower *l, ir_ref *r)
{
	ir_ref x = ir_build_widen(l->b, lower_tensor(l, 0));
	ir_ref square = ir_build_mean(l->b, ir_build_op2(l->b, OP_MUL, x, x), normalised_dims(l, x), true);
	r[0] = scale_and_shift(l, ir_build_op2(l->b, OP_MUL, x, inverse_deviation(l, square, lower_float(l, 3))), argument_like(l, 2, x),
			       IR_NONE);
}

/* Reshapes [C] to [C, 1, 1 …], so that it broadcasts along dimension 1 of x. */
static ir_ref per_channel(struct lower *l, ir_ref v, ir_ref x)
{
	uint32_t rank = ir_type_of(l->f, x)->rank;
	dim dims[HIR_MAX_RANK] = {ir_type_of(l->f, v)->dims[0]};
	for (uint32_t k = 1; k + 1 < rank; k++)
		dims[k] = dim_const(l->f->dims, 1);
	return rank > 2 ? ir_build_reshape(l->b, v, dims, rank - 1) : v;
}

/* Reshapes x to groups of channels: [N, G, C/G, …]. */
void lower_bi_group_norm(struct lower *l, ir_ref *r)
{
	ir_ref x = ir_build_widen(l->b, lower_tensor(l, 0)), weight = argument_like(l, 2, x), bias = argument_like(l, 3, x);
	struct hir_type t = *ir_type_of(l->f, x);
	dim groups = dim_const(l->f->dims, lower_int(l, 1)), size = dim_product(l->f->dims, t.dims + 1, t.rank - 1u);
	dim split[3] = {t.dims[0], groups, dim_floordiv(l->f->dims, size, groups)};
	ir_ref y = ir_build_reshape(l->b, standardise(l, ir_build_reshape(l->b, x, split, 3), 4, lower_float(l, 4)), t.dims, t.rank);
	r[0] = scale_and_shift(l, y, weight == IR_NONE ? weight : per_channel(l, weight, x),
			       bias == IR_NONE ? bias : per_channel(l, bias, x));
}

/* x*alpha + beta with one alpha and beta for each channel. They are build-time values if the statistics are. */
void lower_bi_batch_norm(struct lower *l, ir_ref *r)
{
	ir_ref x = ir_build_widen(l->b, lower_tensor(l, 0)), mean = argument_like(l, 1, x), variance = argument_like(l, 2, x);
	uint32_t others = ((1u << ir_type_of(l->f, x)->rank) - 1) & ~2u;
	if (mean == IR_NONE)
		mean = ir_build_mean(l->b, x, others, false);
	if (variance == IR_NONE) {
		ir_ref away = ir_build_op2(l->b, OP_SUB, x, per_channel(l, mean, x));
		variance = ir_build_mean(l->b, ir_build_op2(l->b, OP_MUL, away, away), others, false);
	}
	ir_ref alpha = scale_and_shift(l, inverse_deviation(l, variance, lower_float(l, 7)), argument_like(l, 3, x), IR_NONE);
	ir_ref shift = ir_build_op1(l->b, OP_NEG, ir_build_op2(l->b, OP_MUL, mean, alpha)), bias = argument_like(l, 4, x);
	ir_ref beta = bias == IR_NONE ? shift : ir_build_op2(l->b, OP_ADD, bias, shift);
	r[0] = scale_and_shift(l, x, per_channel(l, alpha, x), per_channel(l, beta, x));
}
