/* Matrix products. */
#include "backend/lower/state.h"

void lower_bi_matmul(struct lower *l, ir_ref *r) { r[0] = ir_build_matmul(l->b, lower_tensor(l, 0), lower_tensor(l, 1), l->n->type.elem); }
