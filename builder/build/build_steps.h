/* One build: what its steps have made so far. Only build.c and callers of build_start see all of it; a step gets what it reads and what
 * it makes. */
#ifndef TRIB_BUILDER_BUILD_BUILD_STEPS_H
#define TRIB_BUILDER_BUILD_BUILD_STEPS_H
#include "builder/build/compile_set.h"
#include "builder/build/context.h"
#include "builder/build/last_build.h"
#include "builder/build/project.h"
#include "builder/build/repository.h"
#include "builder/build/result.h"

struct progress;

struct build {
	struct build_context context;
	struct last_build last;
	struct project project;
	struct progress *progress;
	struct repository repository;
	struct compile_set compiles;
	struct build_result result;
	enum status status; /* when it has ended */
};

/* A build whose caller prints the summary. When it returns, the outputs are written and the diagnostics printed. build_end must follow. */
struct build *build_start(struct session *s, const struct options *o);
/* Writes the stores and frees the build. Not part of build_start, so that a watch reports an edit before the stores are written. */
void build_end(struct build *b);
#endif
