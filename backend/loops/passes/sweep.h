/* Removes expressions that nothing uses. */
#ifndef TRIB_BACKEND_LOOPS_PASSES_SWEEP_H
#define TRIB_BACKEND_LOOPS_PASSES_SWEEP_H
#include "backend/loops/ir/loops.h"

/* Checks of indices stay: they may fail. */
void loops_sweep(struct arena *unit, struct loop_nest *n);
#endif
