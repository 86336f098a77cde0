/* A flush takes one transaction or three. Each holds the environment's lock and reads the totals of all processes, so that the limits
 * always hold. 1: make room if there is not enough. LMDB can reuse the freed pages from the third transaction on. 2: count the large
 * entries. 3: write. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/os.h"
#include "builder/cache/state.h"
#include "builder/store/crash_guard.h"
#include "builder/store/store_env.h"

enum { MOST_ROUNDS = 6, ROOM_PARTS = 256 };

struct needed_room {
	uint64_t small, large, entries;
};

static struct needed_room needed(const struct cache *c)
{
	struct needed_room n = {0};
	for (uint32_t i = 0; i < c->values.len; i++) {
		const struct cache_value *v = &c->values.at[i];
		if (!v->entry)
			continue;
		*(meta_is_large(&v->meta) ? &n.large : &n.small) += v->meta.charge;
		n.entries++;
	}
	return n;
}

static void drop_entry(struct cache *c, struct cache_value *value)
{
	c->pending -= value->payload_len ? 0 : value->entry_len;
	free(value->entry);
	value->entry = NULL;
	value->payload = NULL;
	value->file = NULL;
	value->entry_len = value->payload_len = 0;
}

/* Drops the newest values for which no eviction could make room. */
static struct needed_room drop_what_cannot_fit(struct cache *c)
{
	struct needed_room n = needed(c);
	uint64_t small = cache_small_room(&c->limits) / 2, large = cache_large_room(&c->limits);
	for (uint32_t i = c->values.len; i-- > 0;) {
		struct cache_value *v = &c->values.at[i];
		bool is_large = meta_is_large(&v->meta);
		if (!v->entry || !((is_large ? n.large > large : n.small > small) || (c->limits.entries && n.entries > c->limits.entries)))
			continue;
		*(is_large ? &n.large : &n.small) -= v->meta.charge;
		n.entries--;
		drop_entry(c, v);
	}
	return n;
}

/* What may remain so that the new values fit. share: parts of the ROOM_PARTS of the room that may be filled. */
static struct cache_target room_for(const struct cache *c, const struct needed_room *n, unsigned share)
{
	uint64_t small = cache_small_room(&c->limits) / ROOM_PARTS * share, large = cache_large_room(&c->limits) / ROOM_PARTS * share;
	uint64_t entries = c->limits.entries ? c->limits.entries * share / ROOM_PARTS : UINT64_MAX;
	struct cache_target t = {.kinds = ~0u, .entries = UINT64_MAX};
	t.small = small > n->small ? small - n->small : 0;
	t.large = large > n->large ? large - n->large : 0;
	if (c->limits.entries)
		t.entries = entries > n->entries ? entries - n->entries : 0;
	return t;
}

static int flush_begin(struct cache *c, MDB_txn **txn, struct cache_totals *t)
{
	int dead, rc = mdb_reader_check(c->env, &dead); /* LMDB does not reuse pages while killed readers are registered */
	rc = rc ? rc : env_begin(c->env, 0, txn);
	if (rc)
		return rc;
	rc = cache_totals_read(c, *txn, t);
	if (rc)
		mdb_txn_abort(*txn);
	return rc;
}

static int flush_finish(struct cache *c, MDB_txn *txn, const struct cache_totals *t, int rc)
{
	if (!rc)
		rc = cache_totals_write(c, txn, t);
	if (!rc)
		return env_commit(c->env, txn, NULL, NULL);
	mdb_txn_abort(txn);
	return rc;
}

static int flush_make_room(struct cache *c, const struct needed_room *n, unsigned share, bool force, bool *evicted)
{
	MDB_txn *txn;
	struct cache_totals t;
	struct cache_target limit = room_for(c, n, ROOM_PARTS), target = room_for(c, n, share);
	int rc = flush_begin(c, &txn, &t);
	if (rc)
		return rc;
	*evicted = force || cache_exceeds(&t, &limit);
	if (!*evicted) {
		mdb_txn_abort(txn);
		return 0;
	}
	target.used_since = cache_expired_before(c);
	return flush_finish(c, txn, &t, force ? cache_evict(c, txn, &t, &target) : cache_evict_parts(c, txn, &t, &target));
}

