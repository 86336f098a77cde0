#include "backend/loops/passes/tile.h"

bool tile_map_loops(struct dims *d, const struct loop_nest *n, const struct loop_access *tensor, struct tile_map *m)
{
	dim one = dim_const(d, 1), stride = one;
	uint32_t used = 0;
	m->n = 0;
	m->spans = false;
	for (uint32_t t = TILE_AXES; t-- > 0 && !m->spans;) {
		for (dim done = one; !dim_eq(done, m->size[t]) && !m->spans;) {
			uint32_t k = 0;
			while (k < n->n_parallel && ((used >> k & 1) || !dim_eq(tensor->stride[k], stride)))
				k++;
			if (k == n->n_parallel)
				return false;
			used |= 1u << k;
			m->spans = dim_eq(done, one) && !dim_eq(n->extent[k], m->size[t]) &&
				   dim_eq(n->extent[k], dim_product(d, m->size, t + 1));
			done = dim_mul(d, done, n->extent[k]);
			stride = dim_mul(d, stride, n->extent[k]);
			m->loop[m->n] = k;
			m->axis[m->n++] = t;
		}
	}
	return m->n == n->n_parallel;
}

bool tile_map_access(struct dims *d, const struct loop_nest *n, const struct tile_map *m, struct loop_access *a)
{
	dim zero = dim_const(d, 0), strides[TILE_AXES] = {zero, zero, zero}, next = zero;
	for (uint32_t i = 0; i < m->n; i++) {
		dim stride = a->stride[m->loop[i]];
		if (i == 0 || m->axis[i] != m->axis[i - 1])
			strides[m->axis[i]] = stride;
		else if (!dim_eq(stride, next))
			return false;
		next = dim_mul(d, stride, n->extent[m->loop[i]]);
	}
	for (uint32_t t = m->spans ? m->axis[m->n - 1] : 0; t-- > 0;)
		strides[t] = dim_mul(d, strides[t + 1], m->size[t + 1]);
	for (uint32_t k = 0; k < LOOP_MAX; k++)
		a->stride[k] = k < TILE_AXES ? strides[k] : zero;
	return true;
}

bool tile_is_plain(const struct loop_nest *n)
{
	for (uint32_t k = 0; k < n->n_exprs; k++)
		if (n->exprs[k].kind == LOOP_INDEX || n->exprs[k].kind == LOOP_CHECK)
			return false;
	return n->n_reduce == 0 && n->n_reductions == 0;
}
