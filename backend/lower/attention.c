/* Attention and rotary position embedding. float16 and bfloat16 are computed in float32 and rounded once. */
#include <float.h>
#include <math.h>
#include "backend/lower/state.h"
#include "base/arena.h"

static dim dim_from_end(struct lower *l, ir_ref x, uint32_t k) { return ir_type_of(l->f, x)->dims[ir_type_of(l->f, x)->rank - k]; }

/* Reshapes x: its last `old` dimensions become n dimensions of these sizes. */
static ir_ref resize(struct lower *l, ir_ref x, uint32_t old, const dim *sizes, uint32_t n)
{
	struct hir_type t = *ir_type_of(l->f, x);
	t.rank = (uint8_t)(t.rank - old + n);
	for (uint32_t k = 0; k < n; k++)
		t.dims[t.rank - n + k] = sizes[k];
	return ir_build_reshape(l->b, x, t.dims, t.rank);
}

/* Returns the number of query heads that share a head of k. It is 1 unless both head counts are known and differ. */
static int64_t group_size(struct lower *l, ir_ref q, ir_ref k)
{
	int64_t nq, n;
	if (ir_type_of(l->f, q)->rank < 3 || ir_type_of(l->f, k)->rank < 3)
		return 1;
	if (!dim_is_const(l->f->dims, dim_from_end(l, q, 3), &nq) || !dim_is_const(l->f->dims, dim_from_end(l, k, 3), &n))
		return 1;
	return n > 1 && nq > n ? nq / n : 1;
}

/* Reshapes [.., heads, L, X] to [.., heads / group, group * L, X], so that the queries of a group are rows of one product. */
static ir_ref merge_group_queries(struct lower *l, ir_ref x, int64_t group)
{
	if (group == 1) /* there may be no head dimension */
		return x;
	struct dims *d = l->f->dims;
	dim g = dim_const(d, group);
	dim sizes[3] = {dim_floordiv(d, dim_from_end(l, x, 3), g), dim_mul(d, dim_from_end(l, x, 2), g), dim_from_end(l, x, 1)};
	return resize(l, x, 3, sizes, 3);
}

static ir_ref split_group_queries(struct lower *l, ir_ref x, int64_t group)
{
	if (group == 1)
		return x;
	struct dims *d = l->f->dims;
	dim g = dim_const(d, group);
	dim sizes[3] = {dim_mul(d, dim_from_end(l, x, 3), g), dim_floordiv(d, dim_from_end(l, x, 2), g), dim_from_end(l, x, 1)};
	return resize(l, x, 3, sizes, 3);
}

static ir_ref swap_last(struct lower *l, ir_ref x)
{
	int64_t perm[HIR_MAX_RANK];
	uint32_t rank = ir_type_of(l->f, x)->rank;
	for (uint32_t k = 0; k < rank; k++)
		perm[k] = k;
	perm[rank - 2] = rank - 1;
	perm[rank - 1] = rank - 2;
	return ir_build_permute(l->b, x, perm);
}

static ir_ref mask_scores(struct lower *l, ir_ref scores, ir_ref seen)
{
	return ir_build_select(l->b, seen, scores, ir_build_const_float(l->b, ir_type_of(l->f, scores)->elem, -INFINITY));
}

/* Query i attends to keys 0 … i. */
static ir_ref causal(struct lower *l, ir_ref scores)
{
	struct hir_type t = {.rank = 2, .dims = {dim_from_end(l, scores, 2), dim_from_end(l, scores, 1)}};
	return mask_scores(l, scores,
			   ir_build_op2(l->b, OP_LE, ir_build_iota(l->b, &t, DT_INT64, 1), ir_build_iota(l->b, &t, DT_INT64, 0)));
}

/* Softmax over the keys. A row without keys is zero, as in PyTorch: its maximum is replaced by a finite number, and its sum, which is 0
 * then and at least 1 otherwise, by a positive one. */
static ir_ref weights_of(struct lower *l, ir_ref scores)
{
	uint32_t last = 1u << (ir_type_of(l->f, scores)->rank - 1);
	double least = ir_type_of(l->f, scores)->elem == DT_FLOAT64 ? -DBL_MAX : -FLT_MAX;
	ir_ref most = ir_build_op2c(l->b, OP_MAX, ir_build_reduce(l->b, OP_REDUCE_MAX, scores, last, true), least);
	ir_ref e = ir_build_op1(l->b, OP_EXP, ir_build_op2(l->b, OP_SUB, scores, most));
	return ir_build_op2(l->b, OP_DIV, e, ir_build_op2c(l->b, OP_MAX, ir_build_reduce(l->b, OP_REDUCE_SUM, e, last, true), 0.5));
}

static ir_ref scale_of(struct lower *l, ir_ref q)
{
	dtype e = ir_type_of(l->f, q)->elem;
	int64_t features;
	if (lower_has(l, 5))
		return ir_build_const_float(l->b, e, lower_float(l, 5));
	if (dim_is_const(l->f->dims, dim_from_end(l, q, 1), &features))
		return ir_build_const_float(l->b, e, 1 / sqrt((double)features));
	return ir_build_op1(l->b, OP_RSQRT, ir_build_extent(l->b, dim_from_end(l, q, 1), e));
}

