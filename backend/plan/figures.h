/* What the passes of plans have cost and changed. */
#ifndef TRIB_BACKEND_PLAN_FIGURES_H
#define TRIB_BACKEND_PLAN_FIGURES_H
#include "backend/loops/loop_passes.h"
#include "backend/passes/passes.h"

struct plan_figures {
	struct pass_figures ir[PASS_COUNT], loops[LOOP_PASS_COUNT];
};
#endif
