/* Operations on windows of the last two dims: convolutions and pooling. */
#include "backend/lower/state.h"

static void ints(struct lower *l, uint32_t k, uint32_t n, int64_t *out)
{
	const struct hir_arg *items = NULL;
	lower_list(l, k, &items);
	for (uint32_t i = 0; i < n; i++)
		out[i] = items[i].u.i;
}

void lower_bi_conv2d(struct lower *l, ir_ref *r)
{
	struct hir_type t = lower_node_type(l);
	ir_ref operands[2] = {lower_tensor(l, 0), lower_tensor(l, 1)};
	struct ir_conv a = {.groups = lower_int(l, 6)};
	ints(l, 3, 2, a.stride);
	ints(l, 4, 4, a.pad);
	ints(l, 5, 2, a.dilation);
	r[0] = ir_build(l->b, OP_CONV, &t, operands, 2);
	ir_set_conv(l->f, r[0], a);
}

static void window_emit_pool(struct lower *l, ir_ref x, struct ir_pool a, ir_ref *r)
{
	struct hir_type t = lower_node_type(l);
	t.elem = ir_type_of(l->f, x)->elem;
	r[0] = ir_build(l->b, OP_POOL, &t, &x, 1);
	ir_set_pool(l->f, r[0], a);
}

static struct ir_pool window_read_pool(struct lower *l, enum ir_pool_kind kind, uint32_t ceil)
{
	struct ir_pool a = {.kind = kind, .dilation = {1, 1}, .ceil = lower_int(l, ceil) != 0};
	ints(l, 1, 2, a.kernel);
	ints(l, 2, 2, a.stride);
	ints(l, 3, 2, a.pad);
	return a;
}

void lower_bi_maxpool2d(struct lower *l, ir_ref *r)
{
	struct ir_pool a = window_read_pool(l, POOL_MAX, 5);
	ints(l, 4, 2, a.dilation);
	window_emit_pool(l, lower_tensor(l, 0), a, r);
}

/* Means are computed in float32 if x is float16 or bfloat16. */
void lower_bi_avgpool2d(struct lower *l, ir_ref *r)
{
	struct ir_pool a = window_read_pool(l, POOL_AVERAGE, 4);
	a.count_pad = lower_int(l, 5) != 0;
	a.divisor = lower_has(l, 6) ? lower_int(l, 6) : 0;
	window_emit_pool(l, ir_build_widen(l->b, lower_tensor(l, 0)), a, r);
}

void lower_bi_adaptive_avgpool2d(struct lower *l, ir_ref *r)
{
	window_emit_pool(l, ir_build_widen(l->b, lower_tensor(l, 0)), (struct ir_pool){.kind = POOL_ADAPTIVE_AVERAGE}, r);
}
