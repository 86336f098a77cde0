/* All back ends: which of them makes what a model emits. */
#ifndef TRIB_BUILDER_BUILD_MODEL_BACKENDS_H
#define TRIB_BUILDER_BUILD_MODEL_BACKENDS_H
#include "backend/link/backend.h"
#include "builder/manifest/manifest.h"

/* Returns the back end whose files these are. */
const struct backend *emit_backend(enum emit e);
/* Returns the libraries for a device of this name; EMIT_COUNT: there are none. */
enum emit emit_of_device(const char *name);
#endif
