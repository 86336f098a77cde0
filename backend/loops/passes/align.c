/* Gives nests the same outer loops, by splitting loops that were joined: rows that one nest has as a loop of N may be loops of B and N/B of
 * another, or the first part of a loop of N·K. */
#include "backend/loops/passes/block.h"

/* Stores big / small if it is a constant whole number. */
static bool align_ratio_of(struct dims *d, dim big, dim small, int64_t *ratio)
{
	int64_t a = dim_common_factor(d, big), b = dim_common_factor(d, small);
	if (b < 1 || a < b || a % b)
		return false;
	*ratio = a / b;
	return dim_eq(dim_mul(d, small, dim_const(d, *ratio)), big);
}

static void split_access(struct dims *d, struct loop_access *a, uint32_t loop, dim inner)
{
	dim stride = a->stride[loop];
	for (uint32_t k = LOOP_MAX - 1; k > loop + 1; k--)
		a->stride[k] = a->stride[k - 1];
	a->stride[loop + 1] = stride;
	a->stride[loop] = dim_mul(d, stride, inner);
}

static bool is_indexed(const struct loop_nest *n, uint32_t loop)
{
	for (uint32_t k = 0; k < n->n_exprs; k++)
		if (n->exprs[k].kind == LOOP_INDEX && n->exprs[k].var == loop)
			return true;
	return false;
}

/* Splits a parallel loop into `outer` iterations of `inner` ones. */
static bool align_split(struct dims *d, struct loop_nest *n, uint32_t loop, dim outer, dim inner)
{
	if (n->n_parallel + n->n_reduce == LOOP_MAX || is_indexed(n, loop))
		return false;
	for (uint32_t k = LOOP_MAX - 1; k > loop + 1; k--)
		n->extent[k] = n->extent[k - 1];
	n->extent[loop] = outer;
	n->extent[loop + 1] = inner;
	n->n_parallel++;
	for (uint32_t k = 0; k < n->n_exprs; k++)
		if (n->exprs[k].kind == LOOP_LOAD)
			split_access(d, &n->exprs[k].access, loop, inner);
		else if (n->exprs[k].kind == LOOP_INDEX && n->exprs[k].var > loop)
			n->exprs[k].var++;
	for (uint32_t k = 0; k < n->n_stores; k++)
		split_access(d, &n->stores[k].access, loop, inner);
	return true;
}

/* Splits loop `at` of the rows. */
static bool refine(struct rows *r, uint32_t at, dim outer, dim inner)
{
	if (r->n == LOOP_MAX)
		return false;
	for (uint32_t k = r->n++; k > at + 1; k--)
		r->extent[k] = r->extent[k - 1];
	r->extent[at] = outer;
	r->extent[at + 1] = inner;
	return true;
}

enum aligned loops_align(struct dims *d, struct loop_nest *n, struct rows *r)
{
	for (uint32_t k = 0; k < r->n; k++) {
		int64_t ratio;
		if (k >= n->n_parallel)
			return ALIGNED_NOT;
		if (dim_eq(n->extent[k], r->extent[k]))
			continue;
		if (align_ratio_of(d, r->extent[k], n->extent[k], &ratio))
			return refine(r, k, n->extent[k], dim_const(d, ratio)) ? ALIGNED_REFINED : ALIGNED_NOT;
		if (!align_ratio_of(d, n->extent[k], r->extent[k], &ratio) || !align_split(d, n, k, r->extent[k], dim_const(d, ratio)))
			return ALIGNED_NOT;
	}
	return ALIGNED;
}
