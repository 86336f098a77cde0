/* Tied parameters: parameters that layers share. */
#ifndef TRIB_FRONTEND_ELAB_TIED_H
#define TRIB_FRONTEND_ELAB_TIED_H
#include "frontend/elab/elab.h"

/* A parameter that the call of a layer gives to one of the layer's own, which is then this one. */
struct tied_param {
	struct arg arg;
	struct layer_param *param; /* NULL: the argument is none */
	bool used;
};

/* Moves the arguments that may be named as parameters of the layer to out->tied. `none` ties nothing. An argument that is named as a parameter that it
 * turns on, `bias=other.bias`, is there, too, and becomes a bool. */
void take_tied(struct elab *e, struct item *it, struct args *args, struct instance *out);
/* Reports what was given to a parameter that the instance, once it is made, does not have. what: "layer `Net`". */
void report_untied(struct elab *e, const struct instance *in, const char *what);
/* The parameter that `own` of the instance is tied to, else `own`. A type that differs is reported. */
struct layer_param *tie_param(struct elab *e, const struct instance *in, struct layer_param *own);
#endif
