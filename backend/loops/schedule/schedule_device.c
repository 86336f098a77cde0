/* Schedules for a device with work groups. Each iteration of the parallel loops is a work item, or a work group that shares a long
 * reduction. Float sums are computed in blocks, so the rounding error grows with the number of blocks and not of terms. */
#include "backend/loops/build/build.h"
#include "backend/loops/schedule/choose.h"
#include "backend/passes/options.h"
#include "backend/target/target.h"

enum {
	LANES = 4,
	MANY_VECTORS = 1 << 14,
	MANY_TERMS = 256,
	MANY_RESULTS = 1 << 16,
	SUM_BLOCK = 64,
	INCOMPLETE_GROUP = 1024,
	MANY_ITERATIONS = 1024,
	LARGE_GROUP = 256
};

/* Returns the product of the extents, or `unknown`. */
static int64_t iterations(const struct loop_fn *f, const dim *extents, uint32_t n, int64_t unknown)
{
	int64_t count = 1, v;
	for (uint32_t k = 0; k < n; k++)
		if (!dim_is_const(f->dims, extents[k], &v) || __builtin_mul_overflow(count, v, &count))
			return unknown;
	return count;
}

/* A long reduction to few results needs work items that share it, to keep a device busy. */
bool schedule_is_shared(const struct loop_fn *f, const struct loop_nest *n)
{
	for (uint32_t k = 0; k < n->n_reductions; k++)
		if (n->reductions[k].op == OP_ARGMAX || n->reductions[k].op == OP_ARGMIN)
			return false;
	return n->n_reductions && iterations(f, n->extent + n->n_parallel, n->n_reduce, 0) >= MANY_TERMS &&
	       iterations(f, n->extent, n->n_parallel, 0) <= MANY_RESULTS;
}

/* Returns the largest absolute element offset if all dims are constant and small, else a large number. */
static int64_t access_reach(const struct loop_fn *f, const struct loop_nest *n, const struct loop_access *a)
{
	int64_t reach, stride, extent;
	if (a->index != LOOP_NONE || !dim_is_const(f->dims, a->base, &reach))
		return INT64_MAX;
	reach = reach < 0 ? -reach : reach;
	for (uint32_t k = 0; k < (uint32_t)n->n_parallel + n->n_reduce; k++) {
		int64_t way;
		if (!dim_is_const(f->dims, a->stride[k], &stride) || !dim_is_const(f->dims, n->extent[k], &extent))
			return INT64_MAX;
		if (__builtin_mul_overflow(stride < 0 ? -stride : stride, extent, &way) || __builtin_add_overflow(reach, way, &reach))
			return INT64_MAX;
	}
	return reach;
}

/* Uses 32-bit indices if they suffice, because 64-bit division is slow on most devices. */
static uint32_t choose_index_bytes(const struct loop_fn *f, const struct loop_nest *n)
{
	int64_t count = INCOMPLETE_GROUP, v; /* the last work group may be incomplete */
	for (uint32_t k = 0; k < (uint32_t)n->n_parallel + n->n_reduce; k++)
		if (!dim_is_const(f->dims, n->extent[k], &v) || __builtin_mul_overflow(count, v > 0 ? v : 1, &count))
			return 8;
	if (count > INT32_MAX)
		return 8;
	for (uint32_t i = 0; i < n->n_exprs; i++)
		if (n->exprs[i].kind == LOOP_LOAD && access_reach(f, n, &n->exprs[i].access) > INT32_MAX)
			return 8;
	for (uint32_t i = 0; i < n->n_stores; i++)
		if (access_reach(f, n, &n->stores[i].access) > INT32_MAX)
			return 8;
	return 4;
}

/* True if a sum is long enough for blocks. */
static bool schedule_device_is_long(const struct loop_fn *f, const struct loop_nest *n)
{
	int64_t terms = 1, v;
	for (uint32_t i = 0; i < n->n_reduce; i++) {
		if (!dim_is_const(f->dims, n->extent[n->n_parallel + i], &v) || v > SUM_BLOCK)
			return true;
		terms *= v;
	}
	return terms > SUM_BLOCK;
}

