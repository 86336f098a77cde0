/* Normalisations. */
#include "backend/expand/state.h"

/* The operands; IR_NONE: absent. */
struct operands {
	ir_ref x, mean, variance, weight, bias;
};

static struct operands norm_operands_of(const struct ir_norm *a, const ir_ref *x)
{
	struct operands o = {.x = *x++};
	o.mean = a->has_mean ? *x++ : IR_NONE;
	o.variance = a->has_variance ? *x++ : IR_NONE;
	o.weight = a->has_weight ? *x++ : IR_NONE;
	o.bias = a->has_bias ? *x++ : IR_NONE;
	return o;
}

static ir_ref scale_and_shift(struct ir_builder *b, ir_ref x, ir_ref weight, ir_ref bias)
{
	if (weight != IR_NONE)
		x = ir_build_op2(b, OP_MUL, x, weight);
	return bias == IR_NONE ? x : ir_build_op2(b, OP_ADD, x, bias);
}

static ir_ref inverse_deviation(struct ir_builder *b, ir_ref variance, double eps)
{
	return ir_build_op1(b, OP_RSQRT, ir_build_op2c(b, OP_ADD, variance, eps));
}

/* (x - mean) / sqrt(variance + eps) over the masked dims */
static ir_ref standardise(struct ir_builder *b, ir_ref x, uint32_t mask, double eps)
{
	ir_ref away = ir_build_op2(b, OP_SUB, x, ir_build_mean(b, x, mask, true));
	ir_ref variance = ir_build_mean(b, ir_build_op2(b, OP_MUL, away, away), mask, true);
	return ir_build_op2(b, OP_MUL, away, inverse_deviation(b, variance, eps));
}

static ir_ref layer_norm(struct ir_builder *b, const struct ir_norm *a, const struct operands *o)
{
	return scale_and_shift(b, standardise(b, o->x, a->mask, a->eps), o->weight, o->bias);
}

static ir_ref rms_norm(struct ir_builder *b, const struct ir_norm *a, const struct operands *o)
{
	ir_ref square = ir_build_mean(b, ir_build_op2(b, OP_MUL, o->x, o->x), a->mask, true);
	return scale_and_shift(b, ir_build_op2(b, OP_MUL, o->x, inverse_deviation(b, square, a->eps)), o->weight, o->bias);
}

/* Reshapes [C] to [C, 1, 1 …], so that it broadcasts along dim 1 of x. */
static ir_ref norm_per_channel(struct ir_builder *b, ir_ref v, ir_ref x)
{
	uint32_t rank = ir_type_of(b->f, x)->rank;
	dim dims[HIR_MAX_RANK] = {ir_type_of(b->f, v)->dims[0]};
	for (uint32_t k = 1; k + 1 < rank; k++)
		dims[k] = dim_const(b->f->dims, 1);
	return rank > 2 ? ir_build_reshape(b, v, dims, rank - 1) : v;
}

/* Reshapes x to groups of channels: [N, G, C/G * …]. */
static ir_ref group_norm(struct ir_builder *b, const struct ir_norm *a, const struct operands *o)
{
	struct dims *d = b->f->dims;
	struct hir_type t = *ir_type_of(b->f, o->x);
	dim groups = dim_const(d, a->groups), size = dim_product(d, t.dims + 1, t.rank - 1u);
	dim split[3] = {t.dims[0], groups, dim_floordiv(d, size, groups)};
	ir_ref y = ir_build_reshape(b, standardise(b, ir_build_reshape(b, o->x, split, 3), 4, a->eps), t.dims, t.rank);
	ir_ref weight = o->weight == IR_NONE ? IR_NONE : norm_per_channel(b, o->weight, o->x);
	return scale_and_shift(b, y, weight, o->bias == IR_NONE ? IR_NONE : norm_per_channel(b, o->bias, o->x));
}

/* x*alpha + beta with one alpha and beta for each channel. They are build-time values if the statistics are. */
static ir_ref batch_norm(struct ir_builder *b, const struct ir_norm *a, const struct operands *o)
{
	ir_ref x = o->x, mean = o->mean, variance = o->variance;
	uint32_t others = ((1u << ir_type_of(b->f, x)->rank) - 1) & ~2u;
	if (mean == IR_NONE)
		mean = ir_build_mean(b, x, others, false);
	if (variance == IR_NONE) {
		ir_ref away = ir_build_op2(b, OP_SUB, x, norm_per_channel(b, mean, x));
		variance = ir_build_mean(b, ir_build_op2(b, OP_MUL, away, away), others, false);
	}
	ir_ref alpha = scale_and_shift(b, inverse_deviation(b, variance, a->eps), o->weight, IR_NONE);
	ir_ref shift = ir_build_op1(b, OP_NEG, ir_build_op2(b, OP_MUL, mean, alpha));
	ir_ref beta = o->bias == IR_NONE ? shift : ir_build_op2(b, OP_ADD, o->bias, shift);
	ir_ref wide_alpha = norm_per_channel(b, alpha, x);
	return scale_and_shift(b, x, wide_alpha, norm_per_channel(b, beta, x));
}

void expand_norm(struct ir_builder *b, const struct ir_inst *i, const ir_ref *x, ir_ref *results)
{
	const struct ir_norm *a = ir_norm(i);
	struct operands o = norm_operands_of(a, x);
	switch (a->kind) {
	case NORM_BATCH: results[0] = batch_norm(b, a, &o); return;
	case NORM_LAYER: results[0] = layer_norm(b, a, &o); return;
	case NORM_RMS: results[0] = rms_norm(b, a, &o); return;
	case NORM_GROUP: results[0] = group_norm(b, a, &o); return;
	}
}
