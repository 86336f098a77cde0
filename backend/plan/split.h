/* Private to plan*.c. */
#ifndef TRIB_BACKEND_PLAN_SPLIT_H
#define TRIB_BACKEND_PLAN_SPLIT_H
#include <stdbool.h>
#include "backend/plan/plan.h"

/* Fills slice, run and slots of p, in the `unit` arena, from the whole function, whose arena is scratch: nothing of it is needed afterwards. `fold`: constants
 * that are dear to compute become slots too. False: reported. */
bool plan_split(struct plan *p, struct arena *unit, const struct ir_fn *whole, bool fold, struct diags *diags);
#endif
