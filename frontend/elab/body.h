/* Bodies of run-time branches and loops. A body is a builder inside the builder of the enclosing unit, and shares its sizes. Tensors of
 * the enclosing unit that it uses become its inputs. A finished body is copied into the enclosing unit, or becomes a unit that a HIR_IF
 * or HIR_LOOP calls. */
#ifndef TRIB_FRONTEND_ELAB_BODY_H
#define TRIB_FRONTEND_ELAB_BODY_H
#include "frontend/elab/elab.h"

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
#endif
