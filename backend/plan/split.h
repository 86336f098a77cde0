/* Private to this folder. */
#ifndef TRIB_BACKEND_PLAN_SPLIT_H
#define TRIB_BACKEND_PLAN_SPLIT_H
#include <stdbool.h>
#include "backend/plan/plan.h"

/* Fills build_fn, run_fn and slots of p, in the `unit` arena. Copies what it needs of `whole`, whose arena also serves as scratch.
 * `fold`: constants that are expensive to compute become slots, too. Returns false after reporting an error. */
bool plan_split(struct plan *p, struct arena *unit, const struct ir_fn *whole, bool fold, struct diags *diags);

/* ---- narrow.c ---- */

/* Lets f, the function of the plan's unit as it was lowered, read its weights as they are stored, and widen them. */
void plan_narrow(const struct plan *p, struct ir_fn *f);

/* ---- slot_value.c: Values whose slot has other contents. ---- */

/* Returns the 16-bit value that r widens to plain float32; IR_NONE: r is something else. */
ir_ref slot_narrow_value(const struct ir_fn *f, ir_ref r);
/* Returns the matrix whose panels are the elements of r, as the pass share writes it; IR_NONE: r is something else. */
ir_ref slot_matrix_of_panels(const struct ir_fn *f, ir_ref r);
#endif
