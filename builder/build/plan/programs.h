/* The program passes over the units of each model, before the units are planned. */
#ifndef TRIB_BUILDER_BUILD_PLAN_PROGRAMS_H
#define TRIB_BUILDER_BUILD_PLAN_PROGRAMS_H
#include <stdbool.h>

struct arena;
struct build_context;
struct ir_program;
struct options;
struct pass_trace;
struct project;
struct timing;
struct variant;

/* Step: summarises the units of all models, and runs the program passes for each variant. */
bool programs_decide(struct build_context *c, struct project *p);
/* Makes the program of a variant from the model's summaries, in `a`, and runs the passes. ir_program_free frees what is not in `a`. */
struct ir_program *program_of_variant(const struct options *options, struct timing *timing, const struct variant *v, struct arena *a,
				      struct pass_trace *trace);
/* Returns the pass that --stop-after names, or NULL. */
const char *last_pass_of(const struct options *o);
#endif
