/* All back ends: which of them makes what a model emits. */
#ifndef TRIB_BUILDER_MANIFEST_BACKENDS_H
#define TRIB_BUILDER_MANIFEST_BACKENDS_H
#include "backend/link/backend.h"
#include "builder/manifest/manifest.h"

/* Returns the back end whose files these are. */
const struct backend *emit_backend(enum emit e);
/* True if it is a library for devices with drivers of their own. */
bool emit_has_devices(enum emit e);
/* Returns the libraries for a device such as "cpu" or "opencl:1"; EMIT_COUNT: there are none. */
enum emit emit_of_device(const char *device);
/* True if the device is none of the processors: it has a driver, a memory and clocks of its own. */
bool device_is_foreign(const char *device);
#endif
