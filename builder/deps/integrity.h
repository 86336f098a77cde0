/* Are the sources in a folder still those that were put there? A record is a small file beside it, with a digest of the files' stamps and one of their contents. */
#ifndef TRIB_BUILDER_DEPS_INTEGRITY_H
#define TRIB_BUILDER_DEPS_INTEGRITY_H
#include <stdbool.h>

struct arena;

/* Takes away the permission to write the sources, so that editors warn, and writes `record`. False: errno. */
bool integrity_write(struct arena *scratch, const char *folder, const char *record);
/* Nothing is read but `record` while the stamps are the same. False: a source is another or has gone, or there is no record. */
bool integrity_holds(struct arena *scratch, const char *folder, const char *record);
#endif
