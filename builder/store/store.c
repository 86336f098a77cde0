/* A store's folder has data.mdb and lock.mdb (LMDB, https://www.symas.com/lmdb, one unnamed database, 16-byte keys), and large/ab/<key>
 * for values above STORE_LARGE. All values start with `struct head`. Commits are not synced: after a power cut the newest values may be
 * missing or damaged, and checksums find that. crash_guard.c handles damage to LMDB's own pages. */
#include "builder/store/store.h"
#include <errno.h>
#include <lmdb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/bug.h"
#include "base/map.h"
#include "base/os.h"
#include "base/path.h"
#include "base/vec.h"
#include "builder/store/crash_guard.h"
#include "builder/store/store_env.h"

#define FIRST_MAP ((size_t)256 << 20)
#define FLUSH_AT ((size_t)64 << 20)
enum { DAY = 24 * 60 * 60, MAX_DOUBLINGS = 16, FORMAT = 2 };

struct head {
	uint64_t check; /* of key, length and payload, so that a value at the wrong key counts as damaged */
	uint64_t len;
	uint32_t day; /* of the last use, in days since 1970; not part of the checksum */
	uint32_t format;
	uint32_t zero[2];
};
_Static_assert(sizeof(struct head) == 32, "values start aligned");

struct value {
	hash128 key;
	char *bytes;                   /* head and payload */
	size_t len;                    /* of both */
	bool mapped, pending, touched; /* touched: only its day must be written */
};

struct store {
	char *dir;
	MDB_env *env;
	MDB_dbi dbi;
	pthread_mutex_t lock; /* guards the following and the map size */
	VEC(struct value) values;
	struct map index; /* key → values index */
	size_t pending;
	bool broken;
};

static uint32_t today(void) { return (uint32_t)(time(NULL) / DAY); }

static uint64_t store_checksum(hash128 key, const void *p, size_t n)
{
	const uint64_t name[] = {key.lo, key.hi, n};
	return hash64_bytes(p, n) ^ hash64_bytes(name, sizeof name);
}

enum validity { VALID, DAMAGED, OLD_FORMAT };

static enum validity store_check_value(hash128 key, const char *bytes, size_t len)
{
	struct head h;
	if (len < sizeof h)
		return DAMAGED;
	memcpy(&h, bytes, sizeof h);
	if (h.format != FORMAT)
		return OLD_FORMAT;
	return h.len == len - sizeof h && h.check == store_checksum(key, bytes + sizeof h, h.len) ? VALID : DAMAGED;
}

static char *path_in(const char *dir, const char *name)
{
	char *p;
	if (asprintf(&p, "%s/%s", dir, name) < 0)
		bug_no_memory();
	return p;
}

static char *large_path(const struct store *s, hash128 key, char **folder)
{
	char hex[33], name[64];
	hash_hex(key, hex);
	snprintf(name, sizeof name, "large/%.2s", hex);
	*folder = path_in(s->dir, name);
	return path_in(*folder, hex);
}

hash128 store_key(const char *kind, const char *name)
{
	struct hasher *h = hasher_new();
	hasher_add_str(h, kind);
	hasher_add_str(h, name);
	return hasher_finish(h);
}

static int store_open_env(struct store *s, bool create)
{
	MDB_txn *txn = NULL;
	int folder, rc = env_open(&s->env, &folder, s->dir, &(struct env_options){.map = FIRST_MAP, .create = create});
	if (rc)
		return rc;
	close(folder);
	crash_guard_enter(s->dir, CRASH_GUARD_READ);
	rc = env_begin(s->env, MDB_RDONLY, &txn);
	if (!rc) {
		rc = mdb_dbi_open(txn, NULL, 0, &s->dbi);
		mdb_txn_abort(txn);
	}
	crash_guard_leave();
	if (rc) {
		env_close(s->env, s->dir);
		s->env = NULL;
	}
	return rc;
}

static void free_value(struct value *v)
{
	if (v->mapped)
		os_unmap(v->bytes, v->len);
	else
		free(v->bytes);
}

static void free_store(struct store *s)
{
	for (uint32_t i = 0; i < s->values.len; i++)
		free_value(&s->values.at[i]);
	env_close(s->env, s->dir);
	vec_free(&s->values);
	map_free(&s->index);
	pthread_mutex_destroy(&s->lock);
	free(s->dir);
	free(s);
}

