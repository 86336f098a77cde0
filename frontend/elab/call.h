/* Calls: arguments to parameters, shapes by unification, then a unit, or the body run in place. */
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
/* True for `none` as an argument whose default is `none`: it has no type to match. */
static inline bool is_omitted(const struct ast *t, node_id param, struct value v)
{
	return v.kind == V_NONE && ast_b(t, param) && ast_kind(t, ast_b(t, param)) == NODE_NONE;
}
#endif
