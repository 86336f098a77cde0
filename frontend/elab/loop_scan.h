/* Scans the tree of a loop's body. */
#ifndef TRIB_FRONTEND_ELAB_LOOP_SCAN_H
#define TRIB_FRONTEND_ELAB_LOOP_SCAN_H
#include "frontend/elab/elab.h"

/* Marks those of the frame's first n locals that the tree below `root` assigns to. */
void find_assigned_locals(struct elab *e, node_id root, bool *assigned, uint32_t n);
/* True if the body contains a `break` or `return`. */
bool has_early_exit(struct elab *e, node_id body);
/* True if the body appends to a list. */
bool has_append(struct elab *e, node_id body);
/* Checking: makes the locals that the body assigns to unknown, unless they are tensors. */
void forget_assigned_locals(struct elab *e, node_id body);
#endif
