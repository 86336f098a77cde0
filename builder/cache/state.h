/* An open cache; private to builder/cache. Its folder has data.mdb and lock.mdb (builder/store/store_env.h), and a file large/ab/<id> for each entry above
 * CACHE_LARGE. An id is the hash of kind and key. The tables in data.mdb:
 *
 *   index    struct cache_meta of every entry, and notes of some that were removed
 *   entries  small entries (builder/cache/entry.h)
 *   state    "totals": struct cache_totals
 *
 * A file in large/ is counted in the index from before it is written until after it is removed, always under the environment's write lock. So a kill
 * leaves no uncounted file. Small and large entries have half of the limit each: data.mdb never shrinks, so the size of its map limits it. */
#ifndef TRIB_BUILDER_CACHE_STATE_H
#define TRIB_BUILDER_CACHE_STATE_H
#include <lmdb.h>
#include <pthread.h>
#include "base/map.h"
#include "base/vec.h"
#include "builder/cache/maintenance.h"
#include "builder/store/lookups.h"

#define CACHE_LARGE ((size_t)256 << 10)
#define CACHE_AS_IS ((size_t)1 << 20) /* larger values are mostly weights: they are neither compressed nor copied */
#define CACHE_TOTALS_VERSION 3
enum { CACHE_TOUCH_SECONDS = 15 * 60, DAY_SECONDS = 24 * 60 * 60 };

enum meta_state {
	META_SMALL,
	META_LARGE,
	META_WRITING,
	META_EVICTED,
	META_EXPIRED,
	META_STATES
}; /* WRITING: a large entry whose file may be missing or incomplete */
struct cache_meta {
	uint64_t check;      /* checksum of the entry's id and the rest */
	uint32_t used, made; /* seconds since 1970 */
	uint64_t charge;     /* bytes on disk */
	uint64_t raw;        /* bytes of the value */
	uint32_t cost_us;    /* time to make the value */
	uint8_t kind, state, zero[2];
};
_Static_assert(sizeof(struct cache_meta) == 40, "no padding reaches the disk");

struct cache_totals {
	uint64_t check; /* checksum of the rest: with wrong sums a cache might never store anything again */
	uint32_t version, kinds;
	uint64_t small, large; /* charges */
	uint64_t sweep_at;     /* where in the index the next flush looks for what may go: the first half of a key */
	struct cache_count kind[CACHE_KINDS];
	uint64_t compiled[COMPILE_REASONS]; /* units, since the cache was made */
};

struct cache_value {
	hash128 id;
	const char *bytes; /* the value */
	size_t len;
	void *owned, *mapped; /* memory of the value; mapped: a whole file */
	size_t mapped_len;
	char *entry; /* to write, or NULL */
	size_t entry_len;
	const void *payload; /* the rest of a large entry, in the value or in the caller's memory; NULL: there is no rest */
	const char *file;    /* the caller's path of a file that is the rest of a large entry; NULL: it is none */
	size_t payload_len;
	struct cache_meta meta;
	bool touched; /* its time of use must be written */
};

struct cache {
	char *dir;
	int folder; /* descriptor, so that files never go to a folder that replaced this one */
	struct cache_limits limits;
	int compress;
	unsigned levels;
	bool read_only;
	uint64_t (*clock)(void);
	MDB_env *env;
	MDB_dbi index, entries, state;
	pthread_mutex_t lock;       /* guards the following and all use of the environment */
	MDB_txn *reader;            /* reset between look-ups */
	struct ZSTD_DCtx_s *unpack; /* NULL: not created yet */
	VEC(struct cache_value) values;
	struct map known; /* id → values index */
	size_t pending;
	struct cache_count delta[CACHE_KINDS]; /* since the last flush */
	struct lookups lookups[CACHE_LEVELS];  /* since it was opened */
	uint64_t compiled[COMPILE_REASONS];
	bool counted; /* delta or compiled is not zero */
	bool broken;
	int failed; /* the first error of a flush, or 0 */
};

