/* conv_transpose1d, conv_transpose2d: a conv2d of the input, with zeros inserted by the strides, and the flipped kernel. Weights are
 * [in, out / groups, …], as in PyTorch. */
#include "frontend/rules/window.h"

enum { ARG_X, ARG_WEIGHT, ARG_BIAS, ARG_STRIDE, ARG_PADDING, ARG_OUTPUT_PADDING, ARG_GROUPS, ARG_DILATION };

struct transposed {
	struct value x, w; /* [N, in, H, W], [in, out / groups, kh, kw] */
	struct hir_type tx, tw;
	int64_t stride[2], pad[2], extra[2], dilation[2], kernel[2], groups;
};

/* Reads input and weight, and reshapes both to a batch with two spatial dimensions. */
static bool conv_transpose_read_operands(struct emitter *e, struct builtin_call *c, uint32_t n, bool *single, struct transposed *v)
{
	hir_ref x = need_tensor(e, c, ARG_X), w = need_tensor(e, c, ARG_WEIGHT);
	if (x == HIR_NONE || w == HIR_NONE)
		return false;
	uint32_t rank = type_of(e, x)->rank;
	if (rank != n + 1 && rank != n + 2)
		return rule_reject(e, c, DIAG_RANK, c->ats[ARG_X], "needs an input %s, not %s",
				   n == 1 ? "[N, C, L] or [C, L]" : "[N, C, H, W] or [C, H, W]", type_text(e, x));
	if (type_of(e, w)->rank != n + 2)
		return rule_reject(e, c, DIAG_RANK, c->ats[ARG_WEIGHT], "the weight must be %s, not %s",
				   n == 1 ? "[in, out / groups, L]" : "[in, out / groups, H, W]", type_text(e, w));
	v->x = value_tensor(x);
	v->w = value_tensor(w);
	*single = rank == n + 1;
	if (*single)
		v->x = COMPOSE(BI_UNSQUEEZE, v->x, value_int(0));
	if (n == 1) {
		v->x = COMPOSE(BI_UNSQUEEZE, v->x, value_int(-2));
		v->w = COMPOSE(BI_UNSQUEEZE, v->w, value_int(-2));
	}
	if (v->x.kind != V_TENSOR || v->w.kind != V_TENSOR)
		return false;
	v->tx = *type_of(e, v->x.u.t);
	v->tw = *type_of(e, v->w.u.t);
	return true;
}

/* Reads one or two numbers. A single one is the width; the height is `missing`. */
static bool conv_transpose_read_pair(struct emitter *e, struct builtin_call *c, uint32_t i, uint32_t n, int64_t least, int64_t missing,
				     int64_t *out)
{
	int64_t given[2];
	if (!need_numbers(e, c, i, n, least, given))
		return false;
	out[0] = n == 1 ? missing : given[0];
	out[1] = given[n - 1];
	return true;
}

static bool conv_transpose_check_sizes(struct emitter *e, struct builtin_call *c, struct transposed *v)
{
	struct dims *d = e->b->dims;
	int64_t in;
	for (uint32_t k = 0; k < 2; k++)
		if (!need_const_size(e, c, c->ats[ARG_WEIGHT], v->tw.dims[2 + k], "the size of the kernel", &v->kernel[k]))
			return false;
	if (!dims_agree(e, v->tx.dims[1], v->tw.dims[0]))
		return rule_reject(e, c, DIAG_SHAPE, c->ats[ARG_X], "the input has %s channels, but the weight takes %s",
				   dim_text(e, v->tx.dims[1]), dim_text(e, v->tw.dims[0]));
	if (dim_is_const(d, v->tw.dims[0], &in) && in % v->groups)
		return rule_reject(e, c, DIAG_SHAPE, c->ats[ARG_GROUPS],
				   "the channels are not divisible by the groups: %lld groups, %lld channels", (long long)v->groups,
				   (long long)in);
	for (uint32_t k = 0; k < 2; k++)
		if (v->extra[k] && v->extra[k] >= v->stride[k] && v->extra[k] >= v->dilation[k])
			return rule_reject(e, c, DIAG_ARG_VALUE, c->ats[ARG_OUTPUT_PADDING],
					   "`output_padding` must be less than the stride or the dilation, not %lld",
					   (long long)v->extra[k]);
	return true;
}

