/* Assertions. */
#ifndef TRIB_FRONTEND_ELAB_ASSERT_H
#define TRIB_FRONTEND_ELAB_ASSERT_H
#include "frontend/elab/elab.h"

enum flow exec_assert(struct elab *e, node_id n);
/* Emits an assertion that `given` is the size of the dimension `name`. */
void assert_size(struct elab *e, const char *name, struct value given, struct value size, span at);
#endif
