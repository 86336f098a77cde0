/* Rules of builtins that are taken apart into others: short ways to call those. */
#ifndef TRIB_FRONTEND_RULES_COMPOSED_H
#define TRIB_FRONTEND_RULES_COMPOSED_H
#include "frontend/rules/builtin.h"

/* Builtin `bi` of n values, at the place of the call c; poison in, poison out. */
struct value composed_call(struct emitter *e, struct bcall *c, enum builtin bi, const struct value *v, size_t n);
#define COMPOSE(bi, ...) \
	composed_call(e, c, bi, (const struct value[]){__VA_ARGS__}, sizeof((const struct value[]){__VA_ARGS__}) / sizeof(struct value))
#define VALUE_NONE ((struct value){.kind = V_NONE})
/* Argument i as floats; poison: reported. */
struct value composed_floats(struct emitter *e, struct bcall *c, uint32_t i);
/* x summed to a norm along `axis` (none: all). */
struct value composed_norm(struct emitter *e, struct bcall *c, struct value x, struct value p, struct value axis, bool keep);
#endif
