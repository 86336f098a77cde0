/* Steps of --dump-… and --stop-after=…: they print the text of a stage in place of building a library. */
#ifndef TRIB_BUILDER_BUILD_DUMP_H
#define TRIB_BUILDER_BUILD_DUMP_H
#include "builder/build/session/context.h"

struct project;

enum step dump_files(const struct build_request *request, const struct project *p);
enum step dump_after_check(const struct options *options);
enum step dump_units(struct build_context *c, const struct project *p);
enum step dump_after_plan(struct build_context *c, struct project *p);
#endif
