/* Branches under a run-time condition. Both sides are elaborated, then merged: into selects if both are cheap and cannot fail, else into
 * a HIR_IF. Locals and exits that differ between the sides become values that depend on the condition. */
#ifndef TRIB_FRONTEND_ELAB_BRANCH_H
#define TRIB_FRONTEND_ELAB_BRANCH_H
#include "frontend/elab/elab.h"

/* Bodies of run-time branches and loops. A body is a builder inside the builder of the enclosing unit, and shares its sizes. Tensors of
 * the enclosing unit that it uses become its inputs. A finished body is copied into the enclosing unit, or becomes a unit that a HIR_IF
 * or HIR_LOOP calls. */
/* Opens a body inside the current builder, and makes it the current one. */
void body_open(struct elab *e, struct builder *b);
/* True inside a branch or loop that may not run. */
bool is_conditional(const struct elab *e);
/* The current body's copy of a value of the enclosing unit. */
struct value body_import_value(struct elab *e, struct value v);
/* Imports the locals of the current frame. */
void body_import_locals(struct elab *e);
/* The tensor of the enclosing unit that node r of body b was imported from. False: the body computes r. */
bool body_import_source(const struct builder *b, hir_ref r, hir_ref *outer);
/* True if all nodes of b are cheap, without effects, and cannot fail. Adds their cost to *cost. */
bool body_is_cheap(struct elab *e, const struct builder *b, uint32_t *cost);
/* Copies the n nodes `refs` of body b, and all that they need, into the enclosing builder, which is the current one. `all`: copies every
 * node. Replaces `refs` by the copies. */
void body_inline(struct elab *e, const struct builder *b, hir_ref *refs, uint32_t n, bool all);

/* A body as a unit. */
struct body_unit {
	struct hir_unit *unit;
	hir_ref *captured; /* nodes of the enclosing unit: one for each input after the given ones */
	uint32_t n_captured;
};
/* A body's interface: its first inputs, its outputs, and a name for people. */
struct body_spec {
	const hir_ref *inputs; /* nodes of the body: its first inputs; captured tensors follow */
	uint32_t n_inputs;
	const hir_ref *outputs;
	uint32_t n_outputs;
	const char *what; /* "branch if true", "loop" */
	span at;
};
/* Makes a unit of body b, which stays open. */
struct body_unit body_unit(struct elab *e, struct builder *b, const struct body_spec *spec);
/* Emit a HIR_IF or HIR_LOOP, and store its results. */
void body_emit_if(struct elab *e, hir_ref cond, const struct body_unit *yes, const struct body_unit *no, hir_ref *results, span at);
void body_emit_loop(struct elab *e, hir_ref go, const hir_ref *carried, uint32_t n, const struct body_unit *body, hir_ref *results,
		    span at);
/* Zeros of a type, in place of a value that is never read. */
hir_ref emit_placeholder(struct elab *e, const struct hir_type *t, span at);

/* ---- exits of a function or loop under run-time conditions, as locals of type bool ---- */
/* True if an exit before this point is known only at run time. *live: a bool scalar, true if none was taken. `skipped`: counts
 * `continue`, too. */
bool exit_is_conditional(struct elab *e, bool skipped, hir_ref *live);
/* In the side where `live` is true: no exit was taken. In the other: returns the flow of the exit. */
void exits_clear(struct elab *e, bool skipped);
enum flow exit_taken(struct elab *e, bool skipped);
/* Sets the local of the exit that code with this flow always takes. */
void exit_note(struct elab *e, enum flow flow, span at);
struct local *exit_local(struct elab *e, enum exit_kind w); /* NULL: not in a function or loop */
/* Declares the locals of the exits of a function or loop. */
void exits_declare(struct elab *e, enum exit_kind first, enum exit_kind last);

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
