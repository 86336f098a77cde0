/* Step: compiles, packs and links on the workers. */
#ifndef TRIB_BUILDER_BUILD_TASKS_H
#define TRIB_BUILDER_BUILD_TASKS_H
#include <stdbool.h>

struct build_context;
struct build_result;
struct compile_set;
struct progress;
struct project;
struct repository;

bool tasks_run(struct build_context *c, struct project *p, struct compile_set *set, struct repository *repo, struct progress *progress,
	       struct build_result *r);
/* Opens the code generator; false: reported. */
bool tasks_open_generators(struct build_context *c);
#endif
