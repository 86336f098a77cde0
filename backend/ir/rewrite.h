/* Rebuilds a function from its old instructions, as a pass does. */
#ifndef TRIB_BACKEND_IR_REWRITE_H
#define TRIB_BACKEND_IR_REWRITE_H
#include "backend/ir/ir.h"

struct rewrite {
	struct ir_fn *f;  /* being built */
	struct ir_fn old; /* before the pass */
	ir_ref *map;      /* from old values to new ones; IR_NONE until set */
};
/* Empties f. For every old instruction the pass then emits something and sets map[r], or leaves the instruction out if it is unused. */
void rewrite_begin(struct rewrite *w, struct ir_fn *f);
/* Emits the old instruction with its operands mapped; sets and returns map[r]. */
ir_ref rewrite_copy(struct rewrite *w, ir_ref r);
static inline ir_ref rewrite_operand(const struct rewrite *w, ir_ref r, uint32_t k) { return w->map[ir_operand(&w->old, r, k)]; }
/* Maps the outputs and marks build_time. */
void rewrite_end(struct rewrite *w);

/* If all elements of r are one constant, returns its CONST of one element, else IR_NONE. */
ir_ref ir_splat(const struct ir_fn *f, ir_ref r);
/* Stores that constant as a double. Returns false if r is not a splat. */
bool ir_splat_value(const struct ir_fn *f, ir_ref r, double *v);
#endif
