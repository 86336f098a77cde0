/* Which units must be compiled, and why. */
#ifndef TRIB_BUILDER_BUILD_COMPILE_SET_H
#define TRIB_BUILDER_BUILD_COMPILE_SET_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/vec.h"
#include "builder/build/context.h"

struct build_result;
struct project;
struct repository;
struct unit_job;

/* One fragment to link. Units of several models may share it. */
struct compile {
	hash128 key;
	struct unit_job *job; /* the first unit that needs it */
	const char *label, *why;
	const void *object; /* of a lazy library: its loops. NULL: to be made */
	size_t len;
	bool is_made, has_failed; /* in this build */
	struct buf uncached;      /* the object, if no cache holds it */
	struct buf error;
};
struct compile_set {
	VEC(struct compile *) list;
	struct map by_key; /* → list index */
};

/* Step: finds the fragments of all models that are to be linked, in memory and in the cache. */
bool compile_set_find(struct build_context *c, struct project *p, const struct repository *repo, struct compile_set *set,
		      struct build_result *r);
/* Step: prints why units are compiled, with --explain; --dry-run ends here. */
enum step compile_set_explain(const struct build_context *c, const struct project *p, const struct compile_set *set);
/* Leaves the objects to the session, for its next build. */
void compile_set_retain(const struct build_context *c, const struct project *p, const struct compile_set *set, bool published);
void compile_set_free(struct compile_set *set);

/* ---- compile.c: Makes the fragment of one unit, on a worker. ---- */

/* False: f->error says why. */
bool compile_unit(struct build_context *c, struct compile *f, uint32_t worker);
/* For a lazy library: the unit's loops, which its first call compiles. */
bool compile_loops(struct build_context *c, struct compile *f, uint32_t worker);
#endif
