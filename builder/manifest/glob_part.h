/* One component of a pattern: `*`, `?`, `[…]` and `\x`, in time that is at most the product of the lengths, where fnmatch takes exponential time. */
#ifndef TRIB_BUILDER_MANIFEST_GLOB_PART_H
#define TRIB_BUILDER_MANIFEST_GLOB_PART_H
#include <stdbool.h>

/* True if the pattern matches the whole name. A leading `.` is matched only by one. */
bool glob_part_matches(const char *pattern, const char *name);
#endif
