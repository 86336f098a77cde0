/* Loops that the run counts: their body is a unit, the locals that it assigns to are carried from one iteration to the next. */
#ifndef TRIB_FRONTEND_ELAB_CARRIED_H
#define TRIB_FRONTEND_ELAB_CARRIED_H
#include "frontend/elab/branch.h"

struct carried_loop {
	const struct range *range; /* for; NULL: while */
	node_id cond;              /* while */
	node_id pattern;           /* for */
	node_id body;
	bool collects; /* the body is an expression, whose values the last local, a list, collects */
	span at;
};
/* Elaborates the loop into the current unit. The ways out of a loop are open. False: reported. */
bool carried_run(struct elab *e, const struct carried_loop *loop, enum flow *flow);

/* ---- what the text says (assigned.c) ---- */
/* Marks which of the frame's first n locals something below `root` assigns to. */
void carried_assigned(struct elab *e, node_id root, bool *assigned, uint32_t n);
/* Does the body hold a `break` or a `return`? */
bool carried_leaves(struct elab *e, node_id body);
/* Does the body add to a list by `append`? */
bool carried_grows(struct elab *e, node_id body);
/* Checking: what the body assigns to is no longer a number known at compile time. */
void carried_forget(struct elab *e, node_id body);
#endif
