/* Statements. */
#ifndef TRIB_FRONTEND_ELAB_STMT_H
#define TRIB_FRONTEND_ELAB_STMT_H
#include "frontend/elab/elab.h"

struct value eval_if(struct elab *e, node_id n, enum flow *flow);
#endif
