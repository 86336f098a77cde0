/* Calls of units. */
#ifndef TRIB_FRONTEND_ELAB_UNIT_CALL_H
#define TRIB_FRONTEND_ELAB_UNIT_CALL_H
#include "frontend/elab/unit.h"

/* Calls a function as a unit, made if there is none for such arguments. */
struct value call_unit(struct elab *e, struct func *fn, struct value *values, uint32_t n, span at, const char *what);
void unit_plan_free(struct unit_spec *p);
#endif
