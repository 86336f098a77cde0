/* Statements, loops, patterns, assertions. */
#ifndef TRIB_FRONTEND_ELAB_STMT_H
#define TRIB_FRONTEND_ELAB_STMT_H
#include "frontend/elab/elab.h"

/* ---- statements ---- */
struct value eval_if(struct elab *e, node_id n, enum flow *flow);

/* ---- loops and comprehensions ---- */
enum flow exec_for(struct elab *e, node_id n);
enum flow exec_while(struct elab *e, node_id n);
struct value eval_comprehension(struct elab *e, node_id n);

/* ---- scans the tree of a loop's body ---- */
/* Marks those of the frame's first n locals that the tree below `root` assigns to. */
void find_assigned_locals(struct elab *e, node_id root, bool *assigned, uint32_t n);
/* True if the body contains a `break` or `return`. */
bool has_early_exit(struct elab *e, node_id body);
/* True if the body appends to a list. */
bool has_append(struct elab *e, node_id body);
/* Checking: makes the locals that the body assigns to unknown, unless they are tensors. */
void forget_assigned_locals(struct elab *e, node_id body);

/* ---- patterns and assignments ---- */
/* Binds a pattern to a value, as new locals. */
void bind_pattern(struct elab *e, node_id pattern, struct value v, span at, bool constant);
void bind_name(struct elab *e, token_id name, struct value v, bool constant);
/* Executes an ASSIGN. Returns the assigned value. */
struct value exec_assign(struct elab *e, node_id n);
/* Reports a statement without a value where one is needed. */
struct value report_no_value(struct elab *e, node_id value);

/* ---- assertions ---- */
enum flow exec_assert(struct elab *e, node_id n);
/* Emits an assertion that `given` is the size of the dimension `name`. */
void assert_size(struct elab *e, const char *name, struct value given, struct value size, span at);
/* Reports an assertion of a library's layer about its input, if another layer gave that. NULL: it is none (layer_mismatch.c). */
struct diag *report_layer_mismatch(struct elab *e, node_id cond);
#endif
