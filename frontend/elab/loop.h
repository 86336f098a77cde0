/* Loops and comprehensions. */
#ifndef TRIB_FRONTEND_ELAB_LOOP_H
#define TRIB_FRONTEND_ELAB_LOOP_H
#include "frontend/elab/elab.h"

enum flow exec_for(struct elab *e, node_id n);
enum flow exec_while(struct elab *e, node_id n);
struct value eval_comprehension(struct elab *e, node_id n);
#endif
