/* Passes over the tensor IR, and the way they rewrite: a pass walks the old instructions in order and emits new ones. */
#ifndef TRIB_BACKEND_PASSES_PASSES_H
#define TRIB_BACKEND_PASSES_PASSES_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/ir/ir.h"

struct buf;
struct diags;

struct pass_context {
	uint8_t opt;
	bool size, verify;
	struct diags *diags;
	struct buf *dump;                /* or NULL: the text after every pass that changed something */
	bool failed;                     /* errors were reported into diags */
	const struct hir_unit **inlined; /* taken in by pass_inline, each once */
	uint32_t n_inlined, cap_inlined;
};

/* Each returns whether it changed f. */
#define PASS(id, text, level) bool pass_##id(struct ir_fn *f, struct pass_context *c);
#include "backend/passes/passes.def"
#undef PASS

/* All passes of the level until nothing changes. False: c->failed. */
bool passes_run(struct ir_fn *f, struct pass_context *c);
/* One pass by name, for tests. False: no such pass. */
bool pass_run_named(const char *name, struct ir_fn *f, struct pass_context *c);

/* Everything that inlining looks at in a callee, at this level. */
uint64_t inline_callee_facts(uint8_t opt, bool size, const struct hir_unit *callee);

struct rewrite {
	struct ir_fn *f;  /* being built */
	struct ir_fn old; /* what it was */
	ir_ref *map;      /* old to new; IR_NONE until set */
};
/* Empties f. Then for every old instruction: emit something into f and set map[r], or leave it out if nothing uses it. */
void rewrite_begin(struct rewrite *w, struct ir_fn *f);
/* The old instruction with new operands; sets and returns map[r]. */
ir_ref rewrite_copy(struct rewrite *w, ir_ref r);
static inline ir_ref rewrite_operand(const struct rewrite *w, ir_ref r, uint32_t k) { return w->map[ir_operand(&w->old, r, k)]; }
/* Outputs follow the map, build_time is set again. */
void rewrite_end(struct rewrite *w);

/* The scalar constant that fills r (a scalar CONST, or broadcasts and reshapes of one), or IR_NONE. */
ir_ref ir_splat(const struct ir_fn *f, ir_ref r);
/* Its value as a double; false when r is no splat. */
bool ir_splat_value(const struct ir_fn *f, ir_ref r, double *v);
#endif
