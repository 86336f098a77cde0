/* From a unit of the core program to tensor IR: builtins become primitive operations, broadcasts and casts explicit. */
#ifndef TRIB_BACKEND_LOWER_LOWER_H
#define TRIB_BACKEND_LOWER_LOWER_H

struct arena;
struct hir_unit;
struct diags;
struct ir_fn;

/* In `unit`'s arena, with a table of dims of its own: u is only read, so several threads may lower units that share callees. NULL: errors were
 * reported into diags. INPUT indices number the unit's run-time inputs, WEIGHT indices its build-time inputs, each in order. */
struct ir_fn *lower_unit(struct arena *unit, const struct hir_unit *u, struct diags *diags);
#endif
