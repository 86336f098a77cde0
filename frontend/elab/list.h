/* Lists that grow: by `xs.append(x)`, or in a run-time loop. */
#ifndef TRIB_FRONTEND_ELAB_LIST_H
#define TRIB_FRONTEND_ELAB_LIST_H
#include "frontend/elab/elab.h"

/* Executes `xs.append(x)` or `xs.extend(ys)` of a local list. False: the call is something else. */
bool exec_append(struct elab *e, node_id call, struct value *out);
/* The name of the list that a call appends to; 0: none. */
name_id appended_list(struct elab *e, node_id call);
/* True if a value contains a list of unknown length, which cannot leave its function (reported). */
bool report_stacked_escape(struct elab *e, struct value v, span at);
#endif
