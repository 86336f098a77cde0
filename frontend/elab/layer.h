/* Module-form layers: a call makes an instance by running the layer's body. */
#ifndef TRIB_FRONTEND_ELAB_LAYER_H
#define TRIB_FRONTEND_ELAB_LAYER_H
#include "frontend/elab/elab.h"

struct value instantiate(struct elab *e, struct item *it, struct args *args, span at);
/* Checking: an instance with unknown arguments. */
struct instance *instantiate_generic(struct elab *e, struct item *it);
#endif
