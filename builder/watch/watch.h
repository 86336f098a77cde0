/* `trib watch`: builds, and builds again after each save, until it is interrupted. */
#ifndef TRIB_BUILDER_WATCH_WATCH_H
#include "builder/build/build.h"
#define TRIB_BUILDER_WATCH_WATCH_H

/* Watches the project in the current folder. Returns STATUS_INTERRUPTED, or why it cannot watch. */
enum status watch_run(const struct options *o, FILE *out, FILE *err);
#endif
