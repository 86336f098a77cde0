/* Dead code elimination: keeps what an output or an effect needs. Unused inputs, weights and random numbers are removed, too. */
#include "backend/passes/passes.h"
#include "base/arena.h"

uint32_t pass_dce(struct ir_fn *f, struct pass_context *c)
{
	(void)c;
	bool *live = ARENA_ARRAY(f->unit, bool, f->n_insts + 1);
	uint32_t n_live = 0;
	for (uint32_t k = 0; k < f->n_outputs; k++)
		live[f->outputs[k]] = true;
	for (ir_ref r = f->n_insts; r-- > 0;) {
		live[r] = live[r] || ir_has_effect(ir_at(f, r));
		n_live += live[r];
		for (uint32_t k = 0; live[r] && k < ir_at(f, r)->n_operands; k++)
			live[ir_operand(f, r, k)] = true;
	}
	if (n_live == f->n_insts)
		return 0;
	struct rewrite w;
	rewrite_begin(&w, f);
	for (ir_ref r = 0; r < w.old.n_insts; r++)
		if (live[r])
			rewrite_copy(&w, r);
	rewrite_end(&w);
	return w.old.n_insts - n_live;
}
