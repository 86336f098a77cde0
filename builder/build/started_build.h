/* All that the steps have made. Only build.c and callers of build_start see all of it. */
#ifndef TRIB_BUILDER_BUILD_STARTED_BUILD_H
#define TRIB_BUILDER_BUILD_STARTED_BUILD_H
#include "builder/build/compile_set.h"
#include "builder/build/model/project.h"
#include "builder/build/reuse/last_build.h"
#include "builder/build/reuse/repository.h"
#include "builder/build/session/build_result.h"
#include "builder/build/session/context.h"
#include "builder/build/session/status.h"

struct build_result;
struct compile_set;
struct last_build;
struct options;
struct profile;
struct progress;
struct project;
struct repository;
struct session;

struct build {
	struct build_context context;
	struct last_build last;
	struct project project;
	struct progress *progress;
	struct repository repository;
	struct compile_set compiles;
	struct build_result result;
	enum status status;      /* when it has ended */
	struct profile *profile; /* of build_start; NULL: nothing was measured */
};

/* A build whose caller prints the summary. When it returns, the outputs are written and the diagnostics printed. build_end must follow. */
struct build *build_start(struct session *s, const struct options *o);
/* Writes the stores and frees the build. Not part of build_start, so that a watch reports an edit before the stores are written. */
void build_end(struct build *b);
#endif
