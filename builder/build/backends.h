/* All back ends, and which of them makes what a model emits. */
#ifndef TRIB_BUILDER_BUILD_BACKENDS_H
#define TRIB_BUILDER_BUILD_BACKENDS_H
#include "backend/link/backend.h"
#include "builder/manifest/manifest.h"

/* Returns the back end whose library this is; NULL: it is a text. */
const struct backend *emit_backend(enum emit e);
/* Returns what a back end of this name emits; EMIT_COUNT: there is none. */
enum emit emit_of_backend(const char *name);
#endif
