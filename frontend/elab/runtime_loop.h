/* Loops at run time. The body becomes a unit. The locals that it assigns to are carried from one iteration to the next. */
#ifndef TRIB_FRONTEND_ELAB_RUNTIME_LOOP_H
#define TRIB_FRONTEND_ELAB_RUNTIME_LOOP_H
#include "frontend/elab/branch.h"

struct runtime_loop {
	const struct range *range; /* for; NULL: while */
	node_id cond;              /* while */
	node_id pattern;           /* for */
	node_id body;
	bool collects; /* the body is an expression; the last local is a list of its values */
	span at;
};
/* Emits the loop. The locals of a loop's exits are declared. False: reported. */
bool emit_runtime_loop(struct elab *e, const struct runtime_loop *loop, enum flow *flow);
#endif