static int put_meta(struct cache *c, MDB_txn *txn, struct cache_totals *t, const struct cache_value *value, enum meta_state state)
{
	struct cache_meta m = value->meta, old;
	int rc = cache_meta_get(c, txn, value->id, &old);
	if (rc && rc != MDB_NOTFOUND)
		return rc;
	if (!rc && (rc = cache_remove(c, txn, t, value->id, &old, META_STATES)))
		return rc;
	m.state = (uint8_t)state;
	cache_totals_add(t, &m);
	return cache_meta_put(c, txn, value->id, &m);
}

/* Updates the time of an entry, unless another process has evicted it. */
static int flush_touch(struct cache *c, MDB_txn *txn, struct cache_value *value)
{
	struct cache_meta m;
	int rc = cache_meta_get(c, txn, value->id, &m);
	if (rc || !meta_is_stored(&m))
		return rc == MDB_NOTFOUND ? 0 : rc;
	m.used = value->meta.used;
	return cache_meta_put(c, txn, value->id, &m);
}

static void flush_add_counts(const struct cache *c, struct cache_totals *t)
{
	for (uint32_t i = 0; i < CACHE_KINDS; i++)
		cache_count_add(&t->kind[i], &c->delta[i]);
	for (uint32_t i = 0; i < COMPILE_REASONS; i++)
		t->compiled[i] += c->compiled[i];
}

static int write_counts(struct cache *c, MDB_txn *txn, struct cache_totals *t)
{
	int rc = 0;
	if (!c->counted)
		return 0;
	flush_add_counts(c, t);
	for (uint32_t i = 0; i < c->values.len && !rc; i++)
		if (c->values.at[i].touched && !c->values.at[i].entry)
			rc = flush_touch(c, txn, &c->values.at[i]);
	return rc;
}

/* Counts and uses were written: clears them. */
static void clear_counts(struct cache *c)
{
	memset(c->delta, 0, sizeof c->delta);
	memset(c->compiled, 0, sizeof c->compiled);
	c->counted = false;
	for (uint32_t i = 0; i < c->values.len; i++)
		c->values.at[i].touched = false;
}

static bool has_room(const struct cache *c, const struct cache_totals *t, const struct needed_room *n)
{
	struct cache_target limit = room_for(c, n, ROOM_PARTS);
	return !cache_exceeds(t, &limit);
}

static int flush_reserve(struct cache *c, const struct needed_room *n)
{
	MDB_txn *txn;
	struct cache_totals t;
	int rc = flush_begin(c, &txn, &t);
	if (rc)
		return rc;
	if (!has_room(c, &t, n))
		rc = MDB_MAP_FULL; /* another process was faster */
	for (uint32_t i = 0; i < c->values.len && !rc; i++) {
		const struct cache_value *v = &c->values.at[i];
		if (v->entry && meta_is_large(&v->meta))
			rc = put_meta(c, txn, &t, v, META_WRITING);
	}
	return flush_finish(c, txn, &t, rc);
}

struct copy {
	int fd;
	bool ok;
};

static void write_piece(void *ctx, const void *bytes, size_t n)
{
	struct copy *c = ctx;
	c->ok = c->ok && os_write_fd(c->fd, bytes, n);
}

/* If the file has changed meanwhile, the checksum of the entry finds it. */
static bool write_payload(int fd, const struct cache_value *value)
{
	struct copy c = {fd, true};
	if (value->file)
		return os_read_pieces(value->file, write_piece, &c) && c.ok;
	return !value->payload || os_write_fd(fd, value->payload, value->payload_len);
}

/* Replaces the file of a large entry. The old file is not overwritten, because a reader may have mapped it. */
static int write_large(const struct cache *c, const struct cache_value *value)
{
	char name[LARGE_NAME], folder[] = "large/ab";
	cache_large_name(value->id, name);
	memcpy(folder, name, sizeof folder - 1);
	mkdirat(c->folder, "large", 0777);
	mkdirat(c->folder, folder, 0777);
	unlinkat(c->folder, name, 0);
	int fd = openat(c->folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0) /* something that is not ours is in its place: damage */
		return errno == EEXIST || errno == ENOTDIR || errno == ELOOP ? MDB_CORRUPTED : errno;
	int rc = os_write_fd(fd, value->entry, value->entry_len) && write_payload(fd, value) ? 0 : errno;
	close(fd);
	if (rc)
		unlinkat(c->folder, name, 0);
	return rc;
}

/* True if the entry is still reserved: another process may have evicted it. */
static bool flush_is_reserved(struct cache *c, MDB_txn *txn, hash128 id)
{
	struct cache_meta m;
	return cache_meta_get(c, txn, id, &m) == 0 && m.state == META_WRITING;
}

