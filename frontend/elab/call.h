/* Calls: binds arguments to parameters, solves shapes, then calls a unit or runs the body in the current unit. */
#ifndef TRIB_FRONTEND_ELAB_CALL_H
#define TRIB_FRONTEND_ELAB_CALL_H
#include "frontend/elab/elab.h"

struct value call_value(struct elab *e, struct value callee, struct args *args, span at, const char *what);
/* Runs a function's body in the current unit; `values` are its arguments. */
struct value run_body(struct elab *e, struct func *fn, const struct value *values, const span *ats, span at, const char *what);
/* Checks a function's body with unknown arguments of the declared types. */
void check_func(struct elab *e, struct func *fn);
/* Orders arguments as the parameters are; bound[i] is NULL where the default applies. False: reported (args.c). */
bool bind_args(struct elab *e, struct module *mod, struct ast_nodes params, struct args *args, span at, const char *what,
	       struct arg **bound);
#endif
