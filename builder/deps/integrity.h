/* Detects changed sources in a checked-out commit. A small file beside the folder, the integrity record, holds a digest of the sources'
 * stamps and one of their contents. */
#ifndef TRIB_BUILDER_DEPS_INTEGRITY_H
#define TRIB_BUILDER_DEPS_INTEGRITY_H
#include <stdbool.h>

struct arena;

/* Makes the sources in `folder` read-only and writes `record`. False: errno. */
bool integrity_write(struct arena *scratch, const char *folder, const char *record);
/* True if the sources in `folder` are those of `record`. Reads sources only if a stamp changed; then updates the record. */
bool integrity_holds(struct arena *scratch, const char *folder, const char *record);
#endif
