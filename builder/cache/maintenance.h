/* The commands of `trib cache`: statistics, pruning and validation. The cache must have no pending values. */
#ifndef TRIB_BUILDER_CACHE_MAINTENANCE_H
#define TRIB_BUILDER_CACHE_MAINTENANCE_H
#include <stdbool.h>
#include <stdint.h>
#include "builder/cache/cache.h"

enum { CACHE_AGES = 6 }; /* time since the last use: up to an hour, a day, a week, 30 days, 90 days, longer */

struct cache_count {
	uint64_t entries, charge, raw;                        /* now; charge: bytes on disk, raw: bytes of the values */
	uint64_t hits, stored, evicted, misses[CACHE_MISSES]; /* since the cache was made */
};
struct cache_report {
	struct cache_count kind[CACHE_KINDS], all;
	uint64_t saved_us[CACHE_KINDS], all_saved_us; /* time to make all entries once */
	uint64_t age_entries[CACHE_AGES], age_disk[CACHE_AGES];
	uint64_t compiled[COMPILE_REASONS]; /* units, since the cache was made */
	uint64_t oldest, newest;            /* time of creation, seconds since 1970; 0: no entries */
	uint64_t disk;                      /* bytes of all files */
};
/* False: see errno. */
bool cache_report(struct cache *c, struct cache_report *out);
/* Bytes of the repositories and checked-out commits of dependencies (builder/deps/checkout.h), which the report does not contain. */
uint64_t cache_git_bytes(const char *root);
const char *cache_age_text(uint32_t age); /* "< 1 day" */

struct cache_freed {
	uint64_t entries, disk;
};
/* Evicts entries until these limits hold (size UINT64_MAX: no limit), and returns free pages to the file system. False: errno. */
bool cache_prune(struct cache *c, const struct cache_limits *limits, struct cache_freed *freed);
/* Removes the entries of these levels. False: errno. */
bool cache_clear_levels(struct cache *c, unsigned levels, struct cache_freed *freed);
/* The programs that OpenCL libraries keep in the root of a cache: their number and bytes, which the report does not contain; and what removing those that
 * were not used for so many days freed (0: they have no age). */
struct cache_freed cache_programs_count(const char *root);
struct cache_freed cache_programs_prune(const char *root, uint64_t days);
/* Removes the folders of all formats and the programs in the root of a cache. False: errno. */
bool cache_remove_all(const char *root);

/* Checks all checksums, and that index, entries and files agree. Calls `found` for each fault. With `repair` it removes the faulty
 * entries. False: the check failed; see errno. */
typedef void cache_fault(void *ctx, const char *kind, const char *id, const char *what);
bool cache_validate(struct cache *c, bool repair, cache_fault *found, void *ctx, uint64_t *checked, uint64_t *faults);
#endif
