/* Makes the fragment of one unit, on a worker. */
#ifndef TRIB_BUILDER_BUILD_COMPILE_H
#define TRIB_BUILDER_BUILD_COMPILE_H
#include <stdbool.h>
#include <stdint.h>

struct build_context;
struct compile;

/* False: f->error says why. */
bool compile_unit(struct build_context *c, struct compile *f, uint32_t worker);
/* For a lazy library: the unit's loops, which its first call compiles. */
bool compile_loops(struct build_context *c, struct compile *f, uint32_t worker);
#endif
