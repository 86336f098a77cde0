/* Norms, for composed builtins. */
#ifndef TRIB_FRONTEND_RULES_COMPOSED_H
#define TRIB_FRONTEND_RULES_COMPOSED_H
#include "frontend/rules/builtin.h"

/* Returns the p-norm of x along `axis` (none: of all elements). */
struct value compose_norm(struct emitter *e, struct builtin_call *c, struct value x, struct value p, struct value axis, bool keep);
#endif
