/* Functions and types that are defined in a block. */
#ifndef TRIB_FRONTEND_ELAB_LOCAL_FN_H
#define TRIB_FRONTEND_ELAB_LOCAL_FN_H
#include "frontend/elab/elab.h"

/* Binds the function at the FN node. It captures the locals that its text names, with their values here, and runs in the unit of its caller. With captured
 * values it is a tuple: a V_PARTIAL, then these, since tuples may contain tensors. */
void exec_fn(struct elab *e, node_id n);
/* Binds the type at the ALIAS node. */
void exec_alias(struct elab *e, node_id n);
#endif
