/* Lowers a unit of the HIR program to tensor IR: builtins become primitive operations, broadcasts and casts become explicit. */
#ifndef TRIB_BACKEND_LOWER_LOWER_H
#define TRIB_BACKEND_LOWER_LOWER_H

struct arena;
struct hir_unit;
struct diags;
struct ir_fn;

/* Returns the function in `unit`, or NULL after reporting errors into diags. u is only read, so threads may lower units that share
 * callees. INPUT numbers the unit's run-time inputs, WEIGHT its build-time inputs, each in order. */
struct ir_fn *lower_unit(struct arena *unit, const struct hir_unit *u, struct diags *diags);
#endif
