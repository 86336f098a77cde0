/* Patterns and assignments. */
#ifndef TRIB_FRONTEND_ELAB_PATTERN_H
#define TRIB_FRONTEND_ELAB_PATTERN_H
#include "frontend/elab/elab.h"

/* Binds a pattern to a value, as new locals. */
void bind_pattern(struct elab *e, node_id pattern, struct value v, span at, bool constant);
void bind_name(struct elab *e, token_id name, struct value v, bool constant);
void exec_assign(struct elab *e, node_id n);
/* Reports a statement without a value where one is needed. */
struct value report_no_value(struct elab *e, node_id value);
#endif
