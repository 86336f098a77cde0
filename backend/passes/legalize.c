/* Expands compound operations, unless the target has a kernel for them. What is computed when the library is built is always expanded: the
 * values of weights do not depend on the target. */
#include "backend/expand/expand.h"
#include "backend/passes/passes.h"
#include "backend/kernels/kernel.h"

static bool is_legal(const void *target, const struct ir_fn *f, ir_ref r)
{
	return target && !ir_at(f, r)->build_time && target_takes(target, f, r, NULL);
}

uint32_t pass_legalize(struct ir_fn *f, struct pass_context *c) { return expand_compound(f, is_legal, c->target); }

bool pass_is_legal(const struct ir_fn *f, const struct target *t)
{
	for (ir_ref r = 0; r < f->n_insts; r++)
		if ((ir_op_traits(ir_at(f, r)->op) & COMPOUND) && !ir_at(f, r)->build_time && !is_legal(t, f, r))
			return false;
	return true;
}
