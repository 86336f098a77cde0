/* The current builder as a finished unit of the program. */
#ifndef TRIB_FRONTEND_ELAB_HIR_UNIT_H
#define TRIB_FRONTEND_ELAB_HIR_UNIT_H
#include "frontend/elab/elab.h"

/* Copies an array of n elements of type T into the front end's arena. */
#define COPY_ARRAY(to, from, n, T) ((to) = ARENA_ARRAY(e->em.f->arena, T, (n) + 1), (n) ? memcpy((to), (from), sizeof(T) * (n)) : NULL)

/* Copies the current builder into a unit and closes it. */
struct hir_unit *unit_finish(struct elab *e, const struct func *fn, hash128 identity, const char *name, struct value *result);
/* Copies the inputs, nodes and arguments of the current builder into u. */
void unit_copy_nodes(struct elab *e, struct hir_unit *u);
/* Applies the attributes of the definition (`@inline`, `@opt`) to its unit. */
void unit_attributes(struct hir_unit *u, const struct func *fn);
#endif
