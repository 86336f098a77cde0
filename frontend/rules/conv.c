/* Rules of convolutions. All are emitted as a conv2d over a batch, followed by the addition of the bias. */
#include <string.h>
#include "frontend/rules/window.h"

struct conv {
	uint32_t n; /* spatial dimensions: 1 or 2 */
	hir_ref x, w;
	struct hir_type tx, tw; /* with a batch */
	int64_t stride[2], dilation[2], pad[4];
	dim groups;
	bool dropped;
};
enum { ARG_BIAS = 2, ARG_STRIDE, ARG_PADDING, ARG_DILATION, ARG_GROUPS };

static const char *axis_name(const struct conv *v, uint32_t k) { return v->n == 1 ? "length" : k ? "width" : "height"; }

/* "same": the result has the size of the input; an odd element is added at the end. */
static bool set_same_padding(struct emitter *e, struct builtin_call *c, struct conv *v)
{
	for (uint32_t k = 0; k < v->n; k++) {
		int64_t kernel;
		if (v->stride[k] != 1)
			return rule_reject(e, c, DIAG_ARG_VALUE, c->ats[ARG_PADDING], "padding \"same\" requires stride 1, not %lld",
					   (long long)v->stride[k]);
		if (!need_const_size(e, c, c->ats[ARG_PADDING], v->tw.dims[2 + k], "padding \"same\": the size of the kernel", &kernel))
			return false;
		int64_t total;
		if (__builtin_mul_overflow(v->dilation[k], kernel - 1, &total))
			return rule_reject(e, c, DIAG_ARG_VALUE, c->ats[ARG_DILATION], "the dilated kernel is too large");
		v->pad[2 * k] = total / 2;
		v->pad[2 * k + 1] = total - total / 2;
	}
	return true;
}

static bool conv_read_padding(struct emitter *e, struct builtin_call *c, struct conv *v)
{
	struct value p = c->v[ARG_PADDING];
	int64_t n[2];
	if (p.kind == V_STR && !strcmp(p.u.s, "same"))
		return set_same_padding(e, c, v);
	if (p.kind == V_STR && !strcmp(p.u.s, "valid"))
		return true;
	if (p.kind == V_STR)
		return rule_reject(e, c, DIAG_ARG_VALUE, c->ats[ARG_PADDING], "`padding` must be a number, a pair, \"same\" or \"valid\"");
	if (!need_numbers(e, c, ARG_PADDING, v->n, 0, n))
		return false;
	for (uint32_t k = 0; k < 2 * v->n; k++)
		v->pad[k] = n[k / 2];
	return true;
}

/* Reads the number of groups; for depthwise convolutions it is the number of channels. */
static bool read_groups(struct emitter *e, struct builtin_call *c, struct conv *v)
{
	int64_t n;
	if (c->bi == BI_DEPTHWISE_CONV2D)
		v->groups = v->tx.dims[1];
	else if (c->v[ARG_GROUPS].kind == V_DIM && e->checking)
		v->groups = c->v[ARG_GROUPS].u.d;
	else if (need_numbers(e, c, ARG_GROUPS, 1, 1, &n))
		v->groups = dim_const(e->b->dims, n);
	else
		return false;
	return e->checking || need_const_size(e, c, c->at, v->groups, "the number of groups", &n);
}

static bool divides(struct emitter *e, dim by, dim d)
{
	int64_t n;
	if (dim_is_const(e->b->dims, by, &n) && !n)
		return false;
	int64_t rest;
	return !dim_is_const(e->b->dims, dim_mod(e->b->dims, d, by), &rest) || !rest;
}

static bool conv_check_channels(struct emitter *e, struct builtin_call *c, struct conv *v)
{
	struct dims *d = e->b->dims;
	dim in = v->tx.dims[1], out = v->tw.dims[0], takes = v->tw.dims[1], groups = v->groups, one = dim_const(d, 1);
	bool many = !dim_eq(groups, one);
	if (c->bi == BI_DEPTHWISE_CONV2D && !dims_agree(e, takes, one)) {
		operand_error(e, c, DIAG_SHAPE, &v->tx, &v->tw, "dimension 1 of the weight must be 1, not %s", dim_text(e, takes));
		return false;
	}
	if (!dims_agree(e, dim_mul(d, takes, groups), in)) {
		struct diag *g = operand_error(e, c, DIAG_SHAPE, &v->tx, &v->tw, "the input has %s channels, but the weight takes %s%s%s",
					       dim_text(e, in), dim_text(e, takes), many ? " in each of the groups: " : "",
					       many ? dim_text(e, groups) : "");
		label_origin(e, g, e->b, v->x, c->ats[0]);
		if (!dim_is_const(d, in, NULL))
			help_unknown_size(e, g, d, in, dim_mul(d, takes, groups));
		return false;
	}
	if (many && !divides(e, groups, out)) {
		operand_error(e, c, DIAG_SHAPE, &v->tx, &v->tw, "the weight's output channels are not divisible by the %s groups: %s",
			      dim_text(e, groups), dim_text(e, out));
		return false;
	}
	return true;
}

static bool conv_read_operands(struct emitter *e, struct builtin_call *c, struct conv *v)
{
	v->x = need_tensor(e, c, 0);
	v->w = need_tensor(e, c, 1);
	if (v->x == HIR_NONE || v->w == HIR_NONE)
		return false;
	v->tw = *type_of(e, v->w);
	if (v->tw.rank != v->n + 2)
		return rule_reject(e, c, DIAG_RANK, c->ats[1], "the weight must have %u dimensions, %s, not %s", v->n + 2,
				   v->n == 1 ? "[out, in/groups, kernel]" : "[out, in/groups, height, width]", type_text(e, v->w));
	v->x = with_batch(e, c, v->x, v->n + 2, &v->dropped);
	if (v->x == HIR_NONE)
		return false;
	v->tx = *type_of(e, v->x);
	return true;
}

