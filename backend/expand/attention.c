/* Attention: products, a mask, a softmax. */
#include <float.h>
#include <math.h>
#include "backend/expand/state.h"

static dim dim_from_end(struct ir_builder *b, ir_ref x, uint32_t k) { return ir_type_of(b->f, x)->dims[ir_type_of(b->f, x)->rank - k]; }

/* Reshapes x: its last `old` dimensions become n dimensions of these sizes. */
static ir_ref attention_resize(struct ir_builder *b, ir_ref x, uint32_t old, const dim *sizes, uint32_t n)
{
	struct hir_type t = *ir_type_of(b->f, x);
	t.rank = (uint8_t)(t.rank - old + n);
	for (uint32_t k = 0; k < n; k++)
		t.dims[t.rank - n + k] = sizes[k];
	return ir_build_reshape(b, x, t.dims, t.rank);
}

/* Returns the number of query heads that share a head of k. It is 1 unless both head counts are known and differ. */
static int64_t attention_group_size(struct ir_builder *b, ir_ref q, ir_ref k)
{
	int64_t nq, n;
	if (ir_type_of(b->f, q)->rank < 3 || ir_type_of(b->f, k)->rank < 3)
		return 1;
	if (!dim_is_const(b->f->dims, dim_from_end(b, q, 3), &nq) || !dim_is_const(b->f->dims, dim_from_end(b, k, 3), &n))
		return 1;
	return n > 1 && nq > n ? nq / n : 1;
}

/* Reshapes [.., heads, L, X] to [.., heads / group, group * L, X], so that the queries of a group are rows of one product. */
static ir_ref merge_group_queries(struct ir_builder *b, ir_ref x, int64_t group)
{
	if (group == 1) /* there may be no head dimension */
		return x;
	struct dims *d = b->f->dims;
	dim g = dim_const(d, group);
	dim sizes[3] = {dim_floordiv(d, dim_from_end(b, x, 3), g), dim_mul(d, dim_from_end(b, x, 2), g), dim_from_end(b, x, 1)};
	return attention_resize(b, x, 3, sizes, 3);
}

static ir_ref split_group_queries(struct ir_builder *b, ir_ref x, int64_t group)
{
	if (group == 1)
		return x;
	struct dims *d = b->f->dims;
	dim g = dim_const(d, group);
	dim sizes[3] = {dim_mul(d, dim_from_end(b, x, 3), g), dim_floordiv(d, dim_from_end(b, x, 2), g), dim_from_end(b, x, 1)};
	return attention_resize(b, x, 3, sizes, 3);
}

static ir_ref swap_last(struct ir_builder *b, ir_ref x)
{
	int64_t perm[HIR_MAX_RANK];
	uint32_t rank = ir_type_of(b->f, x)->rank;
	for (uint32_t k = 0; k < rank; k++)
		perm[k] = k;
	perm[rank - 2] = rank - 1;
	perm[rank - 1] = rank - 2;
	return ir_build_permute(b, x, perm);
}

static ir_ref mask_scores(struct ir_builder *b, ir_ref scores, ir_ref seen)
{
	return ir_build_select(b, seen, scores, ir_build_const_float(b, ir_type_of(b->f, scores)->elem, -INFINITY));
}

/* Query i attends to keys 0 … i. */
static ir_ref causal(struct ir_builder *b, ir_ref scores)
{
	struct hir_type t = {.rank = 2, .dims = {dim_from_end(b, scores, 2), dim_from_end(b, scores, 1)}};
	return mask_scores(b, scores, ir_build_op2(b, OP_LE, ir_build_iota(b, &t, DT_INT64, 1), ir_build_iota(b, &t, DT_INT64, 0)));
}

/* Softmax over the keys. A row without keys is zero, as in PyTorch: its maximum is replaced by a finite number, and its sum, which is 0
 * then and at least 1 otherwise, by a positive one. */
static ir_ref attention_weights_of(struct ir_builder *b, ir_ref scores)
{
	uint32_t last = 1u << (ir_type_of(b->f, scores)->rank - 1);
	double least = ir_type_of(b->f, scores)->elem == DT_FLOAT64 ? -DBL_MAX : -FLT_MAX;
	ir_ref most = ir_build_op2c(b, OP_MAX, ir_build_reduce(b, OP_REDUCE_MAX, scores, last, true), least);
	ir_ref e = ir_build_op1(b, OP_EXP, ir_build_op2(b, OP_SUB, scores, most));
	return ir_build_op2(b, OP_DIV, e, ir_build_op2c(b, OP_MAX, ir_build_reduce(b, OP_REDUCE_SUM, e, last, true), 0.5));
}

static ir_ref attention_scale_of(struct ir_builder *b, const struct ir_attention *a, ir_ref q)
{
	dtype e = ir_type_of(b->f, q)->elem;
	int64_t features;
	if (a->scaled)
		return ir_build_const_float(b, e, a->scale);
	if (dim_is_const(b->f->dims, dim_from_end(b, q, 1), &features))
		return ir_build_const_float(b, e, 1 / sqrt((double)features));
	return ir_build_op1(b, OP_RSQRT, ir_build_extent(b, dim_from_end(b, q, 1), e));
}

void expand_attention(struct ir_builder *b, const struct ir_inst *i, const ir_ref *x, ir_ref *results)
{
	const struct ir_attention *a = ir_attention(i);
	ir_ref q = x[0], k = x[1], v = x[2];
	dtype e = i->type.elem;
	int64_t group = attention_group_size(b, q, k), group_v = attention_group_size(b, q, v);
	ir_ref rows = merge_group_queries(b, ir_build_op2(b, OP_MUL, q, attention_scale_of(b, a, q)), group);
	ir_ref scores = split_group_queries(b, ir_build_matmul(b, rows, swap_last(b, k), e), group);
	if (i->n_operands > 3 && ir_type_of(b->f, x[3])->elem == DT_BOOL)
		scores = mask_scores(b, scores, x[3]);
	else if (i->n_operands > 3)
		scores = ir_build_op2(b, OP_ADD, scores, x[3]);
	if (a->causal)
		scores = causal(b, scores);
	rows = merge_group_queries(b, attention_weights_of(b, scores), group_v);
	results[0] = split_group_queries(b, ir_build_matmul(b, rows, v, e), group_v);
}
