/* Binds the arguments of a call to parameters. */
#ifndef TRIB_FRONTEND_ELAB_ARGS_H
#define TRIB_FRONTEND_ELAB_ARGS_H
#include "frontend/elab/elab.h"

/* Orders arguments as the parameters are; bound[i] is NULL where the default applies. False: reported. */
bool bind_args(struct elab *e, struct module *mod, struct ast_nodes params, struct args *args, span at, const char *what,
	       struct arg **bound);
#endif
