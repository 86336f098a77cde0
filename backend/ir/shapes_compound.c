/* The rules of compound operations. */
#include "backend/ir/shapes.h"

static bool is_wide(dtype t) { return t == DT_FLOAT32 || t == DT_FLOAT64; }

static void at_least(struct ir_shape *v, const int64_t *x, uint32_t n, int64_t least)
{
	for (uint32_t k = 0; k < n; k++)
		need(v, x[k] >= least && x[k] <= INT32_MAX, "an attribute is out of range");
}

/* x is [N, C, H, W], and so is the result, with the same batch. Returns false after a fault. */
static bool planes(struct ir_shape *v, const struct ir_inst *i)
{
	const struct hir_type *x = operand(v, 0);
	return need(v, x->rank == 4, "the operand must have rank 4") && ir_result_rank(v, i, 4) && ir_result_dim(v, i, 0, x->dims[0]);
}

/* The number of windows in a dim of this size with its padding. */
static dim count_windows(const struct ir_shape *v, dim size, dim kernel, int64_t stride, int64_t dilation)
{
	struct dims *d = v->f->dims;
	dim one = dim_const(d, 1), reach = dim_mul(d, dim_sub(d, kernel, one), dim_const(d, dilation));
	return dim_add(d, dim_floordiv(d, dim_sub(d, size, dim_add(d, reach, one)), dim_const(d, stride)), one);
}

void ir_shape_conv(struct ir_shape *v, const struct ir_inst *i)
{
	const struct ir_conv *a = ir_conv(i);
	const struct hir_type *x = operand(v, 0), *w = operand(v, 1);
	struct dims *d = v->f->dims;
	at_least(v, a->stride, 2, 1);
	at_least(v, a->dilation, 2, 1);
	at_least(v, a->pad, 4, 0);
	at_least(v, &a->groups, 1, 1);
	need(v, is_float(i->type.elem) || (!is_float(x->elem) && !is_float(w->elem)), "a sum of floats is a float");
	if (!need(v, w->rank == 4, "the weights must have rank 4") || !planes(v, i))
		return;
	need(v, may_equal(v, x->dims[1], dim_mul(d, w->dims[1], dim_const(d, a->groups))), "the channels differ");
	ir_result_dim(v, i, 1, w->dims[0]);
	for (uint32_t k = 0; !v->fault && k < 2; k++) {
		dim size = dim_add(d, x->dims[2 + k], dim_const(d, a->pad[2 * k] + a->pad[2 * k + 1]));
		ir_result_dim(v, i, 2 + k, count_windows(v, size, w->dims[2 + k], a->stride[k], a->dilation[k]));
	}
}

/* With `ceil`, a last window that does not fit counts if it begins in the operand or in the padding before it. Sizes that are not known are
 * checked at run time. */
static void check_ceil(struct ir_shape *v, const struct ir_pool *a, uint32_t k, dim operand_size, dim result)
{
	int64_t size, n;
	if (!dim_is_const(v->f->dims, operand_size, &size) || !dim_is_const(v->f->dims, result, &n))
		return;
	int64_t rest = size + 2 * a->pad[k] - (a->kernel[k] - 1) * a->dilation[k] - 1;
	int64_t up = rest + a->stride[k] - 1, last = size + a->pad[k] - 1;
	need(v, rest >= 0 && n == (up < last ? up : last) / a->stride[k] + 1, "wrong result shape");
}

/* The sizes of an adaptive pooling are free, but not 0. */
void ir_shape_pool(struct ir_shape *v, const struct ir_inst *i)
{
	const struct ir_pool *a = ir_pool(i);
	const struct hir_type *x = operand(v, 0);
	struct dims *d = v->f->dims;
	bool windows = a->kind != POOL_ADAPTIVE_AVERAGE;
	int64_t n;
	at_least(v, a->kernel, 2, windows);
	at_least(v, a->stride, 2, windows);
	at_least(v, a->dilation, 2, windows);
	at_least(v, a->pad, 2, 0);
	need(v, a->kind == POOL_AVERAGE || !a->divisor, "only averages have a divisor");
	need(v, a->kind == POOL_MAX || is_wide(i->type.elem), "means need float32 or float64");
	if (!planes(v, i))
		return;
	ir_result_dim(v, i, 1, x->dims[1]);
	for (uint32_t k = 0; !windows && !v->fault && k < 2; k++)
		need(v, !dim_is_const(d, i->type.dims[2 + k], &n) || n > 0, "an adaptive pooling to nothing");
	for (uint32_t k = 0; windows && !a->ceil && !v->fault && k < 2; k++) {
		dim size = dim_add(d, x->dims[2 + k], dim_const(d, 2 * a->pad[k]));
		ir_result_dim(v, i, 2 + k, count_windows(v, size, dim_const(d, a->kernel[k]), a->stride[k], a->dilation[k]));
	}
	for (uint32_t k = 0; windows && a->ceil && !v->fault && k < 2; k++)
		check_ceil(v, a, k, x->dims[2 + k], i->type.dims[2 + k]);
}

