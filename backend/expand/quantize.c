/* Quantisation. */
#include "backend/expand/state.h"

/* Codes and their scale. */
enum { CODES, SCALE };

static ir_ref round_to_scale(struct ir_builder *b, ir_ref x, ir_ref scale, double limit)
{
	ir_ref q = ir_build_op1(b, OP_ROUND, ir_build_op2(b, OP_DIV, x, scale));
	return ir_build_op2c(b, OP_MIN, ir_build_op2c(b, OP_MAX, q, -limit), limit);
}

/* x > t: 1; x < -t: -1; else 0 */
static void by_threshold(struct ir_builder *b, ir_ref x, ir_ref t, ir_ref *r)
{
	ir_ref low = ir_build_op2(b, OP_LT, x, ir_build_op1(b, OP_NEG, t)), high = ir_build_op2(b, OP_LT, t, x);
	ir_ref below = ir_build_select(b, low, ir_build_const_float(b, DT_TRIT, -1), ir_build_const_float(b, DT_TRIT, 0));
	r[CODES] = ir_build_select(b, high, ir_build_const_float(b, DT_TRIT, 1), below);
}

static void absmean(struct ir_builder *b, const struct ir_quantize *a, ir_ref x, ir_ref *r)
{
	ir_ref mean = ir_build_mean(b, ir_build_op1(b, OP_ABS, x), a->mask, a->keep);
	r[SCALE] = ir_build_op2c(b, OP_MAX, mean, 1e-5);
	r[CODES] = ir_build_cast(b, round_to_scale(b, x, r[SCALE], 1), DT_TRIT);
}

static void absmax(struct ir_builder *b, const struct ir_quantize *a, ir_ref x, ir_ref *r)
{
	ir_ref most = ir_build_reduce(b, OP_REDUCE_MAX, ir_build_op1(b, OP_ABS, x), a->mask, a->keep);
	r[SCALE] = ir_build_op2c(b, OP_DIV, ir_build_op2c(b, OP_MAX, most, 1e-5), 127);
	r[CODES] = ir_build_cast(b, round_to_scale(b, x, r[SCALE], 127), DT_INT8);
}

/* Ternary weight networks: the scale is the mean of the absolute values above the threshold, or 0 if there are none. */
static void adaptive(struct ir_builder *b, const struct ir_quantize *a, ir_ref x, ir_ref *r)
{
	dtype e = ir_type_of(b->f, x)->elem;
	ir_ref size = ir_build_op1(b, OP_ABS, x);
	ir_ref limit = ir_build_op2c(b, OP_MUL, ir_build_mean(b, size, a->mask, a->keep), a->factor);
	ir_ref far = ir_build_op2(b, OP_LT, limit, size), zero = ir_build_const_float(b, e, 0);
	ir_ref sum = ir_build_reduce(b, OP_REDUCE_SUM, ir_build_select(b, far, size, zero), a->mask, a->keep);
	ir_ref n = ir_build_reduce(b, OP_REDUCE_SUM, ir_build_cast(b, far, e), a->mask, a->keep);
	r[CODES] = ir_build_select(b, far, ir_build_cast(b, ir_build_op1(b, OP_SIGN, x), DT_TRIT), ir_build_const_float(b, DT_TRIT, 0));
	r[SCALE] = ir_build_op2(b, OP_DIV, sum, ir_build_op2c(b, OP_MAX, n, 1));
}

/* XNOR-Net: binary weights, or signs with 0. The scale is the mean of the absolute values. */
static void signs(struct ir_builder *b, const struct ir_quantize *a, ir_ref x, ir_ref *r)
{
	ir_ref zero = ir_build_const_float(b, ir_type_of(b->f, x)->elem, 0);
	r[CODES] = a->kind == QUANTIZE_BINARY ? ir_build_select(b, ir_build_op2(b, OP_LE, zero, x), ir_build_const_float(b, DT_TRIT, 1),
								ir_build_const_float(b, DT_TRIT, -1))
					      : ir_build_cast(b, ir_build_op1(b, OP_SIGN, x), DT_TRIT);
	r[SCALE] = ir_build_mean(b, ir_build_op1(b, OP_ABS, x), a->mask, a->keep);
}

void expand_quantize(struct ir_builder *b, const struct ir_inst *i, const ir_ref *x, ir_ref *results)
{
	const struct ir_quantize *a = ir_quantize(i);
	results[SCALE] = IR_NONE;
	switch (a->kind) {
	case QUANTIZE_THRESHOLD: by_threshold(b, x[0], x[1], results); return;
	case QUANTIZE_ABSMEAN: absmean(b, a, x[0], results); return;
	case QUANTIZE_ABSMAX: absmax(b, a, x[0], results); return;
	case QUANTIZE_ADAPTIVE: adaptive(b, a, x[0], results); return;
	case QUANTIZE_SIGN:
	case QUANTIZE_BINARY: signs(b, a, x[0], results); return;
	}
}

void expand_dequantize(struct ir_builder *b, const struct ir_inst *i, const ir_ref *x, ir_ref *results)
{
	results[0] = ir_build_op2(b, OP_MUL, ir_build_cast(b, x[0], i->type.elem), x[1]);
}
