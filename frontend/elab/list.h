/* Lists that grow: `xs.append(x)`, and what a run-time loop collects. */
#ifndef TRIB_FRONTEND_ELAB_LIST_H
#define TRIB_FRONTEND_ELAB_LIST_H
#include "frontend/elab/elab.h"

/* A call `xs.append(x)` or `xs.extend(ys)` of a local list: executed, *out is no value. False: it is something else. */
bool exec_append(struct elab *e, node_id call, struct value *out);
/* The local whose list the call grows; 0: none. */
name_id appended_list(struct elab *e, node_id call);
/* Reports a value that must not leave its function; true if there is one. */
bool report_stacked_escape(struct elab *e, struct value v, span at);
#endif
