/* Rules of windows over three dimensions: [N, C, D, H, W], or without N. The depth becomes a part of the channels or of the batch of a window over two. */
#include <math.h>
#include "frontend/rules/window.h"

/* A window over the depth, and the arguments of the window over height and width. */
struct volume {
	struct value x;
	struct hir_type t; /* of x, padded */
	int64_t kernel, stride, dilation, before, after;
	dim depth;   /* of the result */
	bool single; /* x had no batch */
};

/* Splits argument i, one number or a list of three, into that of the depth and that of the other two. */
static bool split_argument(struct emitter *e, struct builtin_call *c, uint32_t i, int64_t least, int64_t *depth, struct value *rest)
{
	int64_t all[3];
	if (!need_numbers(e, c, i, 3, least, all))
		return false;
	*depth = all[0];
	*rest = LIST(value_int(all[1]), value_int(all[2]));
	return true;
}

static bool read_volume(struct emitter *e, struct builtin_call *c, struct volume *v)
{
	hir_ref x = need_tensor(e, c, 0);
	if (x == HIR_NONE)
		return false;
	v->x = value_tensor(x);
	v->single = type_of(e, x)->rank == 4;
	if (v->single)
		v->x = COMPOSE(BI_UNSQUEEZE, v->x, value_int(0));
	if (rank_of(e, v->x) == 5)
		return true;
	return rule_reject(e, c, DIAG_RANK, c->ats[0], "needs a tensor [N, C, D, H, W] or [C, D, H, W], not %s", value_text(e, c->v[0]));
}

/* Counts the windows over the depth, and pads it. */
static bool pad_depth(struct emitter *e, struct builtin_call *c, struct volume *v, struct value filler, bool ceil)
{
	struct window w = {dim_const(e->b->dims, v->kernel), v->stride, v->dilation, v->before, v->after};
	struct value zero = value_int(0), after = value_int(v->after + (ceil ? v->stride - 1 : 0));
	if (!window_count(e, c, "depth", type_of(e, v->x.u.t)->dims[2], &w, ceil, &v->depth))
		return false;
	if (v->before || after.u.i)
		v->x = COMPOSE(BI_PAD, v->x, LIST(zero, zero, zero, zero, value_int(v->before), after), value_str("constant"), filler);
	if (!is_tensor(v->x))
		return false;
	v->t = *type_of(e, v->x.u.t);
	return true;
}

/* Returns the slices of the depth that all windows have at place k: [N, C, depth, H, W]. */
static struct value slice_depth(struct emitter *e, struct builtin_call *c, const struct volume *v, int64_t k)
{
	struct dims *d = e->b->dims;
	dim last = dim_mul(d, dim_sub(d, v->depth, dim_const(d, 1)), dim_const(d, v->stride));
	struct value from = value_int(k * v->dilation), to = value_dim(d, dim_add(d, last, dim_const(d, k * v->dilation + 1)));
	return COMPOSE(BI_SLICE, v->x, value_int(2), from, to, value_int(v->stride));
}

/* "same", "valid", or numbers. */
static bool read_conv_padding(struct emitter *e, struct builtin_call *c, struct volume *v, struct value *rest)
{
	static const char *const words[] = {"valid", "same"};
	uint32_t word;
	if (c->v[4].kind != V_STR) {
		bool ok = split_argument(e, c, 4, 0, &v->before, rest);
		v->after = v->before;
		return ok;
	}
	*rest = c->v[4];
	if (!need_word(e, c, 4, words, 2, &word))
		return false;
	if (word && v->stride != 1)
		return rule_reject(e, c, DIAG_ARG_VALUE, c->ats[4], "`padding=\"same\"` needs a stride of 1");
	int64_t all = word ? v->dilation * (v->kernel - 1) : 0;
	v->before = all / 2;
	v->after = all - v->before;
	return true;
}

static bool volume_check_channels(struct emitter *e, struct builtin_call *c, const struct volume *v, const struct hir_type *type)
{
	int64_t groups;
	if (!need_numbers(e, c, 6, 1, 1, &groups))
		return false;
	dim takes = dim_mul(e->b->dims, type->dims[1], dim_const(e->b->dims, groups)), has = type_of(e, v->x.u.t)->dims[1];
	return dims_agree(e, has, takes) || rule_reject(e, c, DIAG_SHAPE, c->ats[0], "the input has %s channels, but the weight takes %s",
							dim_text(e, has), dim_text(e, takes));
}

