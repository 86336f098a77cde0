/* The operators of expressions: computed at once on compile-time values, else emitted as builtins. */
#ifndef TRIB_FRONTEND_RULES_OPERATORS_H
#define TRIB_FRONTEND_RULES_OPERATORS_H
#include "frontend/unit/emit.h"

/* a op b; sa and sb are the spans of the operands. Poison if it fails (reported). */
struct value apply_binary(struct emitter *e, enum token_kind op, struct value a, struct value b, span at, span sa, span sb);
struct value apply_unary(struct emitter *e, enum token_kind op, struct value v, span at);
/* a + b, of which one is a V_STACKED. */
struct value concat_stacked(struct emitter *e, struct value a, struct value b, span at);
#endif
