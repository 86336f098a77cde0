/* Are the sources in a folder still those that were put there? A seal is a small file beside it, with a digest of the files' stamps and one of their contents. */
#ifndef TRIB_BUILDER_DEPS_INTEGRITY_H
#define TRIB_BUILDER_DEPS_INTEGRITY_H
#include <stdbool.h>

struct arena;

/* Takes away the permission to write the sources, so that editors warn, and writes `seal`. False: errno. */
bool integrity_write(struct arena *scratch, const char *folder, const char *seal);
/* Nothing is read but `seal` while the stamps are the same. False: a source is another or has gone, or there is no seal. */
bool integrity_holds(struct arena *scratch, const char *folder, const char *seal);
#endif