/* Reshapes [N, C, L] to [N, C, 1, L]. */
static hir_ref conv_add_height(struct emitter *e, hir_ref x, span at)
{
	struct hir_type t = *type_of(e, x);
	t.rank = 4;
	t.dims[3] = t.dims[2];
	t.dims[2] = dim_const(e->b->dims, 1);
	return emit_reshape(e, x, &t, at).u.t;
}

static hir_ref conv_emit(struct emitter *e, struct builtin_call *c, const struct conv *v, const struct hir_type *t)
{
	struct hir_type out = *t;
	int64_t stride[2] = {1, v->stride[0]}, dilation[2] = {1, v->dilation[0]}, pad[4] = {0, 0, v->pad[0], v->pad[1]}, groups;
	hir_ref x = v->x, w = v->w;
	if (v->n == 1) {
		x = conv_add_height(e, x, c->at);
		w = conv_add_height(e, w, c->at);
		out.rank = 4;
		out.dims[3] = out.dims[2];
		out.dims[2] = dim_const(e->b->dims, 1);
	}
	struct hir_arg args[7] = {arg_tensor(x), arg_tensor(w), arg_none()};
	args[ARG_STRIDE] = int_list(e, v->n == 1 ? stride : v->stride, 2);
	args[ARG_PADDING] = int_list(e, v->n == 1 ? pad : v->pad, 4);
	args[ARG_DILATION] = int_list(e, v->n == 1 ? dilation : v->dilation, 2);
	args[ARG_GROUPS] = dim_is_const(e->b->dims, v->groups, &groups) ? arg_int(groups) : arg_dim(v->groups);
	hir_ref r = emit_builtin(e, BI_CONV2D, &out, args, 7, c->at);
	return v->n == 1 ? emit_reshape(e, r, t, c->at).u.t : r;
}

/* Adds the bias, reshaped to [C, 1, …]. */
static hir_ref conv_add_bias(struct emitter *e, struct builtin_call *c, const struct conv *v, hir_ref y)
{
	if (c->v[ARG_BIAS].kind == V_NONE)
		return y;
	hir_ref b = need_tensor(e, c, ARG_BIAS);
	if (b == HIR_NONE)
		return b;
	struct hir_type tb = *type_of(e, b), t = *type_of(e, y);
	if (tb.rank != 1 || !dims_agree(e, tb.dims[0], v->tw.dims[0])) {
		struct diag *g = report_error(e, DIAG_SHAPE, c->ats[ARG_BIAS], "`bias` of `%s` has shape %s, but must have [%s]",
					      c->sig->name, shape_text(e, &tb), dim_text(e, v->tw.dims[0]));
		diag_secondary(e->report.out, g, c->ats[1], "the weight has shape %s", shape_text(e, &v->tw));
		return HIR_NONE;
	}
	dtype elem = dtype_join_operands(t.elem, tb.elem);
	if (elem == DT_COUNT) {
		report_error(e, DIAG_OPERANDS, c->ats[ARG_BIAS], "`bias` of `%s` has element type %s, which cannot be added to %s",
			     c->sig->name, dtype_text(tb.elem), dtype_text(t.elem));
		return HIR_NONE;
	}
	tb.rank = (uint8_t)(v->n + 1);
	for (uint32_t k = 1; k < tb.rank; k++)
		tb.dims[k] = dim_const(e->b->dims, 1);
	t.elem = elem;
	struct hir_arg args[2] = {arg_tensor(emit_cast(e, y, elem, c->at)),
				  arg_tensor(emit_cast(e, emit_reshape(e, b, &tb, c->at).u.t, elem, c->at))};
	return emit_builtin(e, BI_ADD, &t, args, 2, c->at);
}

struct value rule_conv(struct emitter *e, struct builtin_call *c)
{
	uint32_t n = c->bi == BI_CONV1D ? 1 : 2;
	struct conv v = {.n = n};
	if (!conv_read_operands(e, c, &v) || !read_groups(e, c, &v) || !conv_check_channels(e, c, &v))
		return VALUE_POISON;
	if (!need_numbers(e, c, ARG_STRIDE, n, 1, v.stride) || !need_numbers(e, c, ARG_DILATION, n, 1, v.dilation) ||
	    !conv_read_padding(e, c, &v))
		return VALUE_POISON;
	struct hir_type out = {.rank = (uint8_t)(n + 2), .dims = {v.tx.dims[0], v.tw.dims[0]}};
	for (uint32_t k = 0; k < n; k++) {
		struct window w = {v.tw.dims[2 + k], v.stride[k], v.dilation[k], v.pad[2 * k], v.pad[2 * k + 1]};
		if (!window_count(e, c, axis_name(&v, k), v.tx.dims[2 + k], &w, false, &out.dims[2 + k]))
			return VALUE_POISON;
	}
	if (!product_types(e, c, &v.x, &v.w, &out.elem))
		return VALUE_POISON;
	hir_ref y = conv_add_bias(e, c, &v, conv_emit(e, c, &v, &out));
	return y == HIR_NONE ? VALUE_POISON : drop_batch(e, c, y, v.dropped);
}
