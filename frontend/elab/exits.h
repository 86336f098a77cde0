/* Exits of a function or loop under run-time conditions, as locals of type bool. */
#ifndef TRIB_FRONTEND_ELAB_EXITS_H
#define TRIB_FRONTEND_ELAB_EXITS_H
#include "frontend/elab/elab.h"

/* True if an exit before this point is known only at run time. *live: a bool scalar, true if none was taken. `skipped`: counts
 * `continue`, too. */
bool exit_is_conditional(struct elab *e, bool skipped, hir_ref *live);
/* In the side where `live` is true: no exit was taken. In the other: returns the flow of the exit. */
void exits_clear(struct elab *e, bool skipped);
enum flow exit_taken(struct elab *e, bool skipped);
/* Sets the local of the exit that code with this flow always takes. */
void exit_note(struct elab *e, enum flow flow, span at);
struct local *exit_local(struct elab *e, enum exit_kind w); /* NULL: not in a function or loop */
/* Declares the locals of the exits of a function or loop. */
void exits_declare(struct elab *e, enum exit_kind first, enum exit_kind last);
#endif
