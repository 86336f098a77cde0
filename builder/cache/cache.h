/* The user's cache: results that any project may use again, found by the content that they were made from. Entries are checksummed and the cache has limits.
 * Several processes and threads may share one and be killed at any moment. A cache that cannot be used never fails a build: everything then is a miss. */
#ifndef TRIB_BUILDER_CACHE_CACHE_H
#define TRIB_BUILDER_CACHE_CACHE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/hash.h"
#include "builder/store/compile_reason.h"

struct buf;
struct cache;

enum cache_kind {
#define KIND(id, ...) CACHE_##id,
#include "builder/cache/kinds.def"
	CACHE_KINDS
};
enum cache_level { CACHE_L2, CACHE_L3, CACHE_LEVELS }; /* L1 is memory and no part of this */
enum cache_miss { MISS_ABSENT, MISS_EVICTED, MISS_EXPIRED, MISS_DAMAGED, CACHE_MISSES };

#define CACHE_LEAST_SIZE ((uint64_t)16 << 20)
#define CACHE_DEFAULT_SIZE ((uint64_t)5 << 30)
#define CACHE_DEFAULT_COMPRESS (-1)

struct cache_limits {
	uint64_t size;    /* bytes on disk, at least CACHE_LEAST_SIZE */
	uint64_t entries; /* 0: no limit */
	uint64_t days;    /* since the last use, 0: no limit */
};
struct cache_options {
	const char *dir;
	struct cache_limits limits;
	int compress;    /* zstd's level, 0: none */
	unsigned levels; /* bit set of the levels in use */
	bool read_only;
	bool look;               /* only what is there: nothing is created, and damage is left as it is */
	uint64_t (*clock)(void); /* seconds since 1970; NULL: the system's */
};

/* NULL: there is none and it cannot be made, which `warning` says. A folder that cannot be written is used as it is. */
struct cache *cache_open(const struct cache_options *o, struct buf *warning);
/* Writes what is pending and closes. NULL is accepted. False: something could not be kept; `warning` says why. */
bool cache_close(struct cache *c, struct buf *warning);

/* The value, valid until the cache is closed; NULL: a miss. Thread-safe. `c` may be NULL. */
const void *cache_get(struct cache *c, enum cache_kind kind, hash128 key, size_t *len);
/* Keeps a copy, which is written when the cache is closed, and returns it, valid until then. cost_ns: what making it took, 0 where nobody measured.
 * Thread-safe. NULL if `c` is NULL. */
const void *cache_put(struct cache *c, enum cache_kind kind, hash128 key, const void *bytes, size_t len, int64_t cost_ns);
/* Is the kind's level in use? `c` may be NULL. */
bool cache_uses(const struct cache *c, enum cache_kind kind);
/* Is there an entry? Counts as no use. */
bool cache_has(struct cache *c, enum cache_kind kind, hash128 key);

/* Counts a unit that is compiled, and why, for the statistics. `c` may be NULL. */
void cache_count_compile(struct cache *c, enum compile_reason why);

/* The folder of this format below a cache's root; malloc'd. */
char *cache_folder(const char *root);
const char *cache_kind_text(enum cache_kind k);
const char *cache_kind_help(enum cache_kind k);
enum cache_level cache_kind_level(enum cache_kind k);
const char *cache_level_text(enum cache_level l);
const char *cache_miss_text(enum cache_miss m);
#endif
