/* Step: starts the workers, and the display of progress. */
#ifndef TRIB_BUILDER_BUILD_SESSION_WORKERS_H
#define TRIB_BUILDER_BUILD_SESSION_WORKERS_H
#include <stdbool.h>

struct build_context;
struct build_spec;
struct progress;

/* spec->jobs is set to 1 if make's jobserver cannot be joined. *progress is the caller's to free. */
bool workers_start(struct build_context *c, struct build_spec *spec, struct progress **progress);
#endif
