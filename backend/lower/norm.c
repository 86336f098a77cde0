/* Normalisations. float16 and bfloat16 are computed in float32 and rounded once. */
#include "backend/lower/state.h"

struct norm {
	struct ir_norm a;
	ir_ref x[5];
	uint32_t n;
};

static struct norm read_norm(struct lower *l, enum ir_norm_kind kind, uint32_t eps)
{
	return (struct norm){{.kind = kind, .eps = lower_float(l, eps)}, {ir_build_widen(l->b, lower_tensor(l, 0))}, 1};
}

/* Adds argument k, if it is given, in the element type of x. */
static bool norm_add_operand(struct lower *l, struct norm *v, uint32_t k)
{
	ir_ref t = lower_tensor(l, k);
	if (t != IR_NONE)
		v->x[v->n++] = ir_build_cast(l->b, t, ir_type_of(l->f, v->x[0])->elem);
	return t != IR_NONE;
}

static ir_ref norm_emit(struct lower *l, const struct norm *v) { return ir_build_as(l->b, OP_NORM, &v->a, v->x, v->n); }

/* Returns a mask of as many last dims as argument 1 has sizes. */
static uint32_t normalised_dims(struct lower *l, ir_ref x)
{
	const struct hir_arg *sizes = NULL;
	uint32_t rank = ir_type_of(l->f, x)->rank, n = lower_list(l, 1, &sizes);
	return ((1u << n) - 1) << (rank - n);
}

void lower_bi_layer_norm(struct lower *l, ir_ref *r)
{
	struct norm v = read_norm(l, NORM_LAYER, 4);
	v.a.mask = normalised_dims(l, v.x[0]);
	v.a.has_weight = norm_add_operand(l, &v, 2);
	v.a.has_bias = norm_add_operand(l, &v, 3);
	r[0] = norm_emit(l, &v);
}

void lower_bi_rms_norm(struct lower *l, ir_ref *r)
{
	struct norm v = read_norm(l, NORM_RMS, 3);
	v.a.mask = normalised_dims(l, v.x[0]);
	v.a.has_weight = norm_add_operand(l, &v, 2);
	r[0] = norm_emit(l, &v);
}

void lower_bi_group_norm(struct lower *l, ir_ref *r)
{
	struct norm v = read_norm(l, NORM_GROUP, 4);
	v.a.groups = lower_int(l, 1);
	v.a.has_weight = norm_add_operand(l, &v, 2);
	v.a.has_bias = norm_add_operand(l, &v, 3);
	r[0] = norm_emit(l, &v);
}

void lower_bi_batch_norm(struct lower *l, ir_ref *r)
{
	struct norm v = read_norm(l, NORM_BATCH, 7);
	v.a.has_mean = norm_add_operand(l, &v, 1);
	v.a.has_variance = norm_add_operand(l, &v, 2);
	v.a.has_weight = norm_add_operand(l, &v, 3);
	v.a.has_bias = norm_add_operand(l, &v, 4);
	r[0] = norm_emit(l, &v);
}
