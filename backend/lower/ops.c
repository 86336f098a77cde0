/* Emits primitive operations with the broadcasts and casts that they need. */
#include <math.h>
#include <string.h>
#include "backend/ir/tensor.h"
#include "backend/lower/state.h"
#include "base/arena.h"
#include "base/bug.h"

const struct hir_type *lower_of(const struct lower *l, ir_ref r) { return &ir_at(l->f, r)->type; }
struct hir_type lower_scalar(dtype elem) { return (struct hir_type){.elem = elem}; }

ir_ref lower_emit(struct lower *l, enum ir_op op, const struct hir_type *t, const ir_ref *operands, uint32_t n)
{
	return ir_emit(l->f, op, t, operands, n, l->n ? l->n->at : SPAN_NONE);
}

static ir_ref constant(struct lower *l, dtype elem, dtype from, const void *v)
{
	struct hir_type t = lower_scalar(elem);
	void *data = arena_alloc(l->f->unit, 8, 8);
	elem_cast(elem, data, 0, from, v, 0);
	ir_ref r = lower_emit(l, OP_CONST, &t, NULL, 0);
	ir_set_data(l->f, r, (struct ir_data){data});
	return r;
}

ir_ref lower_const_float(struct lower *l, dtype elem, double v) { return constant(l, elem, DT_FLOAT64, &v); }
ir_ref lower_const_int(struct lower *l, dtype elem, int64_t v) { return constant(l, elem, DT_INT64, &v); }

ir_ref lower_cast(struct lower *l, ir_ref x, dtype elem)
{
	struct hir_type t = *lower_of(l, x);
	if (t.elem == elem)
		return x;
	t.elem = elem;
	return lower_emit(l, OP_CAST, &t, &x, 1);
}

ir_ref lower_widen(struct lower *l, ir_ref x)
{
	dtype e = lower_of(l, x)->elem;
	return e == DT_FLOAT16 || e == DT_BFLOAT16 ? lower_cast(l, x, DT_FLOAT32) : x;
}

ir_ref lower_broadcast(struct lower *l, ir_ref x, const struct hir_type *shape)
{
	struct hir_type t = *shape;
	t.elem = lower_of(l, x)->elem;
	return ir_type_same(&t, lower_of(l, x)) ? x : lower_emit(l, OP_BROADCAST, &t, &x, 1);
}

ir_ref lower_reshape(struct lower *l, ir_ref x, const dim *dims, uint32_t rank)
{
	struct hir_type t = {.elem = lower_of(l, x)->elem, .rank = (uint8_t)rank};
	for (uint32_t k = 0; k < rank; k++)
		t.dims[k] = dims[k];
	return ir_type_same(&t, lower_of(l, x)) ? x : lower_emit(l, OP_RESHAPE, &t, &x, 1);
}

ir_ref lower_flatten(struct lower *l, ir_ref x)
{
	const struct hir_type *t = lower_of(l, x);
	dim n = dim_product(l->f->dims, t->dims, t->rank);
	return lower_reshape(l, x, &n, 1);
}

ir_ref lower_permute(struct lower *l, ir_ref x, const int64_t *perm)
{
	const struct hir_type in = *lower_of(l, x);
	struct hir_type t = in;
	bool same = true;
	for (uint32_t k = 0; k < in.rank; k++) {
		t.dims[k] = in.dims[perm[k]];
		same = same && perm[k] == k;
	}
	if (same)
		return x;
	ir_ref r = lower_emit(l, OP_TRANSPOSE, &t, &x, 1);
	struct ir_perm attributes = {0};
	memcpy(attributes.perm, perm, in.rank * sizeof *perm);
	ir_set_perm(l->f, r, attributes);
	return r;
}

ir_ref lower_op1(struct lower *l, enum ir_op op, ir_ref x)
{
	struct hir_type t = *lower_of(l, x);
	return lower_emit(l, op, &t, &x, 1);
}

/* NumPy's rule. If two sizes are not known to be equal, the result has the constant one; other sizes are an error at run time. */
static struct hir_type common_shape(struct lower *l, const struct hir_type *a, const struct hir_type *b)
{
	struct hir_type t = a->rank >= b->rank ? *a : *b;
	const struct hir_type *low = a->rank >= b->rank ? b : a;
	for (uint32_t k = 0; k < low->rank; k++) {
		dim *have = &t.dims[t.rank - low->rank + k], other = low->dims[k];
		int64_t v;
		bool one = dim_is_const(l->f->dims, *have, &v) && v == 1;
		bool known = dim_is_const(l->f->dims, *have, NULL);
		if (one || (!known && dim_is_const(l->f->dims, other, &v) && v != 1))
			*have = other;
	}
	return t;
}