/* Inserts stride - 1 zeros after each element. */
static struct value insert_zeros(struct emitter *e, struct builtin_call *c, const struct transposed *v)
{
	struct dims *d = e->b->dims;
	const dim *n = v->tx.dims;
	struct value size[4] = {value_dim(d, n[0]), value_dim(d, n[1]), value_dim(d, n[2]), value_dim(d, n[3])}, one = value_int(1),
		     none = value_int(0);
	if (v->stride[0] == 1 && v->stride[1] == 1)
		return v->x;
	struct value parts = COMPOSE(BI_RESHAPE, v->x, LIST(size[0], size[1], size[2], one, size[3], one));
	parts = COMPOSE(BI_PAD, parts, LIST(none, value_int(v->stride[1] - 1), none, none, none, value_int(v->stride[0] - 1)));
	return COMPOSE(BI_RESHAPE, parts,
		       LIST(size[0], size[1], value_dim(d, dim_mul(d, n[2], dim_const(d, v->stride[0]))),
			    value_dim(d, dim_mul(d, n[3], dim_const(d, v->stride[1])))));
}

/* Returns the flipped kernel [out, in / groups, kh, kw]. */
static struct value flip_kernel(struct emitter *e, struct builtin_call *c, const struct transposed *v)
{
	struct dims *d = e->b->dims;
	dim groups = dim_const(d, v->groups), in = dim_floordiv(d, v->tw.dims[0], groups), out = v->tw.dims[1];
	struct value h = value_int(v->kernel[0]), w = value_int(v->kernel[1]), inner = value_dim(d, in);
	struct value parts = COMPOSE(BI_RESHAPE, v->w, LIST(value_int(v->groups), inner, value_dim(d, out), h, w));
	parts = COMPOSE(BI_TRANSPOSE, parts, value_int(1), value_int(2));
	parts = COMPOSE(BI_RESHAPE, parts, LIST(value_dim(d, dim_mul(d, out, groups)), inner, h, w));
	return COMPOSE(BI_FLIP, parts, LIST(value_int(2), value_int(3)));
}

struct value rule_conv_transpose(struct emitter *e, struct builtin_call *c)
{
	uint32_t n = c->bi == BI_CONV_TRANSPOSE1D ? 1 : 2;
	struct transposed v;
	bool single = false;
	int64_t around[4];
	if (!conv_transpose_read_operands(e, c, n, &single, &v) || !conv_transpose_read_pair(e, c, ARG_STRIDE, n, 1, 1, v.stride) ||
	    !conv_transpose_read_pair(e, c, ARG_PADDING, n, 0, 0, v.pad) ||
	    !conv_transpose_read_pair(e, c, ARG_OUTPUT_PADDING, n, 0, 0, v.extra) ||
	    !conv_transpose_read_pair(e, c, ARG_DILATION, n, 1, 1, v.dilation) || !need_numbers(e, c, ARG_GROUPS, 1, 1, &v.groups) ||
	    !conv_transpose_check_sizes(e, c, &v))
		return VALUE_POISON;
	for (uint32_t k = 0; k < 2; k++) { /* the last dimension comes first */
		int64_t before = v.dilation[k] * (v.kernel[k] - 1) - v.pad[k];
		around[2 - 2 * k] = before;
		around[3 - 2 * k] = before + v.extra[k] - (v.stride[k] - 1);
	}
	struct value x = COMPOSE(BI_PAD, insert_zeros(e, c, &v),
				 LIST(value_int(around[0]), value_int(around[1]), value_int(around[2]), value_int(around[3])));
	struct value dilation = LIST(value_int(v.dilation[0]), value_int(v.dilation[1]));
	struct value y =
		COMPOSE(BI_CONV2D, x, flip_kernel(e, c, &v), c->v[ARG_BIAS], value_int(1), value_int(0), dilation, value_int(v.groups));
	if (n == 1)
		y = COMPOSE(BI_SQUEEZE, y, value_int(-2));
	return single ? COMPOSE(BI_SQUEEZE, y, value_int(0)) : y;
}
