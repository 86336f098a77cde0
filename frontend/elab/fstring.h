/* f-strings. */
#ifndef TRIB_FRONTEND_ELAB_FSTRING_H
#define TRIB_FRONTEND_ELAB_FSTRING_H
#include "frontend/elab/elab.h"

struct value eval_fstring(struct elab *e, node_id n);
#endif
