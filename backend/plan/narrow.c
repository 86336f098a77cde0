/* Weights that are stored as 16-bit floats (passes/program/storage.c). */
#include "backend/ir/program.h"
#include "backend/ir/rewrite.h"
#include "backend/plan/split.h"

static bool is_narrow(const struct program_unit *u, const struct ir_fn *f)
{
	for (uint32_t k = 0; u && k < f->n_weights; k++)
		if (u->stored[k] != f->weights[k].elem)
			return true;
	return false;
}

void plan_narrow(const struct plan *p, struct ir_fn *f)
{
	const struct program_unit *u = ir_program_find(p->options.program, p->unit);
	struct rewrite w;
	if (!is_narrow(u, f))
		return;
	rewrite_begin(&w, f);
	for (ir_ref r = 0; r < w.old.n_insts; r++) {
		ir_ref v = rewrite_copy(&w, r);
		struct hir_type wide = ir_at(f, v)->type;
		if (ir_at(f, v)->op != OP_WEIGHT)
			continue;
		uint32_t number = ir_number(ir_at(f, v))->number;
		if (u->stored[number] == wide.elem)
			continue;
		ir_at(f, v)->type.elem = f->weights[number].elem = u->stored[number];
		w.map[r] = ir_emit(f, OP_CAST, &wide, &v, 1, ir_at(f, v)->origin);
	}
	rewrite_end(&w);
}
