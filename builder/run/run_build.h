/* Builds the library of a project before it is run. */
#ifndef TRIB_BUILDER_RUN_RUN_BUILD_H
#define TRIB_BUILDER_RUN_RUN_BUILD_H
#include "builder/build/build.h"
#include "builder/manifest/build_spec.h"

struct arena;

/* True if the options name a valid device. False: reported. */
bool run_check_device(const struct options *o);
bool run_on_reference(const struct options *o);
/* Builds the models and prints only errors and warnings. With options->no_build it only warns about a stale library. */
enum status run_build_first(struct arena *a, const struct build_spec *spec, const struct options *o);
/* The model's library for the device. NULL: it does not exist; reported. */
const char *run_library_path(struct arena *a, const struct model_spec *m, const struct options *o, enum status *s);
#endif
