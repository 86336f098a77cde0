/* Which units must be compiled, and why. */
#ifndef TRIB_BUILDER_BUILD_COMPILE_SET_H
#define TRIB_BUILDER_BUILD_COMPILE_SET_H
#include <stdbool.h>
#include "base/map.h"
#include "base/vec.h"
#include "builder/build/session/context.h"

struct build_result;
struct compile;
struct project;
struct repository;

struct compile_set {
	VEC(struct compile *) list;
	struct map by_key; /* → list index */
};

/* Step: finds the fragments of all models that are to be linked, in memory and in the cache. */
bool compile_set_find(struct build_context *c, struct project *p, const struct repository *repo, struct compile_set *set,
		      struct build_result *r);
/* Step: prints why units are compiled, with --explain; --dry-run ends here. */
enum step compile_set_explain(struct arena *arena, const struct build_request *request, const struct project *p,
			      const struct compile_set *set);
/* Leaves the fragments to the next build, in the session's memory and in the project. */
void compile_set_retain(struct build_context *c, struct project *p, const struct compile_set *set, bool published);
void compile_set_free(struct compile_set *set);
#endif
