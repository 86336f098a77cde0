/* Passes over a program run before units are planned, so that a unit, its callers and the threads that plan them agree.
 * They read summaries, never bodies. The key of a unit contains their decisions about it (ir_program_code). */
#ifndef TRIB_BACKEND_PASSES_PROGRAM_PROGRAM_PASSES_H
#define TRIB_BACKEND_PASSES_PROGRAM_PROGRAM_PASSES_H
#include "backend/ir/program.h"
#include "backend/passes/pass.h"

struct target;

struct program_pass_context {
	const struct target *target;
	struct pass_run run;
};

/* Return the number of decisions that differ from the defaults in decisions.def. */
#define PROGRAM_PASS(id, text, level, needs, makes, breaks) uint32_t program_pass_##id(struct ir_program *p, const struct target *t);
#include "backend/passes/program/program_passes.def"
#undef PROGRAM_PASS
enum program_pass_number {
#define PROGRAM_PASS(id, text, level, needs, makes, breaks) PROGRAM_PASS_##id,
#include "backend/passes/program/program_passes.def"
#undef PROGRAM_PASS
	PROGRAM_PASS_COUNT
};

/* Decides all of p for a target, at a level. `trace` may be NULL. */
void program_decide(struct ir_program *p, const struct target *t, bool verify, struct pass_trace *trace);
/* Runs one pass, for tests, as if what it needs held. Returns false if there is no pass of this name. */
bool program_pass_run_named(const char *name, struct ir_program *p, const struct target *t);
#endif
