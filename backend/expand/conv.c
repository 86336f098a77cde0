/* Convolutions as matrix products: [N, C, H, W] is padded, its windows become rows or columns of a matrix ("im2col"), and the weights
 * are the other matrix. Trits are the right operand, which kernels take packed. Other weights are the left operand, so that the result
 * has the order of the output. Convolutions of single channels are sums over windows, without a matrix. */
#include "backend/expand/state.h"

struct conv {
	const struct ir_conv *a;
	ir_ref x, w;
	dim n, height, width, in, out; /* batch, result sizes, channels of a group */
	dim kernel[2];
	dtype elem; /* of the result */
};
enum { N, G, C, H, W, KH, KW }; /* dims of the windows */

static struct conv conv_describe(struct ir_builder *b, const struct ir_inst *i, const ir_ref *x)
{
	const struct hir_type *t = &i->type, *w = ir_type_of(b->f, x[1]);
	struct conv v = {.a = ir_conv(i), .x = x[0], .w = x[1], .elem = t->elem};
	v.n = t->dims[0];
	v.in = w->dims[1];
	v.out = dim_floordiv(b->f->dims, w->dims[0], dim_const(b->f->dims, v.a->groups));
	v.height = t->dims[2];
	v.width = t->dims[3];
	v.kernel[0] = w->dims[2];
	v.kernel[1] = w->dims[3];
	return v;
}

/* [N, G, C, H, W, KH, KW] */
static ir_ref conv_windows(struct ir_builder *b, const struct conv *v)
{
	struct dims *d = b->f->dims;
	dim zero = dim_const(d, 0), before[5] = {zero, zero, zero}, after[5] = {zero, zero, zero};
	struct hir_type t = *ir_type_of(b->f, v->x);
	dim split[5] = {t.dims[0], dim_const(d, v->a->groups), v->in, t.dims[2], t.dims[3]};
	for (uint32_t k = 0; k < 2; k++) {
		before[H + k] = dim_const(d, v->a->pad[2 * k]);
		after[H + k] = dim_const(d, v->a->pad[2 * k + 1]);
	}
	ir_ref x = ir_build_pad(b, ir_build_reshape(b, v->x, split, 5), before, after, ir_build_const_float(b, t.elem, 0));
	struct ir_window_axis w[2] = {{H, v->kernel[0], v->height, v->a->stride[0], v->a->dilation[0]},
				      {W, v->kernel[1], v->width, v->a->stride[1], v->a->dilation[1]}};
	dim one = dim_const(d, 1);
	bool single = dim_eq(v->kernel[0], one) && dim_eq(v->kernel[1], one) && v->a->stride[0] == 1 && v->a->stride[1] == 1;
	if (!single)
		return ir_build_windows(b, x, w, 2);
	dim same[7] = {v->n, split[1], v->in, v->height, v->width, one, one};
	return ir_build_reshape(b, x, same, 7);
}

/* Removes the first dim of [G, A, B] if it is 1. */
static ir_ref drop_unit_batch(struct ir_builder *b, const struct conv *v, ir_ref x, dim rows, dim columns)
{
	dim dims[3] = {dim_const(b->f->dims, v->a->groups), rows, columns};
	return ir_build_reshape(b, x, v->a->groups == 1 ? dims + 1 : dims, v->a->groups == 1 ? 2 : 3);
}

/* Weights on the left: [G, O, K] @ [G, K, N*H*W]. */
static ir_ref left_product(struct ir_builder *b, const struct conv *v, ir_ref x, dim k, dim positions)
{
	static const int64_t columns[7] = {G, C, KH, KW, N, H, W}, back[5] = {2, 0, 1, 3, 4};
	x = drop_unit_batch(b, v, ir_build_permute(b, x, columns), k, positions);
	ir_ref y = ir_build_matmul(b, drop_unit_batch(b, v, v->w, v->out, k), x, v->elem);
	dim dims[5] = {dim_const(b->f->dims, v->a->groups), v->out, v->n, v->height, v->width};
	return ir_build_permute(b, ir_build_reshape(b, y, dims, 5), back);
}

/* Weights on the right: [G, N*H*W, K] @ [G, K, O]. */
static ir_ref right_product(struct ir_builder *b, const struct conv *v, ir_ref x, dim k, dim positions)
{
	static const int64_t rows[7] = {G, N, H, W, C, KH, KW}, back[5] = {1, 0, 4, 2, 3}, swap[3] = {0, 2, 1};
	x = drop_unit_batch(b, v, ir_build_permute(b, x, rows), positions, k);
	ir_ref w = drop_unit_batch(b, v, v->w, v->out, k);
	w = ir_build_permute(b, w, v->a->groups == 1 ? (const int64_t[]){1, 0} : swap);
	dim dims[5] = {dim_const(b->f->dims, v->a->groups), v->n, v->height, v->width, v->out};
	return ir_build_permute(b, ir_build_reshape(b, ir_build_matmul(b, x, w, v->elem), dims, 5), back);
}

/* Returns x·w. A trit adds a float, subtracts it or skips it. */
static ir_ref conv_product(struct ir_builder *b, ir_ref x, ir_ref w, dtype elem)
{
	bool floats = dtype_class(elem) == DTC_FLOAT, xt = ir_type_of(b->f, x)->elem == DT_TRIT;
	if (!floats || xt == (ir_type_of(b->f, w)->elem == DT_TRIT))
		return ir_build_op2(b, OP_MUL, ir_build_widen(b, ir_build_cast(b, x, elem)), ir_build_widen(b, ir_build_cast(b, w, elem)));
	ir_ref trit = xt ? x : w, value = ir_build_widen(b, ir_build_cast(b, xt ? w : x, elem));
	ir_ref term = ir_build_select(b, ir_build_op2c(b, OP_LT, trit, 0), ir_build_op1(b, OP_NEG, value), value);
	return ir_build_select(b, ir_build_op2c(b, OP_EQ, trit, 0), ir_build_const_float(b, ir_type_of(b->f, value)->elem, 0), term);
}

/* One channel for each group: [N, G, O, H, W, KH, KW] times [G, O, 1, 1, KH, KW], summed over the windows. */
static ir_ref depthwise(struct ir_builder *b, const struct conv *v, ir_ref x)
{
	dim one = dim_const(b->f->dims, 1), groups = dim_const(b->f->dims, v->a->groups);
	dim dims[6] = {groups, v->out, one, one, v->kernel[0], v->kernel[1]};
	ir_ref w = ir_build_reshape(b, v->w, dims, 6);
	return ir_build_reduce(b, OP_REDUCE_SUM, conv_product(b, x, w, v->elem), 1u << KH | 1u << KW, false);
}

void expand_conv(struct ir_builder *b, const struct ir_inst *i, const ir_ref *operands, ir_ref *results)
{
	struct conv v = conv_describe(b, i, operands);
	dim k = dim_product(b->f->dims, (dim[]){v.in, v.kernel[0], v.kernel[1]}, 3);
	dim positions = dim_product(b->f->dims, (dim[]){v.n, v.height, v.width}, 3);
	ir_ref x = conv_windows(b, &v), y;
	if (v.a->groups > 1 && dim_eq(v.in, dim_const(b->f->dims, 1)))
		y = depthwise(b, &v, x);
	else if (ir_type_of(b->f, v.w)->elem == DT_TRIT)
		y = right_product(b, &v, x, k, positions);
	else
		y = left_product(b, &v, x, k, positions);
	results[0] = ir_build_reshape(b, y, i->type.dims, i->type.rank);
}
