/* Lowers a unit of the HIR program to tensor IR: builtins become primitive operations, broadcasts and casts become explicit. */
#ifndef TRIB_BACKEND_LOWER_LOWER_H
#define TRIB_BACKEND_LOWER_LOWER_H

#include "frontend/hir/dim.h"

struct arena;
struct hir_unit;
struct diags;
struct ir_fn;

/* Returns the function in `unit`, or NULL after reporting errors into diags. u is only read, so threads may lower units that share
 * callees. INPUT numbers the unit's run-time inputs, WEIGHT its build-time inputs, each in order. */
struct ir_fn *lower_unit(struct arena *unit, const struct hir_unit *u, struct diags *diags);
/* The same with dims that the caller owns: a copy made by lower_dims if `syms` is NULL. Otherwise u is inlined: `dims` are those of its
 * caller, and syms[k] is the value of symbol k of u there. */
struct ir_fn *lower_into(struct arena *unit, const struct hir_unit *u, struct dims *dims, const dim *syms, struct diags *diags);
/* Returns a copy of the dims of u in which the names of symbols are unique and can be read from text. Handles of u's dims are valid in it. */
struct dims *lower_dims(struct arena *a, const struct hir_unit *u);
#endif
