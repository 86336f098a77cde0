/* Branches under a run-time condition. Both sides are elaborated, then merged: into selects if both are cheap and cannot fail, else into
 * a HIR_IF. Locals and exits that differ between the sides become values that depend on the condition. */
#ifndef TRIB_FRONTEND_ELAB_BRANCH_H
#define TRIB_FRONTEND_ELAB_BRANCH_H
#include "frontend/elab/body.h"

struct branch_side {
	struct builder b;
	struct local *locals; /* of the frame at the end of the side; their tensors are nodes of b */
	uint32_t n;           /* locals at the start of the branch */
	enum flow flow;
	struct value value;
	bool exited; /* an exit was taken before: `value` is not used */
};
/* Use: branch_open; branch_enter and branch_leave for each side; branch_merge. */
struct branch {
	struct elab *e;
	hir_ref cond; /* a bool scalar of the enclosing unit */
	span at;
	struct local *before;
	uint32_t n;
	uint32_t errors;
	struct branch_side sides[2]; /* if the condition is true; if it is false */
	bool value_wanted;           /* the values of the sides are merged */
};
void branch_open(struct elab *e, struct branch *br, hir_ref cond, span at);
void branch_enter(struct branch *br, uint32_t side);
/* Ends a side with a value and flow. It may be entered again. */
void branch_leave(struct branch *br, uint32_t side, struct value v, enum flow flow);
/* Merges and closes the sides. Sets the locals and *flow, and returns the merged value. */
struct value branch_merge(struct branch *br, enum flow *flow);

/* End a branch of which one side was entered: drop the side, or copy it into the enclosing unit as if there were no condition. */
void branch_discard(struct branch *br);
struct value branch_inline(struct branch *br);
#endif
