/* Emits operations that move elements. */
#include <string.h>
#include "backend/ir/build.h"

ir_ref ir_build_reshape(struct ir_builder *b, ir_ref x, const dim *dims, uint32_t rank)
{
	struct hir_type t = {.elem = ir_type_of(b->f, x)->elem, .rank = (uint8_t)rank};
	for (uint32_t k = 0; k < rank; k++)
		t.dims[k] = dims[k];
	return ir_type_same(&t, ir_type_of(b->f, x)) ? x : ir_build(b, OP_RESHAPE, &t, &x, 1);
}

ir_ref ir_build_flatten(struct ir_builder *b, ir_ref x)
{
	const struct hir_type *t = ir_type_of(b->f, x);
	dim n = dim_product(b->f->dims, t->dims, t->rank);
	return ir_build_reshape(b, x, &n, 1);
}

ir_ref ir_build_permute(struct ir_builder *b, ir_ref x, const int64_t *perm)
{
	uint32_t rank = ir_type_of(b->f, x)->rank;
	struct ir_perm attributes = {0};
	bool same = true;
	for (uint32_t k = 0; k < rank; k++) {
		attributes.perm[k] = perm[k];
		same = same && perm[k] == k;
	}
	return same ? x : ir_build_as(b, OP_TRANSPOSE, &attributes, &x, 1);
}

ir_ref ir_build_slice(struct ir_builder *b, ir_ref x, uint32_t axis, dim start, int64_t step, dim size)
{
	struct hir_type t = *ir_type_of(b->f, x);
	t.dims[axis] = size;
	ir_ref r = ir_build(b, OP_SLICE, &t, &x, 1);
	struct ir_slice s = {0};
	for (uint32_t k = 0; k < t.rank; k++) {
		s.start[k] = k == axis ? start : dim_const(b->f->dims, 0);
		s.step[k] = k == axis ? step : 1;
	}
	ir_set_slice(b->f, r, s);
	return r;
}

ir_ref ir_build_concat(struct ir_builder *b, const ir_ref *parts, uint32_t n, uint32_t axis)
{
	return ir_build_as(b, OP_CONCAT, &(struct ir_axis){axis}, parts, n);
}

ir_ref ir_build_gather(struct ir_builder *b, ir_ref x, const ir_ref *indices, struct ir_gather g)
{
	uint32_t n = (uint32_t)__builtin_popcount(g.mask);
	ir_ref operands[1 + HIR_MAX_RANK] = {x};
	memcpy(operands + 1, indices, n * sizeof *indices);
	return ir_build_as(b, OP_GATHER, &g, operands, n + 1);
}

ir_ref ir_build_gather_dim(struct ir_builder *b, ir_ref x, ir_ref index, uint32_t axis)
{
	return ir_build_as(b, OP_GATHER_DIM, &(struct ir_axis){axis}, (ir_ref[]){x, index}, 2);
}

ir_ref ir_build_pad(struct ir_builder *b, ir_ref x, const dim *before, const dim *after, ir_ref value)
{
	struct hir_type t = *ir_type_of(b->f, x);
	dim zero = dim_const(b->f->dims, 0);
	bool none = true;
	for (uint32_t k = 0; k < t.rank; k++) {
		none = none && dim_eq(before[k], zero) && dim_eq(after[k], zero);
		t.dims[k] = dim_add(b->f->dims, t.dims[k], dim_add(b->f->dims, before[k], after[k]));
	}
	if (none)
		return x;
	ir_ref operands[2] = {x, value}, r = ir_build(b, OP_PAD, &t, operands, 2);
	struct ir_pad pad = {0};
	memcpy(pad.before, before, t.rank * sizeof *before);
	ir_set_pad(b->f, r, pad);
	return r;
}

ir_ref ir_build_windows(struct ir_builder *b, ir_ref x, const struct ir_window_axis *w, uint32_t n)
{
	struct hir_type t = *ir_type_of(b->f, x);
	struct ir_window a = {0};
	for (uint32_t k = 0; k < t.rank; k++)
		a.step[k] = 1;
	for (uint32_t k = 0; k < n; k++) {
		a.mask |= 1u << w[k].axis;
		t.dims[w[k].axis] = w[k].count;
		a.step[w[k].axis] = w[k].stride;
		a.step[t.rank] = w[k].dilation;
		t.dims[t.rank++] = w[k].kernel;
	}
	ir_ref r = ir_build(b, OP_WINDOW, &t, &x, 1);
	ir_set_window(b->f, r, a);
	return r;
}

ir_ref ir_build_along(struct ir_builder *b, ir_ref v, uint32_t axis, uint32_t rank)
{
	dim dims[HIR_MAX_RANK];
	for (uint32_t k = 0; k < rank; k++)
		dims[k] = k == axis ? ir_type_of(b->f, v)->dims[0] : dim_const(b->f->dims, 1);
	return ir_build_reshape(b, v, dims, rank);
}

ir_ref ir_build_take(struct ir_builder *b, ir_ref x, ir_ref index, uint32_t axis)
{
	struct hir_type t = *ir_type_of(b->f, x);
	t.dims[axis] = ir_type_of(b->f, index)->dims[0];
	return ir_build_gather_dim(b, x, ir_build_broadcast(b, ir_build_along(b, index, axis, t.rank), &t), axis);
}
