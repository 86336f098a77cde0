/* The sums of a cache, updated in the same transactions as its index, and the room that its limits leave. */
#include <stddef.h>
#include <string.h>
#include "builder/cache/state.h"

#define LARGE_FOLDERS ((uint64_t)257 << 12) /* large/ and its folders, at most */
#define SLACK_SHARE 16                      /* of LMDB's half: a transaction writes new pages before the old ones are free */

size_t cache_map_size(const struct cache_limits *limits) { return (size_t)(limits->size / 2) & ~(size_t)4095; }

uint64_t cache_small_room(const struct cache_limits *limits)
{
	uint64_t map = cache_map_size(limits), slack = map / SLACK_SHARE;
	return map - (slack > ((uint64_t)1 << 20) ? slack : (uint64_t)1 << 20);
}

uint64_t cache_large_room(const struct cache_limits *limits) { return limits->size / 2 - LARGE_FOLDERS - ((uint64_t)64 << 10); }

void cache_totals_add(struct cache_totals *t, const struct cache_meta *meta)
{
	if (meta_is_removed(meta))
		return;
	struct cache_count *k = &t->kind[meta->kind];
	k->entries++;
	k->charge += meta->charge;
	k->raw += meta->raw;
	*(meta_is_large(meta) ? &t->large : &t->small) += meta->charge;
}

static void totals_subtract(uint64_t *v, uint64_t by) { *v -= *v < by ? *v : by; }

void cache_totals_remove(struct cache_totals *t, const struct cache_meta *meta)
{
	if (meta_is_removed(meta))
		return;
	struct cache_count *k = &t->kind[meta->kind];
	totals_subtract(&k->entries, 1);
	totals_subtract(&k->charge, meta->charge);
	totals_subtract(&k->raw, meta->raw);
	totals_subtract(meta_is_large(meta) ? &t->large : &t->small, meta->charge);
}

uint64_t cache_totals_entries(const struct cache_totals *t)
{
	uint64_t n = 0;
	for (uint32_t i = 0; i < CACHE_KINDS; i++)
		n += t->kind[i].entries;
	return n;
}

void cache_count_add(struct cache_count *to, const struct cache_count *from)
{
	to->entries += from->entries;
	to->charge += from->charge;
	to->raw += from->raw;
	to->hits += from->hits;
	to->stored += from->stored;
	to->evicted += from->evicted;
	for (uint32_t m = 0; m < CACHE_MISSES; m++)
		to->misses[m] += from->misses[m];
}

static MDB_val totals_key(void)
{
	static const char name[] = "totals";
	return (MDB_val){sizeof name, (void *)(uintptr_t)name};
}

static void totals_count(void *totals, hash128 id, const struct cache_meta *meta)
{
	(void)id;
	if (meta->state != META_STATES)
		cache_totals_add(totals, meta);
}

int cache_recount(struct cache *c, MDB_txn *txn, struct cache_totals *t)
{
	t->small = t->large = 0;
	for (uint32_t i = 0; i < CACHE_KINDS; i++)
		t->kind[i].entries = t->kind[i].charge = t->kind[i].raw = 0;
	return cache_meta_each(c, txn, totals_count, t);
}

static uint64_t totals_checksum(const struct cache_totals *t)
{
	return hash64_bytes(&t->version, sizeof *t - offsetof(struct cache_totals, version));
}

int cache_totals_read(struct cache *c, MDB_txn *txn, struct cache_totals *t)
{
	MDB_val k = totals_key(), d;
	int rc = mdb_get(txn, c->state, &k, &d);
	if (rc && rc != MDB_NOTFOUND)
		return rc;
	if (!rc && d.mv_size == sizeof *t) {
		memcpy(t, d.mv_data, sizeof *t);
		if (t->version == CACHE_TOTALS_VERSION && t->kinds == CACHE_KINDS && t->check == totals_checksum(t))
			return 0;
	}
	*t = (struct cache_totals){.version = CACHE_TOTALS_VERSION, .kinds = CACHE_KINDS};
	return cache_recount(c, txn, t);
}

int cache_totals_write(struct cache *c, MDB_txn *txn, const struct cache_totals *t)
{
	struct cache_totals checked = *t;
	checked.check = totals_checksum(t);
	MDB_val k = totals_key(), d = {sizeof checked, &checked};
	return mdb_put(txn, c->state, &k, &d, 0);
}