void lower_bi_attention(struct lower *l, ir_ref *r)
{
	ir_ref q = ir_build_widen(l->b, lower_tensor(l, 0)), k = ir_build_widen(l->b, lower_tensor(l, 1)),
	       v = ir_build_widen(l->b, lower_tensor(l, 2));
	ir_ref mask = lower_tensor(l, 3);
	dtype e = ir_type_of(l->f, q)->elem;
	int64_t group = group_size(l, q, k), group_v = group_size(l, q, v);
	ir_ref rows = merge_group_queries(l, ir_build_op2(l->b, OP_MUL, q, scale_of(l, q)), group);
	ir_ref scores = split_group_queries(l, ir_build_matmul(l->b, rows, swap_last(l, k), e), group);
	if (mask != IR_NONE)
		scores = ir_type_of(l->f, mask)->elem == DT_BOOL ? mask_scores(l, scores, mask)
								 : ir_build_op2(l->b, OP_ADD, scores, ir_build_widen(l->b, mask));
	if (lower_int(l, 4))
		scores = causal(l, scores);
	rows = merge_group_queries(l, weights_of(l, scores), group_v);
	r[0] = split_group_queries(l, ir_build_matmul(l->b, rows, v, e), group_v);
}

/* ---- rope ---- */

/* The positions as floats, [..., 1], which are multiplied by the frequencies [D / 2]. */
static ir_ref rope_positions(struct lower *l, const struct hir_type *x, uint32_t axis, dtype elem)
{
	ir_ref p = lower_tensor(l, 1);
	struct hir_type rows = {.rank = (uint8_t)(x->rank - axis)};
	for (uint32_t k = 0; k < rows.rank; k++)
		rows.dims[k] = k ? dim_const(l->f->dims, 1) : x->dims[axis];
	if (p == IR_NONE || ir_type_of(l->f, p)->rank == 0) {
		ir_ref count = ir_build_cast(l->b, ir_build_iota(l->b, &rows, DT_INT64, 0), elem);
		if (p == IR_NONE && !lower_has(l, 1))
			return count;
		ir_ref first = p == IR_NONE ? ir_build_extent(l->b, lower_dim(l, 1), elem) : ir_build_cast(l->b, p, elem);
		return ir_build_op2(l->b, OP_ADD, count, first);
	}
	p = ir_build_cast(l->b, p, elem);
	if (ir_type_of(l->f, p)->rank == 1)
		return ir_build_reshape(l->b, p, rows.dims, rows.rank);
	struct hir_type t = *ir_type_of(l->f, p);
	t.dims[t.rank++] = dim_const(l->f->dims, 1);
	return ir_build_reshape(l->b, p, t.dims, t.rank);
}

/* base^(-2i/D), i = 0 … D/2-1. */
static ir_ref frequencies(struct lower *l, int64_t pairs, double base, dtype elem)
{
	struct hir_type t = {.elem = elem, .rank = 1, .dims = {dim_const(l->f->dims, pairs)}};
	double *d = ARENA_ARRAY(l->f->unit, double, pairs + 1);
	float *f = ARENA_ARRAY(l->f->unit, float, pairs + 1);
	for (int64_t i = 0; i < pairs; i++) {
		d[i] = pow(base, -(double)i / (double)pairs);
		f[i] = (float)d[i];
	}
	ir_ref r = ir_build(l->b, OP_CONST, &t, NULL, 0);
	ir_set_data(l->f, r, (struct ir_data){elem == DT_FLOAT64 ? (const void *)d : f});
	return r;
}

/* Rotates (a, b) to (a cos - b sin, b cos + a sin). a and b are halves of the features, or with `interleaved` alternate features. */
void lower_bi_rope(struct lower *l, ir_ref *r)
{
	ir_ref x = ir_build_widen(l->b, lower_tensor(l, 0));
	const struct hir_type t = *ir_type_of(l->f, x);
	bool interleaved = lower_int(l, 3) != 0;
	uint32_t axis = (uint32_t)lower_int(l, 4), last = t.rank - 1u;
	int64_t features = 0;
	dim_is_const(l->f->dims, t.dims[last], &features);
	dim half = dim_const(l->f->dims, features / 2), zero = dim_const(l->f->dims, 0), one = dim_const(l->f->dims, 1);
	ir_ref a = ir_build_slice(l->b, x, last, zero, interleaved ? 2 : 1, half);
	ir_ref b = ir_build_slice(l->b, x, last, interleaved ? one : half, interleaved ? 2 : 1, half);
	ir_ref angle =
		ir_build_op2(l->b, OP_MUL, rope_positions(l, &t, axis, t.elem), frequencies(l, features / 2, lower_float(l, 2), t.elem));
	ir_ref c = ir_build_op1(l->b, OP_COS, angle), s = ir_build_op1(l->b, OP_SIN, angle);
	ir_ref parts[2] = {ir_build_op2(l->b, OP_SUB, ir_build_op2(l->b, OP_MUL, a, c), ir_build_op2(l->b, OP_MUL, b, s)),
			   ir_build_op2(l->b, OP_ADD, ir_build_op2(l->b, OP_MUL, b, c), ir_build_op2(l->b, OP_MUL, a, s))};
	dim pair[2] = {half, one};
	for (uint32_t k = 0; interleaved && k < 2; k++)
		parts[k] = resize(l, parts[k], 1, pair, 2);
	ir_ref y = ir_build_concat(l->b, parts, 2, interleaved ? last + 1 : last);
	r[0] = ir_build_reshape(l->b, y, t.dims, t.rank);
}