/* A parameter has one element for each channel, or for each of the normalised elements. */
static void check_parameter(struct ir_shape *v, const struct ir_norm *a, const struct hir_type *x, const struct hir_type *t)
{
	bool channels = a->kind == NORM_BATCH || a->kind == NORM_GROUP;
	uint32_t n = channels ? 1 : (uint32_t)__builtin_popcount(a->mask);
	need(v, t->rank == n, "wrong rank of a parameter");
	for (uint32_t k = 0; !v->fault && k < n; k++)
		need(v, may_equal(v, t->dims[k], x->dims[channels ? 1 : x->rank - n + k]), "wrong shape of a parameter");
}

void ir_shape_norm(struct ir_shape *v, const struct ir_inst *i)
{
	const struct ir_norm *a = ir_norm(i);
	const struct hir_type *x = operand(v, 0);
	uint32_t n = (uint32_t)__builtin_popcount(a->mask);
	bool channels = a->kind == NORM_BATCH || a->kind == NORM_GROUP;
	need(v, i->n_operands == 1u + a->has_mean + a->has_variance + a->has_weight + a->has_bias, "wrong number of operands");
	need(v, channels ? x->rank >= 2 && !n : n && n <= x->rank && a->mask == ((1u << n) - 1) << (x->rank - n), "wrong dims");
	need(v, a->kind != NORM_GROUP || a->groups >= 1, "an attribute is out of range");
	for (uint32_t k = 1; !v->fault && k < i->n_operands; k++)
		check_parameter(v, a, x, operand(v, k));
	if (!v->fault)
		ir_result_shape(v, i, x);
}

static dim shapes_compound_from_end(const struct hir_type *t, uint32_t k) { return t->dims[t->rank - k]; }

/* The leading dims of the result are those to which the operands broadcast; the caller states them. */
void ir_shape_attention(struct ir_shape *v, const struct ir_inst *i)
{
	uint32_t rank = i->type.rank;
	need(v, i->n_operands <= 4, "wrong number of operands");
	need(v, i->n_operands < 4 || operand(v, 3)->elem == DT_BOOL || operand(v, 3)->elem == i->type.elem, "wrong type of the mask");
	need(v, rank >= 2, "the result must be a matrix");
	for (uint32_t k = 0; !v->fault && k < i->n_operands; k++)
		need(v, operand(v, k)->rank <= rank && (k == 3 || operand(v, k)->rank >= 2), "wrong rank of an operand");
	if (v->fault)
		return;
	const struct hir_type *q = operand(v, 0), *k = operand(v, 1), *x = operand(v, 2);
	need(v, may_equal(v, shapes_compound_from_end(q, 1), shapes_compound_from_end(k, 1)),
	     "queries and keys have different numbers of features");
	need(v, may_equal(v, shapes_compound_from_end(k, 2), shapes_compound_from_end(x, 2)), "keys and values have different lengths");
	ir_result_dim(v, i, rank - 2, shapes_compound_from_end(q, 2));
	ir_result_dim(v, i, rank - 1, shapes_compound_from_end(x, 1));
}

/* A scale that lacks the dims of the mask belongs to all elements: otherwise it would not broadcast to them. */
static void check_scaled_dims(struct ir_shape *v, const struct ir_quantize *a, uint32_t rank)
{
	need(v, a->keep || __builtin_popcount(a->mask) == (int)rank, "a scale of some dims must keep them");
}

void ir_shape_quantize(struct ir_shape *v, const struct ir_inst *i)
{
	const struct ir_quantize *a = ir_quantize(i);
	const struct hir_type *x = operand(v, 0);
	need(v, i->type.elem == (a->kind == QUANTIZE_ABSMAX ? DT_INT8 : DT_TRIT), "the result has the wrong element type");
	if (!need(v, i->n_operands == 1u + (a->kind == QUANTIZE_THRESHOLD), "wrong number of operands"))
		return;
	if (a->kind == QUANTIZE_THRESHOLD)
		need(v, operand(v, 1)->rank <= x->rank, "a threshold of higher rank");
	else
		check_scaled_dims(v, a, x->rank);
	ir_result_shape(v, i, x);
}

void ir_shape_quant_scale(struct ir_shape *v, const struct ir_inst *i)
{
	const struct ir_quantize *a = ir_quantize(i);
	const struct hir_type *x = operand(v, 0);
	struct hir_type t = {0};
	need(v, a->kind != QUANTIZE_THRESHOLD, "a threshold has no scale");
	check_scaled_dims(v, a, x->rank);
	for (uint32_t k = 0; k < x->rank; k++)
		if (!(a->mask >> k & 1))
			t.dims[t.rank++] = x->dims[k];
		else if (a->keep)
			t.dims[t.rank++] = dim_const(v->f->dims, 1);
	ir_result_shape(v, i, &t);
}

void ir_shape_dequantize(struct ir_shape *v, const struct ir_inst *i)
{
	need(v, operand(v, 0)->rank <= i->type.rank && operand(v, 1)->rank <= i->type.rank, "result of lower rank");
}

void ir_shape_resize(struct ir_shape *v, const struct ir_inst *i)
{
	const struct ir_resize *a = ir_resize(i);
	need(v, !a->scaled || (a->scale[0] > 0 && a->scale[1] > 0), "an attribute is out of range");
	need(v, a->mode == RESIZE_NEAREST || is_wide(i->type.elem), "means need float32 or float64");
	if (planes(v, i))
		ir_result_dim(v, i, 1, operand(v, 0)->dims[1]);
}
