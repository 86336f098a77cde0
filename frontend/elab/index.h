/* Indexing. */
#ifndef TRIB_FRONTEND_ELAB_INDEX_H
#define TRIB_FRONTEND_ELAB_INDEX_H
#include "frontend/elab/elab.h"

struct value eval_index(struct elab *e, node_id n);
#endif
