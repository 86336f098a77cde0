/* Memory that two temporaries share. `alias` of a temporary is one that dies in the statement that first writes it, and whose memory it takes:
 * the statement reads each old element only in the iteration that overwrites it, before it does. */
#ifndef TRIB_BACKEND_LOOPS_IR_IN_PLACE_H
#define TRIB_BACKEND_LOOPS_IR_IN_PLACE_H
#include "backend/loops/ir/grow.h"

/* True if statement s may write buffer `to` into the memory of buffer `from`. Lifetimes do not matter here. */
bool loops_can_overwrite(const struct loop_fn *f, const struct loop_stmt *s, uint32_t from, uint32_t to);
/* True if the schedule, if it is chosen, executes no iteration of the parallel loops twice. */
bool loops_executes_once(const struct loop_nest *n);
/* Returns the axis of the vectors, or NULL. */
const struct loop_axis *loops_vector_axis(const struct loop_nest *n);
/* Returns the buffer that has the memory of buffer k first. */
static inline uint32_t loops_owner(const struct loop_fn *f, uint32_t k)
{
	for (k = loops_root(f, k); f->buffers[k].alias != LOOP_NONE;)
		k = loops_root(f, f->buffers[k].alias);
	return k;
}
#endif