void schedule_sum_blocks(const struct loop_fn *f, struct loop_nest *n)
{
	n->schedule.sum_block = schedule_device_is_long(f, n) ? SUM_BLOCK : 0;
}

/* True if lanes of the loop access one element, or neighbours that begin at a multiple of the lanes. */
static bool is_vector_access(const struct loop_fn *f, const struct loop_nest *n, const struct loop_access *a, uint32_t loop)
{
	int64_t v, stride;
	if (a->index != LOOP_NONE || !dim_is_const(f->dims, a->stride[loop], &stride))
		return false;
	if (stride == 0)
		return true;
	if (stride != 1 || f->buffers[a->buffer].type.elem == DT_FLOAT16 || dim_common_factor(f->dims, a->base) % LANES != 0)
		return false;
	for (uint32_t k = 0; k < n->n_parallel; k++)
		if (k != loop && (!dim_is_const(f->dims, a->stride[k], &v) || v % LANES != 0))
			return false;
	return true;
}

/* True if work items take vectors of the innermost loop: memory is read in whole words, and enough items are left. */
static bool takes_vectors(const struct loop_fn *f, const struct loop_nest *n)
{
	uint32_t loop = n->n_parallel - 1u;
	int64_t inner, all = 1, v;
	if (n->n_parallel == 0 || n->n_outer || n->n_reductions || !dim_is_const(f->dims, n->extent[loop], &inner) || inner % LANES != 0)
		return false;
	for (uint32_t k = 0; k < n->n_parallel; k++)
		if (dim_is_const(f->dims, n->extent[k], &v) && __builtin_mul_overflow(all, v, &all))
			all = INT64_MAX;
	for (uint32_t k = 0; k < n->n_exprs; k++)
		if (n->exprs[k].kind == LOOP_CHECK || n->exprs[k].elem == DT_FLOAT16 ||
		    (n->exprs[k].kind == LOOP_LOAD && !is_vector_access(f, n, &n->exprs[k].access, loop)))
			return false;
	for (uint32_t k = 0; k < n->n_stores; k++) {
		const struct loop_access *a = &n->stores[k].access;
		if (!dim_is_const(f->dims, a->stride[loop], &v) || v != 1 || !is_vector_access(f, n, a, loop))
			return false;
	}
	return all / LANES >= MANY_VECTORS;
}

/* The items of a group that shares the loops from `first` on. One row is often all there is, and the rest of the device waits for it. */
static uint32_t schedule_lanes_of(const struct loop_fn *f, const struct loop_nest *n, uint32_t first, uint32_t loops,
				  const struct plan_options *o)
{
	return iterations(f, n->extent + first, loops, 0) >= MANY_ITERATIONS ? LARGE_GROUP : o->target->group_size;
}

void schedule_for_device(const struct loop_fn *f, struct loop_nest *n, const struct plan_options *o)
{
	struct loop_schedule *s = &n->schedule;
	uint32_t items = schedule_lanes_of(f, n, n->n_outer, (uint32_t)n->n_parallel - n->n_outer, o),
		 lanes = schedule_lanes_of(f, n, n->n_parallel, n->n_reduce, o);
	bool shared = schedule_is_shared(f, n), vectors = takes_vectors(f, n);
	for (uint32_t k = n->n_outer; k < n->n_parallel; k++)
		if (n->n_outer) /* the group has the iteration of the block, its work items those of the nest */
			schedule_add(s, AXIS_LANE, k, items, 1);
		else
			schedule_add(s, shared ? AXIS_GROUP : AXIS_PARALLEL, k, 1, vectors && k + 1u == n->n_parallel ? LANES : 1);
	if (vectors)
		schedule_add(s, AXIS_VECTOR, n->n_parallel - 1u, LANES, 1);
	for (uint32_t k = n->n_parallel; k < (uint32_t)n->n_parallel + n->n_reduce; k++)
		schedule_add(s, shared ? AXIS_LANE : AXIS_SERIAL, k, shared ? lanes : 1, 1);
	s->index_bytes = choose_index_bytes(f, n);
	schedule_sum_blocks(f, n);
}
