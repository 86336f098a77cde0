/* The operators of expressions: evaluated on compile-time values, emitted as builtins otherwise. */
#ifndef TRIB_FRONTEND_RULES_OPERATORS_H
#define TRIB_FRONTEND_RULES_OPERATORS_H
#include "frontend/unit/emit.h"

/* a op b; sa and sb are the spans of the operands. Poison if it fails (reported). */
struct value apply_binary(struct emitter *e, enum token_kind op, struct value a, struct value b, span at, span sa, span sb);
struct value apply_unary(struct emitter *e, enum token_kind op, struct value v, span at);
/* a + b if one of them is a V_STACKED. */
struct value concat_stacked(struct emitter *e, struct value a, struct value b, span at);
/* Returns the operator of a builtin, "+", or its name. */
const char *builtin_text(enum builtin bi);
#endif
