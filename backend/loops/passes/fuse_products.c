/* Lets sums take products that are not rounded: one instruction multiplies and adds. */
#include "backend/loops/loop_passes.h"
#include "backend/target/target.h"

static uint32_t fuse_products(struct loop_fn *f, struct loop_nest *n, const struct target *t)
{
	uint32_t changes = 0;
	(void)f;
	for (uint32_t k = 0; !t->group_size && k < n->n_reductions; k++)
		changes += n->reductions[k].fused = loop_may_fuse_product(n, &n->reductions[k]);
	return changes;
}

uint32_t loop_pass_fuse_products(struct loop_fn *f, struct loop_pass_context *c) { return loops_each_nest(f, c, fuse_products); }
