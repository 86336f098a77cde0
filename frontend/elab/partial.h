/* Functional layers called with only some of their arguments. */
#ifndef TRIB_FRONTEND_ELAB_PARTIAL_H
#define TRIB_FRONTEND_ELAB_PARTIAL_H
#include "frontend/elab/elab.h"

/* True if the call passes some of a functional layer's arguments, and no wrong ones. */
bool is_partial_call(struct elab *e, const struct func *fn, const struct args *args);
struct value partial_make(struct elab *e, struct func *fn, const struct args *args, span at);
/* All arguments of the second call: those of the first, and `args`. False: reported. */
bool partial_args(struct elab *e, struct value layer, const struct args *args, span at, struct args *all);
#endif
