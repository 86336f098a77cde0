/* Passes over the tensor IR. A pass visits the old instructions in order and emits new ones. */
#ifndef TRIB_BACKEND_PASSES_PASSES_H
#define TRIB_BACKEND_PASSES_PASSES_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/ir/program.h"
#include "backend/ir/rewrite.h"
#include "backend/passes/options.h"
#include "backend/passes/pass.h"

struct diags;
struct target;

/* Groups of passes, in the order in which they run. Each is repeated until nothing changes. */
enum pass_group {
	EARLY = 1,    /* clean-ups before legalization, with operations as the source has them */
	LEGALIZE = 2, /* expands operations that the target has no kernel for */
	LATE = 4,     /* the same clean-ups on what was expanded; not run if legalization has changed nothing */
	LAYOUT = 8,   /* gives values the layouts that kernels want; needs a target */
	ALL_PASSES = EARLY | LEGALIZE | LATE | LAYOUT
};

struct pass_context {
	const struct target *target;
	const struct ir_program *program; /* what was decided for callees; NULL: nothing */
	struct argument_layouts own;      /* of the unit itself */
	const uint32_t *is_shared;        /* for each WEIGHT: the table of a lookup and of a product; NULL: none is */
	uint8_t opt;
	bool size; /* -Os */
	struct diags *diags;
	bool failed;                     /* errors were reported into diags */
	const struct hir_unit **inlined; /* by pass_inline, each once, sorted by symbol */
	uint32_t n_inlined, cap_inlined;
	struct pass_run run;
};
/* Makes the context of a function that was lowered or read from text. */
struct pass_context pass_context_new(const struct plan_options *options, struct diags *diags, struct pass_trace *trace);

/* Return the number of changes that they made. */
#define PASS(id, text, groups, level, needs, makes, breaks) uint32_t pass_##id(struct ir_fn *f, struct pass_context *c);
#include "backend/passes/passes.def"
#undef PASS
enum pass_number {
#define PASS(id, text, groups, level, needs, makes, breaks) PASS_##id,
#include "backend/passes/passes.def"
#undef PASS
	PASS_COUNT
};
/* legalize.c: FACT_LEGAL. What is computed when the library is built may be compound: the interpreter runs it. */
bool pass_is_legal(const struct ir_fn *f, const struct target *t);

/* Runs the passes of the groups at the level of c. Returns false if errors were reported into c->diags. */
bool passes_run(struct ir_fn *f, struct pass_context *c, uint32_t groups);
/* Runs one pass, for tests, as if what it needs held. Returns false if there is no pass of this name. */
bool pass_run_named(const char *name, struct ir_fn *f, struct pass_context *c);

/* Returns everything that inlining at this level reads of a callee, as one number. */
uint64_t inline_callee_facts(uint8_t opt, bool size, const struct hir_unit *callee);
#endif
