/* Loops that the run counts: their body is a unit, the locals that it assigns to are carried from one iteration to the next. */
#ifndef TRIB_FRONTEND_ELAB_RUNTIME_LOOP_H
#define TRIB_FRONTEND_ELAB_RUNTIME_LOOP_H
#include "frontend/elab/branch.h"

struct runtime_loop {
	const struct range *range; /* for; NULL: while */
	node_id cond;              /* while */
	node_id pattern;           /* for */
	node_id body;
	bool collects; /* the body is an expression, whose values the last local, a list, collects */
	span at;
};
/* Elaborates the loop into the current unit. The ways out of a loop are open. False: reported. */
bool emit_runtime_loop(struct elab *e, const struct runtime_loop *loop, enum flow *flow);

/* ---- what the text says (loop_scan.c) ---- */
/* Marks which of the frame's first n locals something below `root` assigns to. */
void find_assigned_locals(struct elab *e, node_id root, bool *assigned, uint32_t n);
/* Does the body hold a `break` or a `return`? */
bool has_early_exit(struct elab *e, node_id body);
/* Does the body add to a list by `append`? */
bool has_append(struct elab *e, node_id body);
/* Checking: what the body assigns to is no longer a number known at compile time. */
void forget_assigned_locals(struct elab *e, node_id body);
#endif