ir_ref lower_op2(struct lower *l, enum ir_op op, ir_ref a, ir_ref b)
{
	struct hir_type t = common_shape(l, lower_of(l, a), lower_of(l, b));
	ir_ref operands[2] = {lower_broadcast(l, a, &t), lower_broadcast(l, b, &t)};
	t.elem = op == OP_EQ || op == OP_NE || op == OP_LT || op == OP_LE ? DT_BOOL : lower_of(l, a)->elem;
	return lower_emit(l, op, &t, operands, 2);
}

ir_ref lower_op2c(struct lower *l, enum ir_op op, ir_ref a, double c)
{
	return lower_op2(l, op, a, lower_const_float(l, lower_of(l, a)->elem, c));
}

ir_ref lower_select(struct lower *l, ir_ref c, ir_ref a, ir_ref b)
{
	struct hir_type t = common_shape(l, lower_of(l, a), lower_of(l, b));
	t = common_shape(l, &t, lower_of(l, c));
	ir_ref operands[3] = {lower_broadcast(l, c, &t), lower_broadcast(l, a, &t), lower_broadcast(l, b, &t)};
	t.elem = lower_of(l, a)->elem;
	return lower_emit(l, OP_SELECT, &t, operands, 3);
}

ir_ref lower_reduce(struct lower *l, enum ir_op op, ir_ref x, uint32_t mask, bool keep)
{
	struct hir_type in = *lower_of(l, x), t = {.elem = op == OP_ARGMAX || op == OP_ARGMIN ? DT_INT64 : in.elem}, kept = in;
	for (uint32_t k = 0; k < in.rank; k++) {
		if (mask >> k & 1)
			kept.dims[k] = dim_const(l->f->dims, 1);
		else
			t.dims[t.rank++] = in.dims[k];
	}
	ir_ref r = x;
	if (mask || t.elem != in.elem) {
		r = lower_emit(l, op, &t, &x, 1);
		ir_set_axes(l->f, r, (struct ir_axes){mask});
	}
	return keep ? lower_reshape(l, r, kept.dims, kept.rank) : r;
}

ir_ref lower_extent(struct lower *l, dim d, dtype elem)
{
	int64_t v;
	if (dim_is_const(l->f->dims, d, &v))
		return lower_const_int(l, elem, v);
	struct hir_type t = lower_scalar(DT_INT64);
	ir_ref r = lower_emit(l, OP_DIM, &t, NULL, 0);
	ir_set_extent(l->f, r, (struct ir_extent){d});
	return lower_cast(l, r, elem);
}

ir_ref lower_count(struct lower *l, ir_ref x, uint32_t mask, dtype elem)
{
	const struct hir_type in = *lower_of(l, x);
	dim n = dim_const(l->f->dims, 1);
	for (uint32_t k = 0; k < in.rank; k++)
		if (mask >> k & 1)
			n = dim_mul(l->f->dims, n, in.dims[k]);
	return lower_extent(l, n, elem);
}

ir_ref lower_slice(struct lower *l, ir_ref x, uint32_t axis, dim start, int64_t step, dim size)
{
	struct hir_type t = *lower_of(l, x);
	t.dims[axis] = size;
	ir_ref r = lower_emit(l, OP_SLICE, &t, &x, 1);
	struct ir_slice s = {0};
	for (uint32_t k = 0; k < t.rank; k++) {
		s.start[k] = k == axis ? start : dim_const(l->f->dims, 0);
		s.step[k] = k == axis ? step : 1;
	}
	ir_set_slice(l->f, r, s);
	return r;
}

ir_ref lower_concat(struct lower *l, const ir_ref *parts, uint32_t n, uint32_t axis)
{
	struct hir_type t = *lower_of(l, parts[0]);
	for (uint32_t k = 1; k < n; k++)
		t.dims[axis] = dim_add(l->f->dims, t.dims[axis], lower_of(l, parts[k])->dims[axis]);
	ir_ref r = lower_emit(l, OP_CONCAT, &t, parts, n);
	ir_set_axis(l->f, r, (struct ir_axis){axis});
	return r;
}

ir_ref lower_gather_dim(struct lower *l, ir_ref x, ir_ref index, uint32_t axis)
{
	struct hir_type t = *lower_of(l, index);
	ir_ref operands[2] = {x, index};
	t.elem = lower_of(l, x)->elem;
	ir_ref r = lower_emit(l, OP_GATHER_DIM, &t, operands, 2);
	ir_set_axis(l->f, r, (struct ir_axis){axis});
	return r;
}

ir_ref lower_iota(struct lower *l, const struct hir_type *shape, dtype elem, uint32_t axis)
{
	struct hir_type t = *shape;
	t.elem = elem;
	ir_ref r = lower_emit(l, OP_IOTA, &t, NULL, 0);
	ir_set_axis(l->f, r, (struct ir_axis){axis});
	return r;
}

ir_ref lower_mean(struct lower *l, ir_ref x, uint32_t mask, bool keep)
{
	ir_ref sum = lower_reduce(l, OP_REDUCE_SUM, x, mask, keep);
	return lower_op2(l, OP_DIV, sum, lower_count(l, x, mask, lower_of(l, x)->elem));
}
