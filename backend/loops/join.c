/* Makes loops fewer and longer: removes loops of one iteration, and joins two adjacent loops if every access is linear over both. */
#include "backend/loops/build.h"

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
static void drop(struct dims *d, struct loop_nest *n, uint32_t loop)
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

static bool can_join_access(struct dims *d, const struct loop_access *a, uint32_t outer, dim inner_extent)
{
	return dim_eq(a->stride[outer], dim_mul(d, a->stride[outer + 1], inner_extent));
}

static bool can_join(struct dims *d, const struct loop_nest *n, uint32_t outer)
{
	dim inner = n->extent[outer + 1];
	if (outer + 1 == n->n_parallel || has_index(n, outer) || has_index(n, outer + 1))
		return false;
	for (uint32_t k = 0; k < n->n_exprs; k++)
		if (n->exprs[k].kind == LOOP_LOAD && !can_join_access(d, &n->exprs[k].access, outer, inner))
			return false;
	for (uint32_t k = 0; k < n->n_stores; k++)
		if (!can_join_access(d, &n->stores[k].access, outer, inner))
			return false;
	return true;
}

/* Returns the number of loops that it removed. */
static uint32_t join(struct dims *d, struct loop_nest *n)
{
	uint32_t before = n->n_parallel + n->n_reduce;
	dim one = dim_const(d, 1);
	for (uint32_t k = n->n_parallel + n->n_reduce; k-- > 0;)
		if (dim_eq(n->extent[k], one)) {
			zero_index(n, k);
			drop(d, n, k);
		}
	for (uint32_t k = n->n_parallel + n->n_reduce; k-- > 1;) {
		if (!can_join(d, n, k - 1))
			continue;
		n->extent[k] = dim_mul(d, n->extent[k - 1], n->extent[k]);
		drop(d, n, k - 1);
	}
	return before - (n->n_parallel + n->n_reduce);
}

uint32_t loop_pass_join(struct loop_fn *f, struct loop_pass_context *c)
{
	uint32_t removed = 0;
	for (uint32_t k = 0; k < f->n_stmts; k++)
		if (f->stmts[k].kind == STMT_NEST)
			removed += join(c->dims, &f->stmts[k].u.nest);
	return removed;
}
