/* Softmax and its logarithm. */
#include "backend/expand/state.h"

/* Subtracts the maximum along the dims, so that exp does not overflow. */
static ir_ref subtract_max(struct ir_builder *b, ir_ref x, uint32_t mask)
{
	return ir_build_op2(b, OP_SUB, x, ir_build_reduce(b, OP_REDUCE_MAX, x, mask, true));
}

void expand_softmax(struct ir_builder *b, const struct ir_inst *i, const ir_ref *x, ir_ref *results)
{
	const struct ir_softmax *a = ir_softmax(i);
	ir_ref away = subtract_max(b, x[0], a->mask), e = ir_build_op1(b, OP_EXP, away);
	ir_ref sum = ir_build_reduce(b, OP_REDUCE_SUM, e, a->mask, true);
	if (a->log)
		results[0] = ir_build_op2(b, OP_SUB, away, ir_build_op1(b, OP_LOG, sum));
	else /* a division for each sum in place of one for each element */
		results[0] =
			ir_build_op2(b, OP_MUL, e, ir_build_op2(b, OP_DIV, ir_build_const_float(b, ir_type_of(b->f, sum)->elem, 1), sum));
}
