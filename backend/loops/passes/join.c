/* Makes loops fewer and longer: removes loops of one iteration, and joins two loops if every access is linear over both. */
#include "backend/loops/build/build.h"

static dim zero_of(struct dims *d) { return dim_const(d, 0); }

/* Calls fn on every access of the nest. */
typedef void access_fn(struct dims *d, struct loop_access *a, uint32_t loop);
static void each_access(struct dims *d, struct loop_nest *n, access_fn *fn, uint32_t loop)
{
	for (uint32_t k = 0; k < n->n_exprs; k++)
		if (n->exprs[k].kind == LOOP_LOAD)
			fn(d, &n->exprs[k].access, loop);
	for (uint32_t k = 0; k < n->n_stores; k++)
		fn(d, &n->stores[k].access, loop);
}

static void access_drop(struct dims *d, struct loop_access *a, uint32_t loop)
{
	for (uint32_t k = loop; k + 1 < LOOP_MAX; k++)
		a->stride[k] = a->stride[k + 1];
	a->stride[LOOP_MAX - 1] = zero_of(d);
}

/* Removes loop `loop`, which no index expression uses. */
static void join_drop(struct dims *d, struct loop_nest *n, uint32_t loop)
{
	each_access(d, n, access_drop, loop);
	for (uint32_t k = 0; k < n->n_exprs; k++)
		if (n->exprs[k].kind == LOOP_INDEX && n->exprs[k].var > loop)
			n->exprs[k].var--;
	for (uint32_t k = loop; k + 1 < LOOP_MAX; k++)
		n->extent[k] = n->extent[k + 1];
	n->extent[LOOP_MAX - 1] = zero_of(d);
	if (loop < n->n_parallel)
		n->n_parallel--;
	else
		n->n_reduce--;
}

static bool has_index(const struct loop_nest *n, uint32_t loop)
{
	for (uint32_t k = 0; k < n->n_exprs; k++)
		if (n->exprs[k].kind == LOOP_INDEX && n->exprs[k].var == loop)
			return true;
	return false;
}

static void zero_index(struct loop_nest *n, uint32_t loop)
{
	for (uint32_t k = 0; k < n->n_exprs; k++)
		if (n->exprs[k].kind == LOOP_INDEX && n->exprs[k].var == loop)
			n->exprs[k].kind = LOOP_CONST;
}

static bool is_linear(struct dims *d, const struct loop_access *a, uint32_t outer, uint32_t inner, dim inner_extent)
{
	return dim_eq(a->stride[outer], dim_mul(d, a->stride[inner], inner_extent));
}

/* Iterations change their order unless `outer` is just before `inner`. Sums keep theirs, and so do checks of indices: the first error counts. */
static bool may_join(const struct loop_nest *n, uint32_t outer, uint32_t inner)
{
	if (has_index(n, outer) || has_index(n, inner) || (outer < n->n_parallel) != (inner < n->n_parallel))
		return false;
	if (outer + 1 == inner)
		return true;
	for (uint32_t k = 0; k < n->n_exprs; k++)
		if (n->exprs[k].kind == LOOP_CHECK)
			return false;
	return outer != inner && inner < n->n_parallel;
}

static bool join_can(struct dims *d, const struct loop_nest *n, uint32_t outer, uint32_t inner)
{
	dim extent = n->extent[inner];
	if (!may_join(n, outer, inner))
		return false;
	for (uint32_t k = 0; k < n->n_stores; k++)
		if (!is_linear(d, &n->stores[k].access, outer, inner, extent))
			return false;
	for (uint32_t k = 0; k < n->n_exprs; k++)
		if (n->exprs[k].kind == LOOP_LOAD && !is_linear(d, &n->exprs[k].access, outer, inner, extent))
			return false;
	return true;
}

/* Joins two loops; the adjacent ones first. */
static bool join_two(struct dims *d, struct loop_nest *n)
{
	uint32_t loops = n->n_parallel + n->n_reduce;
	for (uint32_t apart = 1; apart < 2 * loops; apart++)
		for (uint32_t inner = loops; inner-- > 0;) {
			uint32_t outer = apart < loops ? inner - apart : inner + apart - loops + 1;
			if (outer >= loops || !join_can(d, n, outer, inner))
				continue;
			n->extent[inner] = dim_mul(d, n->extent[outer], n->extent[inner]);
			join_drop(d, n, outer);
			return true;
		}
	return false;
}

/* Returns the number of loops that it removed. */
static uint32_t join_join(struct dims *d, struct loop_nest *n)
{
	uint32_t before = n->n_parallel + n->n_reduce;
	dim one = dim_const(d, 1);
	for (uint32_t k = n->n_parallel + n->n_reduce; k-- > 0;)
		if (dim_eq(n->extent[k], one)) {
			zero_index(n, k);
			join_drop(d, n, k);
		}
	while (join_two(d, n))
		continue;
	return before - (n->n_parallel + n->n_reduce);
}

uint32_t loop_pass_join(struct loop_fn *f, struct loop_pass_context *c)
{
	uint32_t removed = 0;
	for (uint32_t k = 0; k < f->n_stmts; k++)
		if (f->stmts[k].kind == STMT_NEST)
			removed += join_join(c->dims, &f->stmts[k].u.nest);
	return removed;
}
