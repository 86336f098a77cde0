/* Code generators that outlive a compilation: each worker has one for every target and level. */
#ifndef TRIB_BUILDER_BUILD_SESSION_GENERATORS_H
#define TRIB_BUILDER_BUILD_SESSION_GENERATORS_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/target/codegen.h"

struct buf;
struct generators;

/* For this many workers. Loads the code generator's module. NULL: *error (malloc'd) says why it cannot be loaded. */
struct generators *generators_new(uint32_t workers, char **error);
/* Before any worker asks: opens a generator for the first worker that asks for this target and level; uses it once. */
void generators_prepare(struct generators *g, const struct codegen_target *target);
void generators_warm(struct generators *g);
/* The worker's generator, opened at the first call and never shared between threads. NULL: *error says why. */
struct codegen *generators_get(struct generators *g, uint32_t worker, const struct codegen_target *target, struct buf *error);
const struct codegen_api *generators_api(const struct generators *g);
void generators_free(struct generators *g); /* NULL is accepted */
#endif
