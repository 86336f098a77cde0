/* Convolutions as matrix products: [N, C, H, W] is padded, its windows become rows or columns of a matrix ("im2col"), and the weights
 * are the other matrix. Trits are the right operand, which kernels take packed. Other weights are the left operand, so that the result
 * has the order of the output. Convolutions of single channels are sums over windows, without a matrix. */
#include "backend/lower/state.h"

struct conv {
	ir_ref x, w;
	dim n, height, width, in, out; /* batch, result sizes, channels of a group */
	dim kernel[2];
	int64_t stride[2], pad[4], dilation[2], groups;
	dtype elem; /* of the result */
};
enum { N, G, C, H, W, KH, KW }; /* dims of the windows */

static void ints(struct lower *l, uint32_t k, uint32_t n, int64_t *out)
{
	const struct hir_arg *items = NULL;
	lower_list(l, k, &items);
	for (uint32_t i = 0; i < n; i++)
		out[i] = items[i].u.i;
}

static struct conv read_conv(struct lower *l)
{
	struct conv v = {.x = lower_tensor(l, 0), .w = lower_tensor(l, 1), .groups = lower_int(l, 6), .elem = l->n->type.elem};
	struct hir_type t = lower_node_type(l), w = *ir_type_of(l->f, v.w);
	dim groups = dim_const(l->f->dims, v.groups);
	ints(l, 3, 2, v.stride);
	ints(l, 4, 4, v.pad);
	ints(l, 5, 2, v.dilation);
	v.n = t.dims[0];
	v.in = w.dims[1];
	v.out = dim_floordiv(l->f->dims, w.dims[0], groups);
	v.height = t.dims[2];
	v.width = t.dims[3];
	v.kernel[0] = w.dims[2];
	v.kernel[1] = w.dims[3];
	return v;
}

/* [N, G, C, H, W, KH, KW] */
static ir_ref windows(struct lower *l, const struct conv *v)
{
	struct dims *d = l->f->dims;
	dim zero = dim_const(d, 0), before[5] = {zero, zero, zero}, after[5] = {zero, zero, zero};
	struct hir_type t = *ir_type_of(l->f, v->x);
	dim split[5] = {t.dims[0], dim_const(d, v->groups), v->in, t.dims[2], t.dims[3]};
	for (uint32_t k = 0; k < 2; k++) {
		before[H + k] = dim_const(d, v->pad[2 * k]);
		after[H + k] = dim_const(d, v->pad[2 * k + 1]);
	}
	ir_ref x = ir_build_pad(l->b, ir_build_reshape(l->b, v->x, split, 5), before, after, ir_build_const_float(l->b, t.elem, 0));
	struct ir_window_axis w[2] = {{H, v->kernel[0], v->height, v->stride[0], v->dilation[0]},
				      {W, v->kernel[1], v->width, v->stride[1], v->dilation[1]}};
	dim one = dim_const(d, 1);
	bool single = dim_eq(v->kernel[0], one) && dim_eq(v->kernel[1], one) && v->stride[0] == 1 && v->stride[1] == 1;
	if (!single)
		return ir_build_windows(l->b, x, w, 2);
	dim same[7] = {v->n, split[1], v->in, v->height, v->width, one, one};
	return ir_build_reshape(l->b, x, same, 7);
}

static dim product3(struct lower *l, dim a, dim b, dim c) { return dim_mul(l->f->dims, a, dim_mul(l->f->dims, b, c)); }

/* Removes the first dim of [G, A, B] if it is 1. */
static ir_ref drop_unit_batch(struct lower *l, const struct conv *v, ir_ref x, dim a, dim b)
{
	dim dims[3] = {dim_const(l->f->dims, v->groups), a, b};
	return ir_build_reshape(l->b, x, v->groups == 1 ? dims + 1 : dims, v->groups == 1 ? 2 : 3);
}

