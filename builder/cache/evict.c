/* LRU eviction. An evicted entry leaves a note in the index for a while, so that a later miss can say why. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/os.h"
#include "builder/cache/state.h"

enum { MOST_NOTES = 4096, SWEEP_LEAST = 64, SWEEP_SHARE = 256 };

struct victim {
	hash128 id;
	struct cache_meta meta;
};
typedef VEC(struct victim) victims;

bool cache_exceeds(const struct cache_totals *t, const struct cache_target *target)
{
	return t->small > target->small || t->large > target->large || cache_totals_entries(t) > target->entries;
}

/* Removes the file of a large entry, or anything else in its place. */
static int remove_file(const struct cache *c, hash128 id)
{
	char name[LARGE_NAME], *path;
	cache_large_name(id, name);
	if (unlinkat(c->folder, name, 0) == 0 || errno == ENOENT || errno == ENOTDIR || errno == ELOOP)
		return 0;
	if (errno != EISDIR || asprintf(&path, "%s/%s", c->dir, name) < 0)
		return errno;
	int rc = os_remove_tree(path) ? 0 : errno;
	free(path);
	return rc;
}

int cache_remove(struct cache *c, MDB_txn *txn, struct cache_totals *t, hash128 id, const struct cache_meta *meta, enum meta_state gone)
{
	MDB_val k = {sizeof id, &id};
	int rc = 0;
	bool damaged = meta->state == META_STATES; /* the entry may be small or large */
	if (damaged || meta_is_large(meta))
		rc = remove_file(c, id);
	if (rc)
		return rc;
	if (damaged || meta->state == META_SMALL)
		rc = mdb_del(txn, c->entries, &k, NULL);
	if (rc && rc != MDB_NOTFOUND)
		return rc;
	if (damaged) {
		rc = mdb_del(txn, c->index, &k, NULL);
		return rc ? rc : cache_recount(c, txn, t);
	}
	cache_totals_remove(t, meta);
	if (meta_is_stored(meta))
		t->kind[meta->kind].evicted += gone != META_STATES;
	if (gone == META_STATES)
		return mdb_del(txn, c->index, &k, NULL);
	struct cache_meta note = {.used = cache_now(c), .made = meta->made, .kind = meta->kind, .state = (uint8_t)gone};
	return cache_meta_put(c, txn, id, &note);
}

static int by_use(const void *a, const void *b)
{
	const struct victim *x = a, *y = b;
	if (x->meta.used != y->meta.used)
		return x->meta.used < y->meta.used ? -1 : 1;
	if (x->meta.made != y->meta.made)
		return x->meta.made < y->meta.made ? -1 : 1;
	return x->id.lo < y->id.lo ? -1 : x->id.lo > y->id.lo;
}

struct listing {
	victims entries, notes;
};

static void evict_list(void *listing, hash128 id, const struct cache_meta *meta)
{
	struct listing *l = listing;
	victims *to = meta_is_removed(meta) ? &l->notes : &l->entries;
	vec_push(to, ((struct victim){id, *meta}));
}

static void evict_sort(victims *v)
{
	if (v->len)
		qsort(v->at, v->len, sizeof *v->at, by_use);
}

/* True if removing the entry brings the totals nearer to the target. */
static bool reduces_excess(const struct cache_totals *t, const struct cache_target *target, const struct cache_meta *meta)
{
	if (!(target->kinds >> meta->kind & 1))
		return false;
	return meta->used < target->used_since || cache_totals_entries(t) > target->entries ||
	       (meta_is_large(meta) ? t->large > target->large : t->small > target->small);
}

int cache_evict(struct cache *c, MDB_txn *txn, struct cache_totals *t, const struct cache_target *target)
{
	struct listing l = {0};
	int rc = cache_meta_each(c, txn, evict_list, &l);
	evict_sort(&l.entries);
	evict_sort(&l.notes);
	for (uint32_t i = 0; i < l.entries.len && !rc; i++) {
		const struct victim *v = &l.entries.at[i];
		if (v->meta.state == META_STATES || reduces_excess(t, target, &v->meta))
			rc = cache_remove(c, txn, t, v->id, &v->meta, v->meta.used < target->used_since ? META_EXPIRED : META_EVICTED);
	}
	for (uint32_t i = 0; i + MOST_NOTES < l.notes.len && !rc; i++)
		rc = cache_remove(c, txn, t, l.notes.at[i].id, &l.notes.at[i].meta, META_STATES);
	vec_free(&l.entries);
	vec_free(&l.notes);
	return rc;
}

/* ---- parts of the index ---- */

static uint64_t part_of(const struct cache_totals *t) { return SWEEP_LEAST + cache_totals_entries(t) / SWEEP_SHARE; }

/* Damaged records are left to cache_evict, which counts again. */
static void list_sound(void *list, hash128 id, const struct cache_meta *meta)
{
	victims *to = list;
	if (meta->state != META_STATES)
		vec_push(to, ((struct victim){id, *meta}));
}

static int evict_part(struct cache *c, MDB_txn *txn, struct cache_totals *t, const struct cache_target *target)
{
	victims part = {0};
	int rc = cache_meta_some(c, txn, &t->sweep_at, part_of(t), list_sound, &part);
	evict_sort(&part);
	for (uint32_t i = 0; i < (part.len + 3) / 4 && !rc && cache_exceeds(t, target); i++) {
		const struct victim *v = &part.at[i];
		if (meta_is_removed(&v->meta) || reduces_excess(t, target, &v->meta))
			rc = cache_remove(c, txn, t, v->id, &v->meta, meta_is_removed(&v->meta) ? META_STATES : META_EVICTED);
	}
	vec_free(&part);
	return rc;
}

int cache_evict_parts(struct cache *c, MDB_txn *txn, struct cache_totals *t, const struct cache_target *target)
{
	uint64_t began_at = t->sweep_at, before;
	bool wrapped = false;
	int rc = 0;
	while (!rc && cache_exceeds(t, target) && !(wrapped && t->sweep_at >= began_at)) {
		before = t->sweep_at;
		rc = evict_part(c, txn, t, target);
		wrapped |= t->sweep_at <= before;
	}
	return rc;
}

/* ---- expired entries ---- */

struct sweep {
	uint64_t used_since;
	victims expired;
};

/* Notes expire, too. Damaged records are left to an eviction, which counts again. */
static void list_expired(void *sweep, hash128 id, const struct cache_meta *meta)
{
	struct sweep *s = sweep;
	if (meta->state != META_STATES && meta->used < s->used_since)
		vec_push(&s->expired, ((struct victim){id, *meta}));
}

int cache_sweep(struct cache *c, MDB_txn *txn, struct cache_totals *t)
{
	struct sweep s = {.used_since = cache_expired_before(c)};
	int rc = s.used_since ? cache_meta_some(c, txn, &t->sweep_at, part_of(t), list_expired, &s) : 0;
	for (uint32_t i = 0; i < s.expired.len && !rc; i++) {
		const struct victim *v = &s.expired.at[i];
		rc = cache_remove(c, txn, t, v->id, &v->meta, meta_is_removed(&v->meta) ? META_STATES : META_EXPIRED);
	}
	vec_free(&s.expired);
	return rc;
}
