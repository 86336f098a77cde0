/* Looking into the user's cache and tidying it: what `trib cache` does. The cache must have nothing pending. */
#ifndef TRIB_BUILDER_CACHE_MAINTENANCE_H
#define TRIB_BUILDER_CACHE_MAINTENANCE_H
#include <stdbool.h>
#include <stdint.h>
#include "builder/cache/cache.h"

enum { CACHE_AGES = 6 }; /* since the last use: an hour, a day, a week, 30 days, 90 days, longer */

struct cache_tally {
	uint64_t entries, disk, raw;                        /* bytes on disk, and of the values */
	uint64_t hits, kept, evicted, misses[CACHE_MISSES]; /* since the cache was made */
	uint64_t saved_us;                                  /* what making the entries took, once each */
};
struct cache_report {
	struct cache_tally kind[CACHE_KINDS], all;
	uint64_t age_entries[CACHE_AGES], age_disk[CACHE_AGES];
	uint64_t compiled[COMPILE_REASONS]; /* units, since the cache was made */
	uint64_t oldest, newest;            /* made, seconds since 1970; 0: there are none */
	uint64_t disk;                      /* bytes of all files */
};
/* False: errno says why. */
bool cache_report(struct cache *c, struct cache_report *out);
/* What repositories and checked-out commits of dependencies take beside it (builder/deps/checkout.h); no part of the report. */
uint64_t cache_git_bytes(const char *root);
const char *cache_age_text(uint32_t age); /* "< 1 day" */

struct cache_freed {
	uint64_t entries, disk;
};
/* Removes what exceeds these limits (size UINT64_MAX: any), and gives free pages back to the file system. False: errno. */
bool cache_prune(struct cache *c, const struct cache_limits *limits, struct cache_freed *freed);
/* Removes the entries of these levels. False: errno. */
bool cache_clear_levels(struct cache *c, unsigned levels, struct cache_freed *freed);
/* Removes a cache's folder and those of other formats beside it. False: errno. */
bool cache_remove_all(const char *root);

/* Every checksum, and whether index, entries and files tell the same. `found` is called for each fault; with `repair` what is at fault is removed. False: the
 * check could not be made, errno says why. */
typedef void cache_fault(void *ctx, const char *kind, const char *id, const char *what);
bool cache_validate(struct cache *c, bool repair, cache_fault *found, void *ctx, uint64_t *checked, uint64_t *faults);
#endif
