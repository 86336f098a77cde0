/* Rules of pooling over the last two dimensions. */
#include "frontend/rules/window.h"

struct pool {
	hir_ref x;
	struct hir_type t; /* of the input with a batch, later of the result */
	int64_t kernel[2], stride[2], pad[2], dilation[2];
	bool dropped, ceil;
};

/* The default of the stride is the kernel size. */
static bool pooling_read(struct emitter *e, struct builtin_call *c, struct pool *p)
{
	if (!need_numbers(e, c, 1, 2, 1, p->kernel))
		return false;
	if (c->v[2].kind == V_NONE || (value_is_seq(c->v[2]) && !c->v[2].u.seq->n))
		p->stride[0] = p->kernel[0], p->stride[1] = p->kernel[1];
	else if (!need_numbers(e, c, 2, 2, 1, p->stride))
		return false;
	if (!need_numbers(e, c, 3, 2, 0, p->pad))
		return false;
	for (uint32_t k = 0; k < 2; k++)
		if (p->pad[k] > p->kernel[k] / 2)
			return rule_reject(e, c, DIAG_ARG_VALUE, c->ats[3],
					   "`padding` must be at most half of the kernel size, but is %lld for %lld", (long long)p->pad[k],
					   (long long)p->kernel[k]);
	return true;
}

static bool infer_sizes(struct emitter *e, struct builtin_call *c, struct pool *p)
{
	for (uint32_t k = 0; k < 2; k++) {
		struct window w = {dim_const(e->b->dims, p->kernel[k]), p->stride[k], p->dilation[k], p->pad[k], p->pad[k]};
		if (!window_count(e, c, k ? "width" : "height", p->t.dims[2 + k], &w, p->ceil, &p->t.dims[2 + k]))
			return false;
	}
	return true;
}

static struct value pooling_emit(struct emitter *e, struct builtin_call *c, const struct pool *p, struct hir_arg *args)
{
	args[0] = arg_tensor(p->x);
	args[1] = int_list(e, p->kernel, 2);
	args[2] = int_list(e, p->stride, 2);
	args[3] = int_list(e, p->pad, 2);
	return drop_batch(e, c, emit_builtin(e, c->bi, &p->t, args, c->sig->n, c->at), p->dropped);
}

/* Adds a batch to the input, and finds the sizes of the result. */
static bool infer_pool_type(struct emitter *e, struct builtin_call *c, struct pool *p)
{
	p->x = with_batch(e, c, p->x, 4, &p->dropped);
	if (p->x == HIR_NONE)
		return false;
	p->t = *type_of(e, p->x);
	return infer_sizes(e, c, p);
}

struct value rule_maxpool2d(struct emitter *e, struct builtin_call *c)
{
	struct pool p = {.x = c->operand[0]};
	struct hir_arg args[BUILTIN_MAX_PARAMS];
	if (!pooling_read(e, c, &p) || !need_numbers(e, c, 4, 2, 1, p.dilation) || !need_bool(e, c, 5, &p.ceil))
		return VALUE_POISON;
	if (type_of(e, p.x)->elem == DT_BOOL)
		return rule_error(e, c, DIAG_OPERANDS, c->ats[0], "needs numbers, not bools");
	if (!infer_pool_type(e, c, &p))
		return VALUE_POISON;
	args[4] = int_list(e, p.dilation, 2);
	args[5] = plain_arg(c->v[5]);
	return pooling_emit(e, c, &p, args);
}

struct value rule_avgpool2d(struct emitter *e, struct builtin_call *c)
{
	struct pool p = {.x = c->operand[0], .dilation = {1, 1}};
	struct hir_arg args[BUILTIN_MAX_PARAMS];
	bool count_pad;
	int64_t divisor;
	if (!pooling_read(e, c, &p) || !need_bool(e, c, 4, &p.ceil) || !need_bool(e, c, 5, &count_pad))
		return VALUE_POISON;
	if (c->v[6].kind != V_NONE && !need_numbers(e, c, 6, 1, 1, &divisor))
		return VALUE_POISON;
	if (!infer_pool_type(e, c, &p))
		return VALUE_POISON;
	for (uint32_t k = 4; k < 7; k++)
		args[k] = plain_arg(c->v[k]);
	return pooling_emit(e, c, &p, args);
}

/* Reads one size of `output_size`, a number or a pair; `none` keeps the size of the input. */
static bool output_size(struct emitter *e, struct builtin_call *c, uint32_t k, dim keep, dim *out)
{
	struct value v = c->v[1];
	int64_t n;
	if (value_is_seq(v) && v.u.seq->n != 2)
		return rule_reject(e, c, DIAG_ARG_VALUE, c->ats[1], "`output_size` must be a number or a pair");
	v = item_of(v, k);
	*out = keep;
	if (v.kind == V_NONE)
		return true;
	if (!size_value(e, v, out))
		return rule_reject(e, c, DIAG_TYPE_MISMATCH, c->ats[1], "`output_size` must be an integer, not %s", value_text(e, v));
	if (dim_is_const(e->b->dims, *out, &n) && n < 1)
		return rule_reject(e, c, DIAG_ARG_VALUE, c->ats[1], "`output_size` must be at least 1, not %lld", (long long)n);
	return true;
}

struct value rule_adaptive_avgpool2d(struct emitter *e, struct builtin_call *c)
{
	bool dropped;
	hir_ref x = c->operand[0];
	if ((x = with_batch(e, c, x, 4, &dropped)) == HIR_NONE)
		return VALUE_POISON;
	struct hir_type t = *type_of(e, x);
	struct hir_arg sizes[2], args[2] = {arg_tensor(x)};
	for (uint32_t k = 0; k < 2; k++) {
		if (!output_size(e, c, k, t.dims[2 + k], &t.dims[2 + k]))
			return VALUE_POISON;
		sizes[k] = arg_dim(t.dims[2 + k]);
	}
	args[1] = arg_list(e, sizes, 2);
	return drop_batch(e, c, emit_builtin(e, c->bi, &t, args, 2, c->at), dropped);
}

/* The result is [N, C, 1, 1], as of adaptive_avgpool2d(x, 1). */
struct value rule_global_avgpool(struct emitter *e, struct builtin_call *c)
{
	hir_ref x = c->operand[0];
	struct hir_type t = *type_of(e, x);
	if (t.rank != 3 && t.rank != 4)
		return rule_error(e, c, DIAG_RANK, c->ats[0], "needs an input [N, C, H, W] or [C, H, W], not %s", type_text(e, x));
	struct hir_arg axes[2] = {arg_int(t.rank - 2), arg_int(t.rank - 1)};
	struct hir_arg args[3] = {arg_tensor(x), arg_list(e, axes, 2), plain_arg(value_bool(true))};
	t.dims[t.rank - 2] = t.dims[t.rank - 1] = dim_const(e->b->dims, 1);
	return value_tensor(emit_builtin(e, BI_MEAN, &t, args, 3, c->at));
}
