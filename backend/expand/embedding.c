/* An embedding takes rows of its table. */
#include "backend/expand/state.h"

void expand_embedding(struct ir_builder *b, const struct ir_inst *i, const ir_ref *x, ir_ref *results)
{
	results[0] = ir_build(b, OP_GATHER, &i->type, x, 2);
}
