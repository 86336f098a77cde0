/* What a statement costs at the least: bytes that it must move between memory and the core, operations of the network, and memory. */
#ifndef TRIB_BACKEND_LOOPS_IR_COST_H
#define TRIB_BACKEND_LOOPS_IR_COST_H
#include "backend/loops/ir/loops.h"

enum loop_cost { LOOP_BYTES, LOOP_OPERATIONS, LOOP_MEMORY, LOOP_COSTS };
/* Gets the terms of the sums: of each, the product of n dims, times `factor`, divided by `divisor`. */
typedef void loop_cost_fn(void *ctx, enum loop_cost what, int64_t factor, int64_t divisor, const dim *dims, uint32_t n);
/* Lists for each statement the temporaries of a function that live during it; those that share memory once. */
struct live_buffers {
	uint32_t *first, *end; /* of each statement: its places in `buffers` */
	uint32_t *buffers;
};
struct live_buffers loops_live_buffers(struct arena *a, const struct loop_fn *f);
/* Bytes: every buffer that the statement reads or writes counts once, at the size it is stored in; what a block keeps in its frame does not
 * count. Operations: a multiplication and an addition for each product, one for each other element-wise operation and step of a reduction.
 * Calls of units move and compute nothing themselves. Memory: the temporaries of f that live during the statement, in bytes. `live`: those of f. */
void loops_cost(const struct loop_fn *f, const struct live_buffers *live, uint32_t stmt, loop_cost_fn *term, void *ctx);
/* True if the statement has a term LOOP_OPERATIONS. */
bool loops_computes(const struct loop_stmt *s);
#endif
