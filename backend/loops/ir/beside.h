/* Horizontal fusion: statements of a unit that a device executes in one launch, beside each other. Each does not need what another one of them writes, so
 * their order does not matter, and buffers that one of them uses are in use while all of them run. They are nests, or products of one operand. The launch of
 * products may begin with the block that computes this operand (repeat.h). */
#ifndef TRIB_BACKEND_LOOPS_IR_BESIDE_H
#define TRIB_BACKEND_LOOPS_IR_BESIDE_H
#include "backend/loops/ir/loops.h"

/* The launch of statement k: its first statement, and the one behind its last. Both are found in time that grows with the launch. */
uint32_t loops_launch_begin(const struct loop_fn *f, uint32_t k);
uint32_t loops_launch_end(const struct loop_fn *f, uint32_t k);
/* True if the statements are of kinds that may share a launch: nests whose work items share nothing, or micro-kernels that multiply the same rows. */
bool loops_are_alike(const struct loop_stmt *a, const struct loop_stmt *b);
/* True if the statement is a product of one row, or of a number of rows that only a run knows. */
bool loops_may_have_one_row(const struct loop_fn *f, const struct loop_stmt *s);
/* True if neither statement writes what the other one reads or writes. */
bool loops_are_independent(const struct loop_fn *f, const struct loop_stmt *a, const struct loop_stmt *b);
#endif
