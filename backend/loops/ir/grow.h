/* Memory that grows. A buffer that *grows* another one has its memory: it begins with the elements of that one, which stay as they are, and
 * the rows after them are new. Both are stored along the dim in which they differ, so the elements of the smaller one are a prefix.
 *
 * Buffers that grow each other are a chain; each is grown by one at most. If the first is an input, the last is an output: the caller passes the
 * same memory for both, with room for the output (passes/program/states.c). Otherwise all are temporaries, and the first has room for the last. */
#ifndef TRIB_BACKEND_LOOPS_IR_GROW_H
#define TRIB_BACKEND_LOOPS_IR_GROW_H
#include "backend/loops/ir/loops.h"

/* Returns the first buffer of the chain; k itself if it grows none. */
static inline uint32_t loops_root(const struct loop_fn *f, uint32_t k)
{
	while (f->buffers[k].grows != LOOP_NONE)
		k = f->buffers[k].grows;
	return k;
}
/* True if buffer k begins with the elements of `part`, or is it. */
bool loops_begins_with(const struct loop_fn *f, uint32_t k, uint32_t part);
/* Sets grown[k] for each buffer that another one grows. */
void loops_mark_grown(const struct loop_fn *f, bool *grown);
/* True if the type and layout of b allow it to grow a. */
bool loops_can_grow(const struct loop_fn *f, const struct loop_buffer *a, const struct loop_buffer *b);
#endif
