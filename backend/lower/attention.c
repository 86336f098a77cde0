/* Attention and rotary position embedding. float16 and bfloat16 are computed in float32 and rounded once. */
#include <math.h>
#include "backend/lower/state.h"
#include "base/arena.h"

void lower_bi_attention(struct lower *l, ir_ref *r)
{
	struct hir_type t = lower_node_type(l);
	ir_ref mask = lower_tensor(l, 3), operands[4];
	for (uint32_t k = 0; k < 3; k++)
		operands[k] = ir_build_widen(l->b, lower_tensor(l, k));
	if (mask != IR_NONE)
		operands[3] = ir_build_widen(l->b, mask);
	t.elem = ir_type_of(l->f, operands[0])->elem;
	struct ir_attention a = {.causal = lower_int(l, 4) != 0, .scaled = lower_has(l, 5)};
	a.scale = a.scaled ? lower_float(l, 5) : 0;
	r[0] = ir_build(l->b, OP_ATTENTION, &t, operands, mask == IR_NONE ? 3 : 4);
	ir_set_attention(l->f, r[0], a);
}

/* ---- rope ---- */

/* Reshapes x: its last `old` dimensions become n dimensions of these sizes. */
static ir_ref lower_attention_resize(struct lower *l, ir_ref x, uint32_t old, const dim *sizes, uint32_t n)
{
	struct hir_type t = *ir_type_of(l->f, x);
	t.rank = (uint8_t)(t.rank - old + n);
	for (uint32_t k = 0; k < n; k++)
		t.dims[t.rank - n + k] = sizes[k];
	return ir_build_reshape(l->b, x, t.dims, t.rank);
}

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
	ir_set_const(l->f, r, elem == DT_FLOAT64 ? (const void *)d : f);
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
		parts[k] = lower_attention_resize(l, parts[k], 1, pair, 2);
	ir_ref y = ir_build_concat(l->b, parts, 2, interleaved ? last + 1 : last);
	r[0] = ir_build_reshape(l->b, y, t.dims, t.rank);
}
