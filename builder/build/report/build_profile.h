/* Makes the profile of a build from what was measured. */
#ifndef TRIB_BUILDER_BUILD_REPORT_BUILD_PROFILE_H
#define TRIB_BUILDER_BUILD_REPORT_BUILD_PROFILE_H
#include <stdint.h>

struct build_context;
struct build_result;
struct profile;
struct project;

struct profile *build_profile(const struct build_context *c, const struct project *p, const struct build_result *r, int64_t wall_ns);
/* Sets place, reason and callees of the units that were compiled. */
void profile_describe_units(struct profile *p, const struct build_context *c, const struct project *project);
#endif
