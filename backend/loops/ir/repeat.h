/* Blocks that work groups repeat. The launch of products of one operand (beside.h) may begin with the block that computes it, such as a norm and the
 * quantisation of its rows. If there is one row, each group of the launch executes the block for itself, with the results in the memory of the group, and the
 * first group stores them, too. A device is then spared a launch of a single group. If there are more rows, the block has its own launch. */
#ifndef TRIB_BACKEND_LOOPS_IR_REPEAT_H
#define TRIB_BACKEND_LOOPS_IR_REPEAT_H
#include "backend/loops/ir/loops.h"

/* Returns the first product of the launch of statement k: the one behind the block if the launch begins with a block. */
uint32_t loops_products_begin(const struct loop_fn *f, uint32_t k);
/* True if groups that compute a row of `product`, a statement, may repeat `block`, which is before it. */
bool loops_may_repeat(const struct loop_fn *f, uint32_t block, uint32_t product);
/* Marks the buffers that the block stores for other statements: results[k] of each buffer. */
void loops_mark_results(const struct loop_fn *f, const struct loop_stmt *block, bool *results);
/* Returns the bytes of a result if there is one row. */
int64_t loops_row_bytes(const struct loop_fn *f, uint32_t buffer);
#endif