struct store *store_open(const char *dir, bool create, struct buf *warning)
{
	char *file = path_in(dir, "data.mdb");
	bool exists = access(file, F_OK) == 0;
	free(file);
	if (!exists && !create)
		return NULL;
	if (!exists)
		env_sweep(dir);
	struct store *s = calloc(1, sizeof *s);
	if (!s)
		bug_no_memory();
	s->dir = strdup(dir);
	pthread_mutex_init(&s->lock, NULL);
	int rc = store_open_env(s, create);
	if (!create && rc == ENOENT) { /* another process removed it */
		free_store(s);
		return NULL;
	}
	if (env_is_damage(rc)) {
		env_move_away(dir);
		buf_printf(warning, "the store in %s was damaged (%s); a new one was created\n", dir, mdb_strerror(rc));
		rc = store_open_env(s, true);
	}
	if (!rc)
		return s;
	buf_printf(warning, "the store in %s cannot be used: %s\n", dir, mdb_strerror(rc));
	free_store(s);
	return NULL;
}

/* With the lock held: adds a value to those of this process and returns its payload. */
static const void *store_remember(struct store *s, struct value v, size_t *len)
{
	uint64_t at;
	if (len)
		*len = v.len - sizeof(struct head);
	if (map_get(&s->index, v.key, &at)) {
		struct value *old = &s->values.at[at];
		if (!v.pending || (old->len == v.len && memcmp(old->bytes + sizeof(struct head), v.bytes + sizeof(struct head),
							       v.len - sizeof(struct head)) == 0)) {
			free_value(&v);
			if (len)
				*len = old->len - sizeof(struct head);
			return old->bytes + sizeof(struct head);
		}
	}
	if (v.pending)
		s->pending += v.len;
	vec_push(&s->values, v);
	map_put(&s->index, v.key, s->values.len - 1);
	return v.bytes + sizeof(struct head);
}

static void copy_value(struct value *v, const MDB_val *d)
{
	struct head h;
	v->len = d->mv_size;
	v->bytes = malloc(v->len);
	if (!v->bytes)
		bug_no_memory();
	memcpy(v->bytes, d->mv_data, v->len);
	memcpy(&h, v->bytes, sizeof h);
	v->touched = h.day != today();
}

static bool store_read_small(struct store *s, hash128 key, struct value *v)
{
	MDB_txn *txn;
	MDB_val k = {sizeof key, &key}, d;
	bool ok = false;
	crash_guard_enter(s->dir, CRASH_GUARD_READ);
	int rc = env_begin(s->env, MDB_RDONLY, &txn);
	if (!rc) {
		rc = mdb_get(txn, s->dbi, &k, &d);
		enum validity is = rc ? OLD_FORMAT : store_check_value(key, d.mv_data, d.mv_size);
		s->broken |= is == DAMAGED;
		ok = is == VALID;
		if (ok)
			copy_value(v, &d);
		mdb_txn_abort(txn);
	}
	crash_guard_leave();
	s->broken |= env_is_damage(rc);
	return ok;
}

static bool store_read_large(struct store *s, hash128 key, struct value *v)
{
	char *folder, *path = large_path(s, key, &folder);
	const void *data;
	bool ok = false;
	if (os_map_file(path, &data, &v->len)) {
		ok = data && store_check_value(key, data, v->len) == VALID;
		if (ok) {
			v->bytes = (char *)(uintptr_t)data;
			v->mapped = true;
		} else if (data) {
			os_unmap(data, v->len);
		}
		if (!ok)
			unlink(path);
	}
	free(folder);
	free(path);
	return ok;
}

const void *store_get(struct store *s, hash128 key, size_t *len)
{
	uint64_t at;
	const void *p = NULL;
	if (!s)
		return NULL;
	struct value v = {.key = key};
	pthread_mutex_lock(&s->lock);
	if (map_get(&s->index, key, &at)) {
		*len = s->values.at[at].len - sizeof(struct head);
		p = s->values.at[at].bytes + sizeof(struct head);
	} else if (store_read_small(s, key, &v) || store_read_large(s, key, &v)) {
		p = store_remember(s, v, len);
	}
	pthread_mutex_unlock(&s->lock);
	return p;
}

