/* Initializers of parameters. */
#ifndef TRIB_FRONTEND_ELAB_INIT_H
#define TRIB_FRONTEND_ELAB_INIT_H
#include "frontend/elab/elab.h"

/* The unit that computes a parameter's initial value; NULL: it has none, or failed. */
struct hir_unit *param_init(struct elab *e, struct layer_param *p);
#endif
