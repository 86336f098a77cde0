/* Passes over loop IR. */
#ifndef TRIB_BACKEND_LOOPS_LOOP_PASSES_H
#define TRIB_BACKEND_LOOPS_LOOP_PASSES_H
#include "backend/loops/ir/loops.h"
#include "backend/passes/options.h"
#include "backend/passes/pass.h"

struct loop_pass_context {
	const struct loop_source *source;
	const struct plan_options *options;
	struct dims *dims; /* of the function */
	struct pass_run run;
};

/* Calls fn for every nest of the function: also prologues, epilogues and those in blocks. Returns the sum of what it returns. */
typedef uint32_t loop_nest_pass(struct loop_fn *f, struct loop_nest *n, const struct target *t);
uint32_t loops_each_nest(struct loop_fn *f, const struct loop_pass_context *c, loop_nest_pass *fn);

/* Return the number of changes that they made. */
#define LOOP_PASS(id, text, level, needs, makes, breaks) uint32_t loop_pass_##id(struct loop_fn *f, struct loop_pass_context *c);
#include "backend/loops/loop_passes.def"
#undef LOOP_PASS
enum loop_pass_number {
#define LOOP_PASS(id, text, level, needs, makes, breaks) LOOP_PASS_##id,
#include "backend/loops/loop_passes.def"
#undef LOOP_PASS
	LOOP_PASS_COUNT
};
#endif
