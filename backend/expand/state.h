/* Private to this folder: the functions that expand compound operations. */
#ifndef TRIB_BACKEND_EXPAND_STATE_H
#define TRIB_BACKEND_EXPAND_STATE_H
#include "backend/ir/build.h"

/* Emits what computes instruction i of operands x. Stores the value in results[0]; a quantisation stores its codes there and its scale in
 * results[1], because they share operations. */
enum { EXPAND_RESULTS = 2 };
typedef void expand_fn(struct ir_builder *b, const struct ir_inst *i, const ir_ref *x, ir_ref *results);
#define EXPAND(op, function) expand_fn expand_##function;
#include "backend/expand/expansions.def"
#undef EXPAND
#endif
