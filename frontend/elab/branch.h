/* The two sides of a run-time condition, elaborated one beside the other and merged: into selects where both are cheap and cannot fail, else into a
 * branch. What the sides leave different in the locals, and the ways out they take, become values that depend on the condition. */
#ifndef TRIB_FRONTEND_ELAB_BRANCH_H
#define TRIB_FRONTEND_ELAB_BRANCH_H
#include "frontend/elab/body.h"

struct branch_side {
	struct builder b;
	struct local *locals; /* of the frame, when it was left; tensors are those of b */
	uint32_t n;           /* locals there were when it was opened */
	enum flow flow;
	struct value value;
	bool gone; /* here a way out was taken before: the value means nothing */
};
/* A run-time condition on its way: open, then per side enter … leave, then merge. */
struct branch {
	struct elab *e;
	hir_ref cond; /* a bool scalar of the unit around */
	span at;
	struct local *before;
	uint32_t n;
	uint32_t errors;
	struct branch_side sides[2]; /* where the condition holds, where not */
	bool wanted;                 /* the sides' values are */
};
void branch_open(struct elab *e, struct branch *br, hir_ref cond, span at);
void branch_enter(struct branch *br, uint32_t side);
/* The side as it is now has this value and flow. It may be entered again. */
void branch_leave(struct branch *br, uint32_t side, struct value v, enum flow flow);
/* Joins the sides: the locals are what they left, *flow how it goes on. The value of both. Closes them. */
struct value branch_merge(struct branch *br, enum flow *flow);

/* Ends a branch of which one side alone was entered and left: as if it had not been, or as if it had been executed right here. */
void branch_discard(struct branch *br);
struct value branch_inline(struct branch *br);

/* ---- ways out, scalars (exits.c) ---- */
/* Is it only known at run time whether the code goes on here? Then the condition that it does into *live, a bool scalar. `in_loop`: SKIPPED counts. */
bool exit_is_conditional(struct elab *e, bool skipped, hir_ref *live);
/* Inside the side where `live` holds: no way out was taken. In the other: the flow that was. */
void exits_clear(struct elab *e, bool skipped);
enum flow exit_taken(struct elab *e, bool skipped);
/* Writes the way that a side surely takes where the merge finds it. */
void exit_note(struct elab *e, struct branch_side *s, span at);
struct local *exit_local(struct elab *e, enum exit_kind w); /* NULL: not in a function, not in a loop */
/* The ways out of a function or of a loop, as new locals. */
void exits_declare(struct elab *e, enum exit_kind first, enum exit_kind last);
#endif
