/* Runs the bodies of functions. */
#ifndef TRIB_FRONTEND_ELAB_FUNCTION_H
#define TRIB_FRONTEND_ELAB_FUNCTION_H
#include "frontend/elab/elab.h"
#include "frontend/types/sig.h"

/* Runs a function's body in the current unit; `values` are its arguments. */
struct value run_body(struct elab *e, struct func *fn, const struct value *values, const span *ats, span at, const char *what);
/* True if the function is being run. */
bool is_recursive(struct elab *e, const struct func *fn);
/* Returns false. */
bool report_recursion(struct elab *e, const struct func *fn, span at);
/* Enters the frame of a call. False: it is recursive or nested too deeply (reported). */
bool enter_function(struct elab *e, const struct func *fn, struct frame *fr, span at, const char *what);
void leave_function(struct elab *e);
/* Runs the statements of the current frame's function, and returns its result as the declared type. */
struct value run_statements(struct elab *e, struct sig *s, const struct ast_fn *decl);
#endif
