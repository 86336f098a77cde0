/* Direct mode: the outputs of an equal build, copied from the user's cache. */
#ifndef TRIB_BUILDER_BUILD_REUSE_DIRECT_H
#define TRIB_BUILDER_BUILD_REUSE_DIRECT_H
#include "builder/build/session/context.h"

struct build_result;
struct last_build;
struct project;
struct repository;

/* Step: ends the build if the cache has its outputs. */
enum step direct_find(struct build_context *c, const struct project *p, const struct last_build *last, struct repository *repo,
		      struct build_result *r);
/* Puts the outputs of this build into the cache. */
void direct_save(struct build_context *c, const struct project *p, const struct last_build *last, struct repository *repo,
		 const struct build_result *r);
#endif
