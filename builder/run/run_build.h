/* What a run needs before it starts: the project's library, built. */
#ifndef TRIB_BUILDER_RUN_RUN_BUILD_H
#define TRIB_BUILDER_RUN_RUN_BUILD_H
#include "builder/build/build.h"
#include "builder/manifest/build_spec.h"

struct arena;

/* False: no such device can be; reported. */
bool run_check_device(const struct options *o);
bool run_on_reference(const struct options *o);
/* Builds the models without a word but for errors and warnings; with options->no_build it only warns of what is stale. */
enum status run_build_first(struct arena *a, const struct build_spec *spec, const struct options *o);
/* The model's library for the device, which run_build_first has built. NULL: it is not there, which is reported. */
const char *run_library_path(struct arena *a, const struct model_spec *m, const struct options *o, enum status *s);
#endif
