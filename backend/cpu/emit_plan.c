/* Chooses the loop of a nest that is vectorised, its width and its unrolling. */
#include "backend/cpu/emit.h"

bool dim_known(const struct emit *e, dim x, int64_t *v) { return dim_is_const(e->fn->dims, x, v); }

static bool expensive(enum ir_op op)
{
	return op == OP_EXP || op == OP_LOG || op == OP_TANH || op == OP_ERF || op == OP_SIN || op == OP_COS || op == OP_POW ||
	       op == OP_MOD || op == OP_FLOORDIV;
}

/* Returns the rough cost of an access if this loop is vectorised: 1 if all lanes read one element, 4 if they are dense, else 32. */
static uint32_t access_cost(const struct emit *e, const struct loop_access *a, uint32_t loop)
{
	int64_t stride;
	if (!dim_known(e, a->stride[loop], &stride))
		return 32;
	return stride == 0 ? 1 : stride == 1 ? 4 : 32;
}

static uint32_t body_cost(const struct emit *e, const struct loop_nest *n, uint32_t loop)
{
	uint32_t cost = 2;
	for (uint32_t k = 0; k < n->n_exprs; k++)
		if (n->exprs[k].kind == LOOP_LOAD)
			cost += access_cost(e, &n->exprs[k].access, loop);
		else
			cost += n->exprs[k].kind == LOOP_OP && expensive(n->exprs[k].op) ? 40 : 2;
	if (loop < n->n_parallel)
		for (uint32_t k = 0; k < n->n_stores; k++)
			cost += access_cost(e, &n->stores[k].access, loop) / (n->n_reduce ? 4 : 1);
	return cost;
}

static uint32_t lanes_for(const struct emit *e, dim extent, uint32_t most)
{
	int64_t v;
	uint32_t width = most;
	if (dim_known(e, extent, &v))
		while (width > 1 && (int64_t)width > v)
			width /= 2;
	return width;
}

/* The widest elements decide the number of lanes. int64 counts half, because most int64 are indices. */
static uint32_t most_lanes(const struct emit *e, const struct loop_nest *n)
{
	uint32_t widest = 1;
	for (uint32_t k = 0; k < n->n_exprs; k++) {
		dtype t = n->exprs[k].elem;
		uint32_t size = t == DT_INT64 || t == DT_FLOAT16 || t == DT_BFLOAT16 ? 4 : (uint32_t)dtype_size(t);
		widest = size > widest ? size : widest;
	}
	return e->target->vector_bytes / widest;
}

/* Returns the number of steps of a loop of n if the last step may overlap the one before. */
static int64_t steps(int64_t n, int64_t step) { return (n + step - 1) / step; }

static uint32_t unroll_for(const struct emit *e, const struct loop_nest *n, const struct nest_plan *p)
{
	uint32_t heavy = 0, unroll = e->target->opt == 0 || e->target->size ? 1 : UNROLL_MAX;
	for (uint32_t k = 0; k < n->n_exprs; k++)
		heavy += n->exprs[k].kind == LOOP_OP ? (expensive(n->exprs[k].op) ? 12 : 1) : 0;
	while (unroll > 1 && heavy * unroll > 24)
		unroll /= 2;
	int64_t v;
	if (p->vector_loop == LOOP_NONE)
		return 1;
	if (!dim_known(e, n->extent[p->vector_loop], &v))
		return unroll > 2 && !p->vector_reduce && n->n_reduce == 0 ? 2 : unroll;
	while (unroll > 1 &&
	       (v < (int64_t)(unroll * p->width) || (!p->vector_reduce && steps(v, unroll * p->width) * unroll > steps(v, p->width))))
		unroll /= 2;
	return unroll;
}

void nest_plan(const struct emit *e, const struct loop_nest *n, struct nest_plan *p)
{
	uint32_t best = UINT32_MAX, most = most_lanes(e, n), at = 0;
	*p = (struct nest_plan){.vector_loop = LOOP_NONE, .width = 1, .unroll = 1};
	for (uint32_t k = 0; k < (uint32_t)n->n_parallel + n->n_reduce; k++) {
		uint32_t lanes = lanes_for(e, n->extent[k], most);
		uint32_t cost = lanes == 1 ? UINT32_MAX : body_cost(e, n, k) * 64 / lanes;
		if (lanes == 1 || cost > best)
			continue;
		best = cost;
		p->vector_loop = k;
		p->width = lanes;
		p->vector_reduce = k >= n->n_parallel;
	}
	for (uint32_t k = 0; k < n->n_parallel; k++)
		if (k != p->vector_loop)
			p->order[at++] = k;
	if (p->vector_loop != LOOP_NONE && !p->vector_reduce)
		p->order[at++] = p->vector_loop;
	for (uint32_t k = n->n_parallel; k < (uint32_t)n->n_parallel + n->n_reduce; k++)
		if (k != p->vector_loop)
			p->order[at++] = k;
	if (p->vector_reduce)
		p->order[at++] = p->vector_loop;
	p->unroll = unroll_for(e, n, p);
}
