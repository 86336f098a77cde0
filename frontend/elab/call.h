/* Calls: binds arguments to parameters, solves shapes, then calls a unit or runs the body in the current unit. */
#ifndef TRIB_FRONTEND_ELAB_CALL_H
#define TRIB_FRONTEND_ELAB_CALL_H
#include "frontend/elab/elab.h"

struct value call_value(struct elab *e, struct value callee, struct args *args, span at, const char *what);
#endif