static inline hash128 cache_id(enum cache_kind k, hash128 key) { return hash_combine((hash128){k, 0x74726962}, key); }
static inline bool meta_is_removed(const struct cache_meta *m) { return m->state == META_EVICTED || m->state == META_EXPIRED; }
static inline bool meta_is_stored(const struct cache_meta *m) { return m->state < META_EVICTED; }
static inline bool meta_is_large(const struct cache_meta *m) { return m->state == META_LARGE || m->state == META_WRITING; }
uint32_t cache_now(const struct cache *c);
uint64_t cache_expired_before(const struct cache *c); /* what was not used since then is expired; 0: nothing is */
/* The room for small and large entries, as charges. */
uint64_t cache_small_room(const struct cache_limits *limits);
uint64_t cache_large_room(const struct cache_limits *limits);
size_t cache_map_size(const struct cache_limits *limits);
/* "large/ab/<id>", relative to the folder. */
#define LARGE_NAME 48
void cache_large_name(hash128 id, char out[LARGE_NAME]);
/* meta.c: calls `fn` for every record of the index. 0 or an error of LMDB. A damaged record has META_STATES for its state, here and below. */
typedef void cache_meta_fn(void *ctx, hash128 id, const struct cache_meta *m);
int cache_meta_each(struct cache *c, MDB_txn *txn, cache_meta_fn *fn, void *ctx);
/* The same for `most` records from *at on, the first half of a key, which then is that of the next record, or 0 behind the last one. */
int cache_meta_some(struct cache *c, MDB_txn *txn, uint64_t *at, uint64_t most, cache_meta_fn *fn, void *ctx);
/* 0 or an error of LMDB. */
int cache_meta_get(struct cache *c, MDB_txn *txn, hash128 id, struct cache_meta *out);
int cache_meta_put(struct cache *c, MDB_txn *txn, hash128 id, const struct cache_meta *m);

/* totals.c: under a transaction. */
int cache_totals_read(struct cache *c, MDB_txn *txn,
		      struct cache_totals *t); /* counts again if they are missing, damaged or of another version */
int cache_totals_write(struct cache *c, MDB_txn *txn, const struct cache_totals *t);
int cache_recount(struct cache *c, MDB_txn *txn, struct cache_totals *t); /* only entries and charges */
void cache_totals_add(struct cache_totals *t, const struct cache_meta *m);
void cache_totals_remove(struct cache_totals *t, const struct cache_meta *m);
uint64_t cache_totals_entries(const struct cache_totals *t);
void cache_count_add(struct cache_count *to, const struct cache_count *from);

/* evict.c: under a write transaction. */
struct cache_target {                   /* what may remain */
	uint64_t small, large, entries; /* entries: UINT64_MAX for any number */
	uint64_t used_since;            /* 0: any */
	unsigned kinds;                 /* bit set: evict only these */
};
bool cache_exceeds(const struct cache_totals *t, const struct cache_target *target);
/* Removes the least recently used until the target is met. */
int cache_evict(struct cache *c, MDB_txn *txn, struct cache_totals *t, const struct cache_target *target);
/* Removes the quarter used longest ago of one part of the index after another, until the target is met or all parts were seen: so it takes as
 * long as what it makes room for. */
int cache_evict_parts(struct cache *c, MDB_txn *txn, struct cache_totals *t, const struct cache_target *target);
/* Removes what is expired from the next part of the index. A cycle takes some hundred flushes, so none of them takes long. */
int cache_sweep(struct cache *c, MDB_txn *txn, struct cache_totals *t);
/* Removes one entry and corrects the totals; counts again for a damaged record. `gone`: the state of the note in the index; META_STATES: no note. */
int cache_remove(struct cache *c, MDB_txn *txn, struct cache_totals *t, hash128 id, const struct cache_meta *m, enum meta_state gone);

/* flush.c: under the lock. 0, or the first error so far of LMDB or errno. */
int cache_flush(struct cache *c);
#endif
