/* Schedules for a processor with vectors: chooses the loop that is vectorised, its width and its unrolling. */
#include "backend/loops/build/build.h"
#include "backend/loops/schedule/choose.h"
#include "backend/passes/options.h"
#include "backend/target/target.h"

enum { OPENCL_LANES = 16 }; /* of the longest vector type */

struct vector_choice {
	uint32_t loop; /* LOOP_NONE: none */
	uint32_t width, unroll;
};
struct scheduler {
	const struct loop_fn *f;
	struct loop_nest *n;
	const struct plan_options *o;
};

static bool schedule_vector_is_known(const struct scheduler *s, dim x, int64_t *v) { return dim_is_const(s->f->dims, x, v); }

static bool is_expensive(enum ir_op op)
{
	return op == OP_EXP || op == OP_LOG || op == OP_TANH || op == OP_ERF || op == OP_SIN || op == OP_COS || op == OP_POW ||
	       op == OP_MOD || op == OP_FLOORDIV;
}

enum { ACCESS_SAME = 1, ACCESS_DENSE = 4, ACCESS_APART = 32 };

/* Returns the rough cost of an access if this loop is vectorised: all lanes access one element, or neighbours, or elements that are apart. */
static uint32_t access_cost(const struct scheduler *s, const struct loop_access *a, uint32_t loop)
{
	int64_t stride;
	if (!schedule_vector_is_known(s, a->stride[loop], &stride))
		return ACCESS_APART;
	return stride == 0 ? ACCESS_SAME : stride == 1 ? ACCESS_DENSE : ACCESS_APART;
}

static uint32_t body_cost(const struct scheduler *s, uint32_t loop)
{
	const struct loop_nest *n = s->n;
	uint32_t cost = 2;
	for (uint32_t k = 0; k < n->n_exprs; k++)
		if (n->exprs[k].kind == LOOP_LOAD)
			cost += access_cost(s, &n->exprs[k].access, loop);
		else
			cost += n->exprs[k].kind == LOOP_OP && is_expensive(n->exprs[k].op) ? 40 : 2;
	if (loop < n->n_parallel)
		for (uint32_t k = 0; k < n->n_stores; k++)
			cost += access_cost(s, &n->stores[k].access, loop) / (n->n_reduce ? 4 : 1);
	return cost;
}

static uint32_t lanes_for(const struct scheduler *s, dim extent, uint32_t most)
{
	int64_t v;
	uint32_t width = most;
	if (schedule_vector_is_known(s, extent, &v))
		while (width > 1 && (int64_t)width > v)
			width /= 2;
	return width;
}

/* The widest elements decide the number of lanes. int64 counts half, because most int64 are indices. */
static uint32_t most_lanes(const struct scheduler *s)
{
	uint32_t widest = 1;
	for (uint32_t k = 0; k < s->n->n_exprs; k++) {
		dtype t = s->n->exprs[k].elem;
		uint32_t size = t == DT_INT64 || t == DT_FLOAT16 || t == DT_BFLOAT16 ? 4 : (uint32_t)dtype_size(t);
		widest = size > widest ? size : widest;
	}
	uint32_t lanes = s->o->target->vector_bytes / widest;
	if (s->o->target->arch == ARCH_OPENCL && lanes > OPENCL_LANES)
		lanes = OPENCL_LANES;
	return lanes ? lanes : 1;
}

/* Vectors of the places of the largest elements are not printed in OpenCL C. */
static bool is_scalar(const struct scheduler *s)
{
	bool places = false;
	for (uint32_t k = 0; k < s->n->n_reductions; k++)
		places |= s->n->reductions[k].op == OP_ARGMAX || s->n->reductions[k].op == OP_ARGMIN;
	return places && s->o->target->arch == ARCH_OPENCL;
}

/* Returns the number of steps of a loop of n if the last step may overlap the one before. */
static int64_t steps(int64_t n, int64_t step) { return (n + step - 1) / step; }

static uint32_t choose_unroll(const struct scheduler *s, const struct vector_choice *c)
{
	const struct loop_nest *n = s->n;
	bool reduce = c->loop >= n->n_parallel;
	bool once = s->o->opt == 0 || s->o->size || (!reduce && s->o->target->arch == ARCH_OPENCL); /* a device's compiler unrolls */
	uint32_t heavy = 0, unroll = once ? 1 : s->o->target->max_unroll;
	for (uint32_t k = 0; k < n->n_exprs; k++)
		heavy += n->exprs[k].kind == LOOP_OP ? (is_expensive(n->exprs[k].op) ? 12 : 1) : 0;
	while (unroll > 1 && heavy * unroll > 24)
		unroll /= 2;
	int64_t v;
	if (!schedule_vector_is_known(s, n->extent[c->loop], &v))
		return unroll > 2 && !reduce && n->n_reduce == 0 ? 2 : unroll;
	while (unroll > 1 && (v < (int64_t)(unroll * c->width) || (!reduce && steps(v, unroll * c->width) * unroll > steps(v, c->width))))
		unroll /= 2;
	return unroll;
}

