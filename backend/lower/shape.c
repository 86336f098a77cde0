/* Builtins that move elements. The front end computed the result shapes. */
#include "backend/lower/state.h"
#include "base/arena.h"

void lower_bi_identity(struct lower *l, ir_ref *r) { r[0] = lower_tensor(l, 0); }

void lower_bi_reshape(struct lower *l, ir_ref *r)
{
	struct hir_type t = lower_node_type(l);
	r[0] = ir_build_reshape(l->b, lower_tensor(l, 0), t.dims, t.rank);
}

void lower_bi_transpose(struct lower *l, ir_ref *r)
{
	ir_ref x = lower_tensor(l, 0);
	int64_t perm[HIR_MAX_RANK], a = lower_int(l, 1), b = lower_int(l, 2);
	for (uint32_t k = 0; k < HIR_MAX_RANK; k++)
		perm[k] = k;
	perm[a] = b;
	perm[b] = a;
	r[0] = ir_build_permute(l->b, x, perm);
}

void lower_bi_permute(struct lower *l, ir_ref *r)
{
	const struct hir_arg *items = NULL;
	int64_t perm[HIR_MAX_RANK];
	uint32_t n = lower_list(l, 1, &items);
	for (uint32_t k = 0; k < n; k++)
		perm[k] = items[k].u.i;
	r[0] = ir_build_permute(l->b, lower_tensor(l, 0), perm);
}

void lower_bi_concat(struct lower *l, ir_ref *r)
{
	const struct hir_arg *items = NULL;
	uint32_t n = lower_list(l, 0, &items);
	struct hir_type t = lower_node_type(l);
	ir_ref *parts = ARENA_ARRAY(l->f->unit, ir_ref, n + 1);
	for (uint32_t k = 0; k < n; k++)
		parts[k] = ir_build_cast(l->b, l->values[items[k].u.tensor][0], t.elem);
	r[0] = ir_build_concat(l->b, parts, n, (uint32_t)lower_int(l, 1));
}

void lower_bi_expand(struct lower *l, ir_ref *r)
{
	struct hir_type t = lower_node_type(l);
	r[0] = ir_build_broadcast(l->b, lower_tensor(l, 0), &t);
}

/* Repeats dimension k: broadcasts [before, 1, rest] to [before, times, rest]. */
static ir_ref repeat_dim(struct lower *l, ir_ref x, uint32_t k, dim times)
{
	struct hir_type t = *ir_type_of(l->f, x);
	dim one = dim_const(l->f->dims, 1);
	dim split[3] = {dim_product(l->f->dims, t.dims, k), one, dim_product(l->f->dims, t.dims + k, t.rank - k)};
	struct hir_type wide = {.elem = t.elem, .rank = 3, .dims = {split[0], times, split[2]}};
	x = ir_build_broadcast(l->b, ir_build_reshape(l->b, x, split, 3), &wide);
	t.dims[k] = dim_mul(l->f->dims, t.dims[k], times);
	return ir_build_reshape(l->b, x, t.dims, t.rank);
}

void lower_bi_repeat(struct lower *l, ir_ref *r)
{
	ir_ref x = lower_tensor(l, 0);
	struct hir_type in = *ir_type_of(l->f, x), t = lower_node_type(l);
	const struct hir_arg *items = NULL;
	uint32_t n = lower_list(l, 1, &items), added = t.rank - in.rank;
	for (uint32_t k = 0; k < t.rank; k++)
		t.dims[k] = k < added ? dim_const(l->f->dims, 1) : in.dims[k - added];
	x = ir_build_reshape(l->b, x, t.dims, t.rank);
	for (uint32_t k = 0; k < n && k < t.rank; k++) {
		dim times = items[k].kind == ARG_DIM ? lower_translate(l, items[k].u.d) : dim_const(l->f->dims, items[k].u.i);
		if (!dim_eq(times, dim_const(l->f->dims, 1)))
			x = repeat_dim(l, x, k, times);
	}
	r[0] = x;
}

void lower_bi_slice(struct lower *l, ir_ref *r)
{
	uint32_t axis = (uint32_t)lower_int(l, 1);
	r[0] = ir_build_slice(l->b, lower_tensor(l, 0), axis, lower_dim(l, 2), lower_int(l, 4), lower_node_type(l).dims[axis]);
}

void lower_bi_select(struct lower *l, ir_ref *r)
{
	struct hir_type t = lower_node_type(l);
	ir_ref x = ir_build_slice(l->b, lower_tensor(l, 0), (uint32_t)lower_int(l, 1), lower_dim(l, 2), 1, dim_const(l->f->dims, 1));
	r[0] = ir_build_reshape(l->b, x, t.dims, t.rank);
}