const void *store_put(struct store *s, hash128 key, const void *bytes, size_t len)
{
	if (!s)
		return NULL;
	struct value v = {.key = key, .len = sizeof(struct head) + len, .pending = true};
	struct head h = {.check = store_checksum(key, bytes, len), .len = len, .day = today(), .format = FORMAT};
	v.bytes = malloc(v.len);
	if (!v.bytes)
		bug_no_memory();
	memcpy(v.bytes, &h, sizeof h);
	if (len)
		memcpy(v.bytes + sizeof h, bytes, len);
	pthread_mutex_lock(&s->lock);
	const void *stored = store_remember(s, v, NULL);
	bool full = s->pending > FLUSH_AT;
	pthread_mutex_unlock(&s->lock);
	if (full)
		store_flush(s, NULL);
	return stored;
}

static int store_find_all(void *store, MDB_txn *txn)
{
	struct store *s = store;
	int rc = 0;
	for (uint32_t i = 0; i < s->values.len && !rc; i++) {
		struct value *v = &s->values.at[i];
		MDB_val k = {sizeof v->key, &v->key}, d;
		if (v->len <= STORE_LARGE && v->pending)
			rc = mdb_get(txn, s->dbi, &k, &d);
	}
	return rc;
}

static int store_put_all(struct store *s)
{
	MDB_txn *txn;
	int rc = env_begin(s->env, 0, &txn);
	if (rc)
		return rc;
	for (uint32_t i = 0; i < s->values.len && !rc; i++) {
		struct value *v = &s->values.at[i];
		if (v->len > STORE_LARGE || !(v->pending || v->touched))
			continue;
		struct head h;
		memcpy(&h, v->bytes, sizeof h);
		h.day = today();
		memcpy(v->bytes, &h, sizeof h);
		MDB_val k = {sizeof v->key, &v->key}, d = {v->len, v->bytes};
		rc = mdb_put(txn, s->dbi, &k, &d, 0);
	}
	if (rc)
		mdb_txn_abort(txn);
	else
		rc = env_commit(s->env, txn, store_find_all, s);
	return rc;
}

static int flush_small(struct store *s)
{
	crash_guard_enter(s->dir, CRASH_GUARD_WRITE);
	int rc = store_put_all(s);
	for (int i = 0; rc == MDB_MAP_FULL && i < MAX_DOUBLINGS; i++) {
		MDB_envinfo info;
		mdb_env_info(s->env, &info);
		if (mdb_env_set_mapsize(s->env, info.me_mapsize * 2))
			break;
		rc = store_put_all(s);
	}
	crash_guard_leave();
	return rc == ENOMEM ? MDB_CORRUPTED : rc; /* a damaged record made LMDB ask for too much memory */
}

static int flush_large(struct store *s)
{
	int rc = 0;
	for (uint32_t i = 0; i < s->values.len && !rc; i++) {
		struct value *v = &s->values.at[i];
		if (!v->pending || v->len <= STORE_LARGE)
			continue;
		char *folder, *path = large_path(s, v->key, &folder);
		if (!os_mkdirs(folder) || !os_write_atomic(path, v->bytes, v->len, 0644, false))
			rc = errno;
		else
			v->pending = false;
		os_remove_temporaries(folder);
		free(folder);
		free(path);
	}
	return rc;
}

bool store_flush(struct store *s, struct buf *warning)
{
	bool any = false;
	if (!s)
		return true;
	pthread_mutex_lock(&s->lock);
	for (uint32_t i = 0; i < s->values.len && !any; i++)
		any = s->values.at[i].pending;
	int rc = any && !s->broken ? flush_large(s) : 0;
	if (any && !rc && !s->broken)
		rc = flush_small(s);
	s->broken |= env_is_damage(rc);
	for (uint32_t i = 0; any && !s->broken && i < s->values.len; i++)
		s->values.at[i].pending = s->values.at[i].touched = false;
	s->pending = 0;
	pthread_mutex_unlock(&s->lock);
	if (rc && !s->broken && warning)
		buf_printf(warning, "cannot write to the store in %s: %s\n", s->dir, mdb_strerror(rc));
	return rc == 0;
}

/* A write to a damaged environment might crash. So the records of this build go into a new one. */
static bool recreate(struct store *s, struct buf *warning)
{
	buf_printf(warning, "the store in %s was damaged; a new one was created\n", s->dir);
	env_close(s->env, s->dir);
	s->env = NULL;
	env_move_away(s->dir);
	if (store_open_env(s, true) != 0)
		return false;
	s->broken = false;
	return store_flush(s, warning);
}

bool store_close(struct store *s, struct buf *warning)
{
	if (!s)
		return true;
	bool ok = store_flush(s, warning);
	if (s->broken)
		ok = recreate(s, warning);
	free_store(s);
	return ok;
}