static struct vector_choice choose_vector(const struct scheduler *s)
{
	struct vector_choice c = {LOOP_NONE, 1, 1};
	uint32_t best = UINT32_MAX, most = is_scalar(s) ? 1 : most_lanes(s);
	for (uint32_t k = s->n->n_outer; k < (uint32_t)s->n->n_parallel + s->n->n_reduce; k++) {
		uint32_t lanes = lanes_for(s, s->n->extent[k], most);
		uint32_t cost = lanes == 1 ? UINT32_MAX : body_cost(s, k) * 64 / lanes;
		if (lanes == 1 || cost > best)
			continue;
		best = cost;
		c = (struct vector_choice){k, lanes, 1};
	}
	if (c.loop != LOOP_NONE)
		c.unroll = choose_unroll(s, &c);
	return c;
}

static enum loop_tail choose_tail(const struct scheduler *s, const struct vector_choice *c)
{
	dim extent = s->n->extent[c->loop];
	bool reduce = c->loop >= s->n->n_parallel;
	int64_t v, step = (int64_t)c->width * (reduce ? 1 : c->unroll);
	if (schedule_vector_is_known(s, extent, &v))
		return v % step ? TAIL_OVERLAP : TAIL_NONE;
	return !reduce && dim_common_factor(s->f->dims, extent) % step == 0 ? TAIL_NONE : TAIL_SCALAR;
}

static void add_vector(const struct scheduler *s, const struct vector_choice *c)
{
	struct loop_schedule *out = &s->n->schedule;
	int64_t v, step = (int64_t)c->width * c->unroll;
	bool whole = c->loop < s->n->n_parallel && schedule_vector_is_known(s, s->n->extent[c->loop], &v) && v == step;
	if (!whole)
		schedule_add(out, AXIS_SERIAL, c->loop, 1, step);
	if (c->unroll > 1)
		schedule_add(out, AXIS_UNROLL, c->loop, c->unroll, c->width);
	schedule_add(out, AXIS_VECTOR, c->loop, c->width, 1);
	out->tail = choose_tail(s, c);
}

/* Adds the loops `from` … `to`-1, the vectorised one last. */
static void add_loops(const struct scheduler *s, const struct vector_choice *c, uint32_t from, uint32_t to)
{
	for (uint32_t k = from; k < to; k++)
		if (k != c->loop)
			schedule_add(&s->n->schedule, AXIS_SERIAL, k, 1, 1);
	if (c->loop >= from && c->loop < to)
		add_vector(s, c);
}

void schedule_for_vectors(const struct loop_fn *f, struct loop_nest *n, const struct plan_options *o)
{
	struct scheduler s = {f, n, o};
	struct vector_choice c = choose_vector(&s);
	add_loops(&s, &c, n->n_outer, n->n_parallel);
	add_loops(&s, &c, n->n_parallel, (uint32_t)n->n_parallel + n->n_reduce);
}

uint32_t schedule_vector_loop(const struct loop_fn *f, struct loop_nest *n, const struct plan_options *o)
{
	return choose_vector(&(struct scheduler){f, n, o}).loop;
}

/* The columns of a tile are vectors, unless an epilogue stores where rows are dense in memory: a kernel computes positions × channels, and a
 * plain result has the positions of a channel together. Kernels transpose such tiles (tri_epilogue_by_columns). */
static uint32_t tile_vector(const struct scheduler *s)
{
	uint32_t rows = lanes_for(s, s->n->extent[TILE_ROW], most_lanes(s)),
		 columns = lanes_for(s, s->n->extent[TILE_COLUMN], most_lanes(s));
	return s->n->n_stores && rows >= columns && body_cost(s, TILE_ROW) + ACCESS_APART / 2 < body_cost(s, TILE_COLUMN) ? TILE_ROW
															  : TILE_COLUMN;
}

void schedule_for_tile(const struct loop_fn *f, struct loop_nest *n, const struct plan_options *o)
{
	struct scheduler s = {f, n, o};
	uint32_t vector = tile_vector(&s), lanes = lanes_for(&s, n->extent[vector], most_lanes(&s));
	for (uint32_t k = 0; k < TILE_AXES; k++)
		if (k != vector)
			schedule_add(&n->schedule, AXIS_SERIAL, k, 1, 1);
	schedule_add(&n->schedule, AXIS_SERIAL, vector, 1, lanes);
	if (lanes == 1)
		return;
	schedule_add(&n->schedule, AXIS_VECTOR, vector, lanes, 1);
	n->schedule.tail = TAIL_SCALAR; /* how large a tile is is known only at run time */
}
