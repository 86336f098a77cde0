/* Expands compound operations into primitive ones. */
#ifndef TRIB_BACKEND_EXPAND_EXPAND_H
#define TRIB_BACKEND_EXPAND_EXPAND_H
#include <stdbool.h>
#include "backend/ir/ir.h"

/* Returns true if instruction r stays as it is. */
typedef bool expand_except(const void *ctx, const struct ir_fn *f, ir_ref r);
/* Expands the compound operations of f, except those for which `except`, which may be NULL, returns true. Returns their number. */
uint32_t expand_compound(struct ir_fn *f, expand_except *except, const void *ctx);
#endif
