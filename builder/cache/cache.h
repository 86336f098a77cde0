/* The user's cache: results that any project may use. A key is a hash of what an entry was made from. Every entry has a checksum, and
 * the cache has limits. Processes and threads may share a cache, and may be killed at any moment. If a cache cannot be used, every
 * look-up is a miss and the build goes on. */
#ifndef TRIB_BUILDER_CACHE_CACHE_H
#define TRIB_BUILDER_CACHE_CACHE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/hash.h"
#include "builder/store/compile_reason.h"
#include "builder/store/lookups.h"

struct buf;
struct cache;

enum cache_kind {
#define KIND(id, ...) CACHE_##id,
#include "builder/cache/kinds.def"
	CACHE_KINDS
};
enum cache_level { CACHE_L2, CACHE_L3, CACHE_LEVELS }; /* L1 is in memory and not part of the cache */
enum cache_miss { MISS_ABSENT, MISS_EVICTED, MISS_EXPIRED, MISS_DAMAGED, CACHE_MISSES };

#define CACHE_LEAST_SIZE ((uint64_t)16 << 20)
#define CACHE_DEFAULT_SIZE ((uint64_t)5 << 30)
#define CACHE_DEFAULT_COMPRESS (-1)

/* What it takes to write an entry and to read it, about: measured 1 to 3 ns a byte without compression, 10 to 20 us for a small one. */
#define CACHE_NS 20000
#define CACHE_NS_PER_BYTE 4

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
	bool inspect;            /* read what exists: create nothing and leave damage in place */
	uint64_t (*clock)(void); /* seconds since 1970; NULL: the system's clock */
};

/* Opens or creates a cache; read-only if the folder cannot be written. NULL: neither worked; `warning` says why. */
struct cache *cache_open(const struct cache_options *o, struct buf *warning);
/* Writes all pending values and closes. NULL is accepted. False: the write failed; `warning` says why. */
bool cache_close(struct cache *c, struct buf *warning);

/* True if there is such an entry. This does not count as a use. */
bool cache_has(struct cache *c, enum cache_kind kind, hash128 key);
/* The value, valid until the cache is closed; NULL: a miss. Thread-safe. `c` may be NULL. */
const void *cache_get(struct cache *c, enum cache_kind kind, hash128 key, size_t *len);
/* The same for values that are stored only if cache_pays says so: a miss is not counted. */
const void *cache_find(struct cache *c, enum cache_kind kind, hash128 key, size_t *len);
/* True if a value took longer to make than the cache takes to store and read it. */
static inline bool cache_pays(int64_t cost_ns, size_t len) { return cost_ns > CACHE_NS + CACHE_NS_PER_BYTE * (int64_t)len; }
/* Stores a copy and returns it, valid until the cache is closed; it is written then. cost_ns: the time to make the value; 0: unknown.
 * Thread-safe. NULL if `c` is NULL. */
const void *cache_put(struct cache *c, enum cache_kind kind, hash128 key, const void *bytes, size_t len, int64_t cost_ns);
/* The same for a value that is not looked up again before the cache is closed: only what will be written stays in memory. */
void cache_add(struct cache *c, enum cache_kind kind, hash128 key, const void *bytes, size_t len, int64_t cost_ns);
/* The same for the content of a file, whose hash is the key; a large one is never in memory as a whole. */
void cache_add_file(struct cache *c, enum cache_kind kind, hash128 key, const char *path, size_t len);
/* True if the level of this kind is in use. `c` may be NULL. */
bool cache_uses(const struct cache *c, enum cache_kind kind);

/* The look-ups of a level since the cache was opened. `c` may be NULL. */
struct lookups cache_lookups(struct cache *c, enum cache_level level);
/* Counts a compiled unit and its reason in the statistics. `c` may be NULL. */
void cache_count_compile(struct cache *c, enum compile_reason why);

/* The folder of this format's version in the root of the cache; malloc'd. */
char *cache_folder(const char *root);
const char *cache_kind_text(enum cache_kind k);
enum cache_level cache_kind_level(enum cache_kind k);
const char *cache_level_text(enum cache_level l);
const char *cache_miss_text(enum cache_miss m);
#endif