static int finish_large(struct cache *c, MDB_txn *txn, const struct cache_value *value)
{
	if (!flush_is_reserved(c, txn, value->id))
		return 0;
	int rc = write_large(c, value);
	return rc ? rc : cache_meta_put(c, txn, value->id, &value->meta);
}

static int put_small(struct cache *c, MDB_txn *txn, struct cache_totals *t, const struct cache_value *value)
{
	hash128 id = value->id;
	MDB_val k = {sizeof id, &id}, d = {value->entry_len, value->entry};
	int rc = put_meta(c, txn, t, value, META_SMALL);
	return rc ? rc : mdb_put(txn, c->entries, &k, &d, 0);
}

static int flush_find_all(void *cache, MDB_txn *txn)
{
	struct cache *c = cache;
	int rc = 0;
	for (uint32_t i = 0; i < c->values.len && !rc; i++) {
		const struct cache_value *v = &c->values.at[i];
		struct cache_meta m;
		hash128 id = v->id;
		MDB_val k = {sizeof id, &id}, d;
		if (!v->entry || meta_is_large(&v->meta))
			continue;
		rc = cache_meta_get(c, txn, id, &m);
		rc = rc ? rc : mdb_get(txn, c->entries, &k, &d);
	}
	return rc;
}

static int flush_write_all(struct cache *c, const struct needed_room *n)
{
	MDB_txn *txn;
	struct cache_totals t;
	struct needed_room small = {.small = n->small};
	int rc = flush_begin(c, &txn, &t);
	if (rc)
		return rc;
	if (!has_room(c, &t, &small))
		rc = MDB_MAP_FULL;
	if (!rc)
		rc = write_counts(c, txn, &t);
	for (uint32_t i = 0; i < c->values.len && !rc; i++) {
		const struct cache_value *v = &c->values.at[i];
		if (v->entry)
			rc = meta_is_large(&v->meta) ? finish_large(c, txn, v) : put_small(c, txn, &t, v);
	}
	rc = rc ? rc : cache_sweep(c, txn, &t);
	rc = rc ? rc : cache_totals_write(c, txn, &t);
	if (rc)
		mdb_txn_abort(txn);
	else
		rc = env_commit(c->env, txn, flush_find_all, c);
	if (!rc)
		clear_counts(c);
	c->failed = c->failed ? c->failed : rc;
	c->broken |= env_is_damage(rc);
	return c->failed;
}

/* Makes more and more room until the values fit: first as much as they need, in parts of the index, then much, in all of it. */
static int write_round(struct cache *c, const struct needed_room *n)
{
	static const unsigned shares[MOST_ROUNDS] = {252, 224, 192, 128, 64, 0};
	int rc = MDB_MAP_FULL;
	for (unsigned round = 0; rc == MDB_MAP_FULL && round < MOST_ROUNDS; round++) {
		bool evicted;
		rc = flush_make_room(c, n, shares[round], round > 0, &evicted);
		if (!rc && (n->large || evicted))
			rc = flush_reserve(c, n);
		if (!rc)
			rc = flush_write_all(c, n);
	}
	return rc;
}

static bool has_changes(const struct cache *c)
{
	bool any = c->counted;
	for (uint32_t i = 0; i < c->values.len && !any; i++)
		any = c->values.at[i].entry || c->values.at[i].touched;
	return any;
}

static int flush_all(struct cache *c)
{
	struct needed_room n = drop_what_cannot_fit(c);
	for (uint32_t i = 0; i < c->values.len; i++)
		if (c->values.at[i].entry)
			c->delta[c->values.at[i].meta.kind].stored++;
	c->counted |= n.entries > 0;
	crash_guard_enter(c->dir, CRASH_GUARD_WRITE);
	int rc = write_round(c, &n);
	crash_guard_leave();
	if (rc == ENOMEM) /* a damaged record made LMDB ask for too much memory */
		rc = MDB_CORRUPTED;
	bool cleared = rc == ENOENT;                   /* another process moved the cache away */
	return rc == MDB_MAP_FULL || cleared ? 0 : rc; /* a full cache is no failure: the values are not stored */
}

int cache_flush(struct cache *c)
{
	if (c->read_only || c->broken || !has_changes(c))
		return c->failed;
	int rc = flush_all(c);
	for (uint32_t i = 0; i < c->values.len; i++)
		if (c->values.at[i].entry)
			drop_entry(c, &c->values.at[i]);
	clear_counts(c);
	return rc;
}
