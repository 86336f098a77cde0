/* Code generators, kept from one piece of work to the next: each worker has its own for every target and level in use. */
#ifndef TRIB_BUILDER_BUILD_GENERATORS_H
#define TRIB_BUILDER_BUILD_GENERATORS_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/target/codegen.h"

struct buf;
struct platform;
struct generators;

/* For that many workers. Opens the code generator's module; NULL: *error (malloc'd) says why it cannot be opened. */
struct generators *generators_new(uint32_t workers, char **error);
/* Makes one ahead, for the first worker that will ask for its like; and uses it, so that it is warm. Both before any worker asks. */
void generators_prepare(struct generators *g, const struct platform *target, uint8_t opt, bool size);
void generators_warm(struct generators *g);
/* The worker's generator for code of that level, made on first use and never shared between threads. NULL: *error says why. */
struct codegen *generators_get(struct generators *g, uint32_t worker, const struct platform *target, uint8_t opt, bool size,
			       struct buf *error);
const struct codegen_api *generators_api(const struct generators *g);
void generators_free(struct generators *g); /* NULL is accepted */
#endif
