/* Rebuilds a function from its old instructions. */
#include "backend/ir/rewrite.h"
#include <string.h>
#include "backend/ir/tensor.h"
#include "base/arena.h"
#include "base/bug.h"

void rewrite_begin(struct rewrite *w, struct ir_fn *f)
{
	*w = (struct rewrite){.f = f, .old = *f};
	w->map = ARENA_ARRAY(f->unit, ir_ref, f->n_insts + 1);
	memset(w->map, 0xff, (f->n_insts + 1) * sizeof *w->map);
	f->insts = NULL;
	f->operands = NULL;
	f->n_insts = f->cap_insts = f->n_operands = f->cap_operands = 0;
}

ir_ref rewrite_copy(struct rewrite *w, ir_ref r)
{
	const struct ir_inst *i = ir_at(&w->old, r);
	ir_ref few[8], *operands = i->n_operands <= 8 ? few : ARENA_ARRAY(w->f->unit, ir_ref, i->n_operands);
	for (uint32_t k = 0; k < i->n_operands; k++)
		operands[k] = rewrite_operand(w, r, k);
	return w->map[r] = ir_copy(w->f, i, operands, i->n_operands);
}

void rewrite_end(struct rewrite *w)
{
	ir_ref *outputs = ARENA_ARRAY(w->f->unit, ir_ref, w->f->n_outputs + 1);
	for (uint32_t k = 0; k < w->f->n_outputs; k++) {
		outputs[k] = w->map[w->old.outputs[k]];
		BUG_ON(outputs[k] == IR_NONE);
	}
	w->f->outputs = outputs;
	ir_mark_build_time(w->f);
}

ir_ref ir_splat(const struct ir_fn *f, ir_ref r)
{
	while (ir_at(f, r)->op == OP_BROADCAST || ir_at(f, r)->op == OP_RESHAPE)
		r = ir_operand(f, r, 0);
	const struct ir_inst *i = ir_at(f, r);
	return i->op == OP_CONST && ir_type_count(f->dims, &i->type) == 1 ? r : IR_NONE;
}

bool ir_splat_value(const struct ir_fn *f, ir_ref r, double *v)
{
	ir_ref s = ir_splat(f, r);
	if (s == IR_NONE)
		return false;
	const struct ir_inst *i = ir_at(f, s);
	*v = dtype_class(i->type.elem) == DTC_FLOAT ? elem_float(i->type.elem, ir_data(i)->data, 0)
						    : (double)elem_int(i->type.elem, ir_data(i)->data, 0);
	return true;
}
