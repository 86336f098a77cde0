/* Checking: loops whose trip count is unknown. */
#ifndef TRIB_FRONTEND_ELAB_CHECK_LOOP_H
#define TRIB_FRONTEND_ELAB_CHECK_LOOP_H
#include "frontend/elab/elab.h"

struct unknown_loop {
	struct value list; /* what a `for` iterates over */
	node_id pattern;   /* AST_NONE: `while` */
	node_id body;
	bool at_run_time; /* the trip count is known only at run time */
	span at;
};
/* An element of a range, or of a list of unknown length. */
struct value unknown_element(struct elab *e, struct value list);
/* Executes the body, and leaves the locals with types that hold after any number of iterations. */
enum flow check_loop(struct elab *e, const struct unknown_loop *loop);
/* `break` and `continue`: the locals here may be those after the loop, or at the start of the next iteration. */
void note_loop_exit(struct elab *e);
#endif
