#include "backend/plan/split.h"
#include "backend/runtime/f32_panels.h"

ir_ref slot_narrow_value(const struct ir_fn *f, ir_ref r)
{
	const struct ir_inst *i = ir_at(f, r);
	if (i->op != OP_CAST || i->type.elem != DT_FLOAT32 || i->layout != LAYOUT_PLAIN)
		return IR_NONE;
	dtype from = ir_at(f, ir_operand(f, r, 0))->type.elem;
	return from == DT_BFLOAT16 || from == DT_FLOAT16 ? ir_operand(f, r, 0) : IR_NONE;
}

/* True if `parts` cuts the columns of the matrix into panels. */
static bool is_cut(const struct ir_fn *f, ir_ref matrix, ir_ref parts)
{
	const struct hir_type *t = &ir_at(f, matrix)->type, *p = &ir_at(f, parts)->type;
	int64_t width;
	return ir_layout_fits(LAYOUT_PANELS, t) && ir_at(f, matrix)->layout == LAYOUT_PLAIN && dim_eq(t->dims[0], p->dims[0]) &&
	       dim_is_const(f->dims, p->dims[2], &width) && width == TRI_PANEL;
}

ir_ref slot_matrix_of_panels(const struct ir_fn *f, ir_ref r)
{
	if (ir_at(f, r)->op != OP_RESHAPE || ir_at(f, r)->type.rank != 1)
		return IR_NONE;
	const struct ir_inst *blocks = ir_at(f, ir_operand(f, r, 0));
	if (blocks->op != OP_TRANSPOSE || blocks->type.rank != 3 || ir_perm(blocks)->perm[0] != 1 || ir_perm(blocks)->perm[1] != 0)
		return IR_NONE;
	ir_ref parts = f->operands[blocks->operands];
	if (ir_at(f, parts)->op != OP_RESHAPE)
		return IR_NONE;
	ir_ref matrix = ir_operand(f, parts, 0);
	return is_cut(f, matrix, parts) ? matrix : IR_NONE;
}
