/* Step: plans every unit that is needed. A plan whose record still holds is not made again. */
#ifndef TRIB_BUILDER_BUILD_PLAN_PLAN_H
#define TRIB_BUILDER_BUILD_PLAN_PLAN_H
#include <stdbool.h>

struct build_context;
struct build_result;
struct project;

bool units_plan(struct build_context *c, struct project *p, struct build_result *r);
#endif
