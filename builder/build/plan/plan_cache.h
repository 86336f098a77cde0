/* Records of plans, in the last build's history and in the user's cache, and the code of plans. */
#ifndef TRIB_BUILDER_BUILD_PLAN_PLAN_CACHE_H
#define TRIB_BUILDER_BUILD_PLAN_PLAN_CACHE_H
#include <stdbool.h>
#include "base/hash.h"
#include <stdint.h>

struct arena;
struct build_context;
struct plan;
struct stores;
struct unit_job;

/* Gives the unit its plan from a record. False: no record is valid. Sets old_record in both cases. On the main thread. */
bool plan_cache_find(struct build_context *c, struct unit_job *j);
/* Makes the record of the unit's new plan, in the build's memory. The plan's code stays in its arena. On the main thread. */
void plan_cache_record(struct arena *arena, hash128 compiler, struct unit_job *j);
/* Puts the record into the user's cache. */
void plan_cache_share(const struct stores *stores, struct unit_job *j);
/* Returns the plan with its code. Makes the code if the plan came from a record. */
const struct plan *plan_cache_code(struct unit_job *j);
/* Frees the code when nothing more is compiled from it. It stays if values are still to be computed by its build_fn. */
void plan_cache_drop_code(struct unit_job *j);
/* Returns the unit's level of optimisation; MANIFEST_OPT_SIZE for -Os. */
uint8_t unit_opt(const struct unit_job *j);
#endif
