/* Private to this folder: statements that become one. */
#ifndef TRIB_BACKEND_LOOPS_PASSES_MERGE_H
#define TRIB_BACKEND_LOOPS_PASSES_MERGE_H
struct arena;
struct loop_stmt;

/* Adds the values of b to those of a. */
void loops_merge_values(struct arena *unit, struct loop_stmt *a, const struct loop_stmt *b);
#endif
