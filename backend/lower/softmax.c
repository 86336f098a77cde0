/* Softmax and its logarithm. float16 and bfloat16 are computed in float32 and rounded once. */
#include "backend/lower/state.h"

ir_ref lower_softmax(struct lower *l, ir_ref x, uint32_t mask, bool log)
{
	return ir_build_as(l->b, OP_SOFTMAX, &(struct ir_softmax){mask, log}, &x, 1);
}

void lower_bi_softmax(struct lower *l, ir_ref *r)
{
	ir_ref x = ir_build_widen(l->b, lower_tensor(l, 0));
	r[0] = lower_softmax(l, x, lower_mask(l, 1, ir_type_of(l->f, x)->rank), false);
}

void lower_bi_log_softmax(struct lower *l, ir_ref *r)
{
	ir_ref x = ir_build_widen(l->b, lower_tensor(l, 0));
	r[0] = lower_softmax(l, x, lower_mask(l, 1, ir_type_of(l->f, x)->rank), true);
}
