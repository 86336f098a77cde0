/* Elements that the work items of a group keep. The items of a group take the iterations of a nest in turn: those of its own parallel loops, or of the
 * reduction that they share. A buffer whose accesses all are to the element of the iteration is then one of SCOPE_ITEMS: item i of n has elements i, i+n, … */
#ifndef TRIB_BACKEND_LOOPS_IR_ITEMS_H
#define TRIB_BACKEND_LOOPS_IR_ITEMS_H
#include "backend/loops/ir/loops.h"

/* Returns the number of iterations that the items divide if the access of nest n, which has `outer` loops of blocks around it, is to the element of the
 * iteration, whatever the outer loops add; else 0. */
int64_t loops_items_of(const struct dims *d, const struct loop_nest *n, uint32_t outer, const struct loop_access *a);
/* True if items may keep elements of this type. */
static inline bool loops_items_keep(dtype t) { return t == DT_FLOAT32 || t == DT_INT32; }
#endif
