/* Bodies: what a run-time branch or loop executes, under construction beside the unit around it. A body is a builder of its own, which shares the
 * sizes of the unit around it; tensors of that unit become its inputs where it uses them. In the end it is spliced into the unit around it, or made
 * a unit that a HIR_IF or HIR_LOOP names. */
#ifndef TRIB_FRONTEND_ELAB_BODY_H
#define TRIB_FRONTEND_ELAB_BODY_H
#include "frontend/elab/elab.h"

/* Opens a body inside the current builder, which it becomes. */
void body_open(struct elab *e, struct builder *b);
/* True inside a branch or loop that may not run. */
bool is_conditional(const struct elab *e);
/* The value of the unit around the current body, as the body sees it. */
struct value body_import_value(struct elab *e, struct value v);
/* The same for the current frame's locals, in place. */
void body_import_locals(struct elab *e);
/* The tensor of the unit around body b that `r` of b stands for. False: the body computes it. */
bool body_import_source(const struct builder *b, hir_ref r, hir_ref *outer);
/* Is everything in b free of effects, cheap, and sure to succeed whatever the values are? Adds its operations to *cost. */
bool body_is_cheap(struct elab *e, const struct builder *b, uint32_t *cost);
/* Copies what the n nodes at `refs` of b need into the current builder (`all`: everything), and turns refs into nodes of that. b is the body of the
 * current builder. */
void body_inline(struct elab *e, const struct builder *b, hir_ref *refs, uint32_t n, bool all);

/* What becomes of a body. */
struct body_unit {
	struct hir_unit *unit;
	hir_ref *captured; /* of the unit around it, one for each input after the first `n_given` */
	uint32_t n_captured;
};
/* The unit of body b, whose inputs are the n_given nodes of `given`, then what it captures. `what`: "branch" or "loop", for people. The body stays
 * open. */
struct body_unit body_unit(struct elab *e, struct builder *b, const hir_ref *given, uint32_t n_given, const hir_ref *outs, uint32_t n_outs,
			   const char *what, span at);
/* Appends the branch or loop; its results, one for each type, into `results`. */
void body_emit_if(struct elab *e, hir_ref cond, const struct body_unit *yes, const struct body_unit *no, hir_ref *results, span at);
void body_emit_loop(struct elab *e, hir_ref go, const hir_ref *carried, uint32_t n, const struct body_unit *body, hir_ref *results,
		    span at);
/* Zeros of a type, to stand for a value that nobody looks at. */
hir_ref emit_placeholder(struct elab *e, const struct hir_type *t, span at);
#endif
