/* Marks the instructions whose values are known when a library is built. */
#include "backend/ir/attributes.h"

/* True if all results have constant shapes. An IF or LOOP is evaluated at build time as a whole or not at all. */
static bool results_const(const struct hir_unit *u)
{
	if (!u->nodes) /* read from a text, which has no bodies */
		return false;
	for (uint32_t k = 0; k < u->n_outputs; k++)
		if (!ir_type_const(u->dims, hir_output_type(u, k)))
			return false;
	return true;
}

static bool known_at_build(const struct ir_fn *f, const struct ir_inst *i)
{
	if (i->op == OP_INPUT || ir_has_effect(i) || !ir_type_const(f->dims, &i->type) || !ir_attributes_const(f->dims, i))
		return false;
	if ((i->op == OP_IF || i->op == OP_LOOP) && !results_const(ir_call(i)->callee))
		return false;
	for (uint32_t k = 0; k < i->n_operands; k++)
		if (!f->insts[f->operands[i->operands + k]].build_time)
			return false;
	return true;
}

void ir_mark_build_time(struct ir_fn *f)
{
	for (uint32_t r = 0; r < f->n_insts; r++)
		f->insts[r].build_time = known_at_build(f, &f->insts[r]);
}

bool ir_build_time_is_marked(const struct ir_fn *f)
{
	for (uint32_t r = 0; r < f->n_insts; r++)
		if (f->insts[r].build_time != known_at_build(f, &f->insts[r]))
			return false;
	return true;
}

void ir_mark_in_build_fn(const struct ir_fn *f, bool fold, bool *in_build_fn)
{
	for (ir_ref r = 0; r < f->n_insts; r++) {
		const struct ir_inst *i = ir_at(f, r);
		bool at_build = i->op == OP_WEIGHT || i->op == OP_RANDOM || ir_layout_is_packed(i->layout) ||
				(fold && (ir_op_traits(i->op) & EXPENSIVE));
		for (uint32_t k = 0; k < i->n_operands; k++)
			at_build = at_build || in_build_fn[ir_operand(f, r, k)];
		in_build_fn[r] = at_build && i->build_time;
	}
}
