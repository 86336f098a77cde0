/* Tied parameters: parameters that layers share. */
#ifndef TRIB_FRONTEND_ELAB_TIED_H
#define TRIB_FRONTEND_ELAB_TIED_H
#include "frontend/elab/elab.h"

/* Moves the arguments that are named as parameters of the layer, and not as its arguments, to out->tied. `none` ties nothing. */
void take_tied(struct elab *e, struct item *it, struct args *args, struct instance *out);
/* The parameter that `own` of the instance is tied to, else `own`. A type that differs is reported. */
struct layer_param *tie_param(struct elab *e, const struct instance *in, struct layer_param *own);
#endif
