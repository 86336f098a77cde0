/* Names code that was loaded into the process for `perf`, which finds no file behind it. */
#ifndef TRIB_BUILDER_LIB_PERF_MAP_H
#define TRIB_BUILDER_LIB_PERF_MAP_H
#include <stddef.h>

/* If the environment sets TRIB_PERF_MAP=1, appends the functions of the image, which load_image loaded at `base`, to /tmp/perf-PID.map (Linux,
 * tools/perf/Documentation/jit-interface.txt). Does nothing in processes with raised privileges. Errors are ignored: only names are missing. */
void perf_map_add(const char *base, const void *image, size_t len);
#endif