/* Weights on the left: [G, O, K] @ [G, K, N*H*W]. */
static ir_ref left_product(struct lower *l, const struct conv *v, ir_ref x, dim k, dim positions)
{
	static const int64_t columns[7] = {G, C, KH, KW, N, H, W}, back[5] = {2, 0, 1, 3, 4};
	x = drop_unit_batch(l, v, ir_build_permute(l->b, x, columns), k, positions);
	ir_ref y = ir_build_matmul(l->b, drop_unit_batch(l, v, v->w, v->out, k), x, v->elem);
	dim dims[5] = {dim_const(l->f->dims, v->groups), v->out, v->n, v->height, v->width};
	return ir_build_permute(l->b, ir_build_reshape(l->b, y, dims, 5), back);
}

/* Weights on the right: [G, N*H*W, K] @ [G, K, O]. */
static ir_ref right_product(struct lower *l, const struct conv *v, ir_ref x, dim k, dim positions)
{
	static const int64_t rows[7] = {G, N, H, W, C, KH, KW}, back[5] = {1, 0, 4, 2, 3}, swap[3] = {0, 2, 1};
	x = drop_unit_batch(l, v, ir_build_permute(l->b, x, rows), positions, k);
	ir_ref w = drop_unit_batch(l, v, v->w, v->out, k);
	w = ir_build_permute(l->b, w, v->groups == 1 ? (const int64_t[]){1, 0} : swap);
	dim dims[5] = {dim_const(l->f->dims, v->groups), v->n, v->height, v->width, v->out};
	return ir_build_permute(l->b, ir_build_reshape(l->b, ir_build_matmul(l->b, x, w, v->elem), dims, 5), back);
}

/* Returns x·w. A trit adds a float, subtracts it or skips it. */
static ir_ref product(struct lower *l, ir_ref x, ir_ref w, dtype elem)
{
	bool floats = dtype_class(elem) == DTC_FLOAT, xt = ir_type_of(l->f, x)->elem == DT_TRIT;
	if (!floats || xt == (ir_type_of(l->f, w)->elem == DT_TRIT))
		return ir_build_op2(l->b, OP_MUL, ir_build_widen(l->b, ir_build_cast(l->b, x, elem)),
				    ir_build_widen(l->b, ir_build_cast(l->b, w, elem)));
	ir_ref trit = xt ? x : w, value = ir_build_widen(l->b, ir_build_cast(l->b, xt ? w : x, elem));
	ir_ref term = ir_build_select(l->b, ir_build_op2c(l->b, OP_LT, trit, 0), ir_build_op1(l->b, OP_NEG, value), value);
	return ir_build_select(l->b, ir_build_op2c(l->b, OP_EQ, trit, 0), ir_build_const_float(l->b, ir_type_of(l->f, value)->elem, 0),
			       term);
}

/* One channel for each group: [N, G, O, H, W, KH, KW] times [G, O, 1, 1, KH, KW], summed over the windows. */
static ir_ref depthwise(struct lower *l, const struct conv *v, ir_ref x)
{
	dim one = dim_const(l->f->dims, 1), groups = dim_const(l->f->dims, v->groups);
	dim dims[6] = {groups, v->out, one, one, v->kernel[0], v->kernel[1]};
	ir_ref w = ir_build_reshape(l->b, v->w, dims, 6);
	return ir_build_reduce(l->b, OP_REDUCE_SUM, product(l, x, w, v->elem), 1u << KH | 1u << KW, false);
}

void lower_bi_conv2d(struct lower *l, ir_ref *r)
{
	struct conv v = read_conv(l);
	struct hir_type t = lower_node_type(l);
	dim k = product3(l, v.in, v.kernel[0], v.kernel[1]), positions = product3(l, v.n, v.height, v.width);
	ir_ref x = windows(l, &v), y;
	if (v.groups > 1 && dim_eq(v.in, dim_const(l->f->dims, 1)))
		y = depthwise(l, &v, x);
	else if (ir_type_of(l->f, v.w)->elem == DT_TRIT)
		y = right_product(l, &v, x, k, positions);
	else
		y = left_product(l, &v, x, k, positions);
	r[0] = ir_build_reshape(l->b, y, t.dims, t.rank);
}