/* The places of the depth's window become channels: [N · depth, C · kernel, H, W]. */
struct value rule_conv3d(struct emitter *e, struct builtin_call *c)
{
	struct volume v = {0};
	struct value stride, padding, dilation;
	struct dims *d = e->b->dims;
	hir_ref w = need_tensor(e, c, 1);
	if (w == HIR_NONE || !read_volume(e, c, &v))
		return VALUE_POISON;
	struct hir_type tw = *type_of(e, w);
	if (tw.rank != 5)
		return rule_error(e, c, DIAG_RANK, c->ats[1],
				  "the weight must have 5 dimensions, [out, in/groups, depth, height, width], not %s", type_text(e, w));
	if (!volume_check_channels(e, c, &v, &tw) || !need_const_size(e, c, c->ats[1], tw.dims[2], "the depth of the weight", &v.kernel) ||
	    !split_argument(e, c, 3, 1, &v.stride, &stride) || !split_argument(e, c, 5, 1, &v.dilation, &dilation) ||
	    !read_conv_padding(e, c, &v, &padding) || !pad_depth(e, c, &v, value_int(0), false))
		return VALUE_POISON;
	struct value parts = value_seq(e->f->arena, V_LIST, (uint32_t)v.kernel);
	for (int64_t k = 0; k < v.kernel; k++)
		parts.u.seq->at[k] = slice_depth(e, c, &v, k);
	struct value order = LIST(value_int(0), value_int(3), value_int(1), value_int(2), value_int(4), value_int(5));
	struct value x = COMPOSE(BI_PERMUTE, COMPOSE(BI_STACK, parts, value_int(2)), order);
	x = COMPOSE(BI_RESHAPE, x,
		    LIST(value_dim(d, dim_mul(d, v.t.dims[0], v.depth)), value_dim(d, dim_mul(d, v.t.dims[1], tw.dims[2])),
			 value_dim(d, v.t.dims[3]), value_dim(d, v.t.dims[4])));
	struct value flat = COMPOSE(BI_FLATTEN, value_tensor(w), value_int(1), value_int(2));
	struct value y = COMPOSE(BI_CONV2D, x, flat, c->v[2], stride, padding, dilation, c->v[6]);
	if (!is_tensor(y))
		return y;
	struct hir_type ty = *type_of(e, y.u.t);
	y = COMPOSE(BI_RESHAPE, y,
		    LIST(value_dim(d, v.t.dims[0]), value_dim(d, v.depth), value_dim(d, ty.dims[1]), value_dim(d, ty.dims[2]),
			 value_dim(d, ty.dims[3])));
	y = COMPOSE(BI_TRANSPOSE, y, value_int(1), value_int(2));
	return v.single ? COMPOSE(BI_SQUEEZE, y, value_int(0)) : y;
}

static struct value lowest_value(dtype t)
{
	if (dtype_class(t) == DTC_FLOAT)
		return value_float(-HUGE_VAL);
	return value_int(dtype_least_int(t));
}

/* The greatest of the depth's window, then of the window over height and width, with the depth as a part of the channels. */
struct value rule_maxpool3d(struct emitter *e, struct builtin_call *c)
{
	struct volume v = {0};
	struct value kernel, stride, padding, dilation;
	struct dims *d = e->b->dims;
	bool ceil;
	if (!read_volume(e, c, &v) || !split_argument(e, c, 1, 1, &v.kernel, &kernel))
		return VALUE_POISON;
	v.stride = v.kernel;
	stride = kernel;
	if ((c->v[2].kind != V_NONE && !split_argument(e, c, 2, 1, &v.stride, &stride)) ||
	    !split_argument(e, c, 3, 0, &v.before, &padding) || !split_argument(e, c, 4, 1, &v.dilation, &dilation) ||
	    !need_bool(e, c, 5, &ceil))
		return VALUE_POISON;
	v.after = v.before;
	if (v.before > v.kernel / 2)
		return rule_error(e, c, DIAG_ARG_VALUE, c->ats[3],
				  "`padding` must be at most half of the kernel size, but is %lld for %lld", (long long)v.before,
				  (long long)v.kernel);
	if (!pad_depth(e, c, &v, lowest_value(type_of(e, v.x.u.t)->elem), ceil))
		return VALUE_POISON;
	struct value y = slice_depth(e, c, &v, 0);
	for (int64_t k = 1; k < v.kernel; k++)
		y = COMPOSE(BI_MAXIMUM, y, slice_depth(e, c, &v, k));
	y = COMPOSE(BI_MAXPOOL2D, COMPOSE(BI_FLATTEN, y, value_int(1), value_int(2)), kernel, stride, padding, dilation, c->v[5]);
	if (!is_tensor(y))
		return y;
	struct hir_type ty = *type_of(e, y.u.t);
	y = COMPOSE(BI_RESHAPE, y,
		    LIST(value_dim(d, v.t.dims[0]), value_dim(d, v.t.dims[1]), value_dim(d, v.depth), value_dim(d, ty.dims[2]),
			 value_dim(d, ty.dims[3])));
	return v.single ? COMPOSE(BI_SQUEEZE, y, value_int(0)) : y;
}
