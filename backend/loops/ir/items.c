#include "backend/loops/ir/items.h"

int64_t loops_items_of(const struct dims *d, const struct loop_nest *n, uint32_t outer, const struct loop_access *a)
{
	const bool reduces = n->n_parallel == outer;
	const uint32_t first = reduces ? n->n_parallel : outer, end = reduces ? (uint32_t)n->n_parallel + n->n_reduce : n->n_parallel;
	int64_t base, stride, extent, count = 1;
	if (first == end || (!reduces && n->n_reduce) || a->index != LOOP_NONE || !dim_is_const(d, a->base, &base) || base)
		return 0;
	for (uint32_t k = end; k-- > first;)
		if (!dim_is_const(d, a->stride[k], &stride) || stride != count || !dim_is_const(d, n->extent[k], &extent) || extent <= 0 ||
		    __builtin_mul_overflow(count, extent, &count))
			return 0;
	return count;
}
