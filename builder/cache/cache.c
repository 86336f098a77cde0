/* Opens the cache, looks up entries and adds them. state.h describes the files. */
#include "builder/cache/cache.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>
#include "base/buf.h"
#include "base/bug.h"
#include "base/measure.h"
#include "base/os.h"
#include "base/usage.h"
#include "builder/cache/entry.h"
#include "builder/cache/state.h"
#include "builder/store/crash_guard.h"
#include "builder/store/store_env.h"

#define FORMAT "v4"
#define FLUSH_AT ((size_t)8 << 20)
enum { TABLES = 3 };

static const struct {
	const char *text, *help;
	enum cache_level level;
	bool compressed;
} kinds[] = {
#define KIND(id, text, level, compressed, help) {text, help, CACHE_##level, compressed},
#include "builder/cache/kinds.def"
};

const char *cache_kind_text(enum cache_kind k) { return kinds[k].text; }
enum cache_level cache_kind_level(enum cache_kind k) { return kinds[k].level; }
const char *cache_level_text(enum cache_level l) { return l == CACHE_L2 ? "l2" : "l3"; }

const char *cache_miss_text(enum cache_miss m)
{
	static const char *const texts[] = {"absent", "evicted", "expired", "damaged"};
	return texts[m];
}

char *cache_folder(const char *root)
{
	char *p;
	if (asprintf(&p, "%s/" FORMAT, root) < 0)
		bug_no_memory();
	return p;
}

static uint64_t clock_now(void) { return (uint64_t)time(NULL); }
uint32_t cache_now(const struct cache *c) { return (uint32_t)c->clock(); }

uint64_t cache_expired_before(const struct cache *c)
{
	uint64_t now = cache_now(c), age = c->limits.days * DAY_SECONDS;
	return c->limits.days && now > age ? now - age : 0;
}

void cache_large_name(hash128 id, char out[LARGE_NAME])
{
	char hex[33];
	hash_hex(id, hex);
	snprintf(out, LARGE_NAME, "large/%.2s/%s", hex, hex);
}

/* ---- opening ---- */

static int open_tables(struct cache *c, bool create)
{
	MDB_txn *txn;
	unsigned flags = create ? MDB_CREATE : 0;
	int rc = env_begin(c->env, create ? 0 : MDB_RDONLY, &txn);
	if (rc)
		return rc;
	rc = mdb_dbi_open(txn, "index", flags, &c->index);
	rc = rc ? rc : mdb_dbi_open(txn, "entries", flags, &c->entries);
	rc = rc ? rc : mdb_dbi_open(txn, "state", flags, &c->state);
	if (!rc)
		return mdb_txn_commit(txn);
	mdb_txn_abort(txn);
	return rc;
}

static int cache_open_env(struct cache *c)
{
	struct env_options o = {.map = cache_map_size(&c->limits), .tables = TABLES, .read_only = c->read_only, .create = !c->read_only};
	int rc = env_open(&c->env, &c->folder, c->dir, &o);
	crash_guard_enter(c->dir, CRASH_GUARD_READ);
	if (!rc && (rc = open_tables(c, false)) == MDB_NOTFOUND && !c->read_only)
		rc = open_tables(c, true);
	if (!rc)
		rc = mdb_txn_begin(c->env, NULL, MDB_RDONLY, &c->reader);
	if (!rc)
		mdb_txn_reset(c->reader);
	crash_guard_leave();
	return rc;
}

static void close_env(struct cache *c)
{
	crash_guard_enter(c->dir, CRASH_GUARD_NO_LIMIT);
	if (c->reader)
		mdb_txn_abort(c->reader);
	crash_guard_leave();
	c->reader = NULL;
	env_close(c->env, c->dir);
	c->env = NULL;
	if (c->folder >= 0)
		close(c->folder);
	c->folder = -1;
}

static bool cannot_write(int rc) { return rc == EACCES || rc == EROFS || rc == EPERM; }

static int open_folder(struct cache *c, const struct cache_options *o, struct buf *warning)
{
	int rc = cache_open_env(c);
	if (cannot_write(rc) && !c->read_only) {
		close_env(c);
		c->read_only = true;
		rc = cache_open_env(c);
	}
	if (!env_is_damage(rc) || o->inspect || c->read_only)
		return rc;
	close_env(c);
	env_move_away(c->dir);
	buf_printf(warning, "the cache in %s was damaged (%s); a new one was created\n", c->dir, mdb_strerror(rc));
	return cache_open_env(c);
}

static void free_cache(struct cache *c)
{
	close_env(c);
	for (uint32_t i = 0; i < c->values.len; i++) {
		struct cache_value *v = &c->values.at[i];
		if (v->mapped)
			munmap(v->mapped, v->mapped_len);
		free(v->owned);
		free(v->entry);
	}
	vec_free(&c->values);
	map_free(&c->known);
	pthread_mutex_destroy(&c->lock);
	ZSTD_freeDCtx(c->unpack);
	free(c->dir);
	free(c);
}

struct cache *cache_open(const struct cache_options *o, struct buf *warning)
{
	struct cache *c = calloc(1, sizeof *c);
	if (!c)
		bug_no_memory();
	*c = (struct cache){.dir = strdup(o->dir), .folder = -1, .limits = o->limits, .compress = o->compress, .levels = o->levels};
	c->read_only = o->read_only || o->inspect;
	c->clock = o->clock ? o->clock : clock_now;
	pthread_mutex_init(&c->lock, NULL);
	if (!c->read_only && access(o->dir, F_OK) != 0)
		env_sweep(o->dir);
	int rc = open_folder(c, o, warning);
	if (!rc)
		return c;
	if (!(c->read_only && (rc == ENOENT || rc == MDB_NOTFOUND)))
		buf_printf(warning, "the cache in %s cannot be used: %s\n", o->dir, mdb_strerror(rc));
	free_cache(c);
	return NULL;
}

bool cache_close(struct cache *c, struct buf *warning)
{
	if (!c)
		return true;
	pthread_mutex_lock(&c->lock);
	int rc = cache_flush(c);
	pthread_mutex_unlock(&c->lock);
	if (c->broken || env_is_damage(rc)) { /* a write to a damaged environment might crash */
		close_env(c);
		if (!c->read_only)
			env_move_away(c->dir);
		buf_printf(warning, "the cache in %s was damaged; the next build creates a new one\n", c->dir);
	} else if (rc) {
		buf_printf(warning, "cannot write to the cache in %s: %s\n", c->dir, mdb_strerror(rc));
	}
	bool ok = rc == 0 && !c->broken;
	free_cache(c);
	return ok;
}

/* ---- looking up ---- */

static void count_miss(struct cache *c, enum cache_kind kind, enum cache_miss why)
{
	c->delta[kind].misses[why]++;
	c->counted = true;
}

struct lookups cache_lookups(struct cache *c, enum cache_level level)
{
	struct lookups l = {0};
	if (!c)
		return l;
	pthread_mutex_lock(&c->lock);
	l = c->lookups[level];
	pthread_mutex_unlock(&c->lock);
	return l;
}

void cache_count_compile(struct cache *c, enum compile_reason why)
{
	if (!c)
		return;
	pthread_mutex_lock(&c->lock);
	c->compiled[why]++;
	c->counted = true;
	pthread_mutex_unlock(&c->lock);
}

/* Adds a value to those of this process. */
static const void *cache_remember(struct cache *c, const struct cache_value *value)
{
	map_put(&c->known, value->id, c->values.len);
	vec_push(&c->values, *value);
	return value->bytes;
}

static bool cache_read_small(struct cache *c, enum cache_kind kind, struct cache_value *cache_value)
{
	MDB_val k = {sizeof cache_value->id, &cache_value->id}, d;
	int rc = mdb_get(c->reader, c->entries, &k, &d);
	c->broken |= env_is_damage(rc);
	if (rc || !entry_is_valid(d.mv_data, d.mv_size, kind, cache_value->id))
		return false;
	const void *value = entry_value(&c->unpack, d.mv_data, d.mv_size, &cache_value->len, &cache_value->owned);
	if (value && !cache_value->owned) { /* a later transaction may reuse the pages of the map */
		cache_value->owned = malloc(cache_value->len ? cache_value->len : 1);
		if (!cache_value->owned)
			bug_no_memory();
		value = memcpy(cache_value->owned, value, cache_value->len);
	}
	cache_value->bytes = value;
	return value != NULL;
}

static bool map_large(const struct cache *c, hash128 id, const void **data, size_t *len)
{
	char name[LARGE_NAME];
	struct stat st;
	cache_large_name(id, name);
	int fd = openat(c->folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* O_NONBLOCK: never wait for a pipe */
	if (fd < 0)
		return false;
	void *p = MAP_FAILED;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
		p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	*data = p;
	*len = (size_t)st.st_size;
	usage_of_thread.files_read++;
	return p != MAP_FAILED;
}

static bool cache_read_large(struct cache *c, enum cache_kind kind, struct cache_value *value)
{
	const void *data;
	if (!map_large(c, value->id, &data, &value->mapped_len))
		return false;
	value->mapped = (void *)(uintptr_t)data;
	value->bytes = entry_is_valid(data, value->mapped_len, kind, value->id)
			       ? entry_value(&c->unpack, data, value->mapped_len, &value->len, &value->owned)
			       : NULL;
	if (value->bytes && !value->owned)
		return true;
	munmap(value->mapped, value->mapped_len);
	value->mapped = NULL;
	return value->bytes != NULL;
}

/* True if the next eviction would remove the entry because of its age. */
static bool is_expired(const struct cache *c, const struct cache_meta *meta) { return meta->used < cache_expired_before(c); }

/* Under a read transaction. */
static bool cache_find_entry(struct cache *c, enum cache_kind kind, struct cache_value *value, enum cache_miss *why)
{
	int rc = cache_meta_get(c, c->reader, value->id, &value->meta);
	c->broken |= env_is_damage(rc);
	*why = MISS_ABSENT;
	if (rc)
		return false;
	*why = MISS_DAMAGED;
	if (value->meta.state == META_STATES)
		return false;
	if (meta_is_removed(&value->meta)) {
		*why = value->meta.state == META_EVICTED ? MISS_EVICTED : MISS_EXPIRED;
		return false;
	}
	*why = MISS_EXPIRED;
	if (is_expired(c, &value->meta))
		return false;
	*why = MISS_DAMAGED;
	return value->meta.state == META_SMALL ? cache_read_small(c, kind, value) : cache_read_large(c, kind, value);
}

static const void *cache_look_up(struct cache *c, enum cache_kind kind, hash128 id, size_t *len)
{
	struct cache_value v = {.id = id};
	enum cache_miss why = MISS_ABSENT;
	crash_guard_enter(c->dir, CRASH_GUARD_READ);
	int rc = mdb_txn_renew(c->reader);
	if (rc == MDB_MAP_RESIZED && (rc = mdb_env_set_mapsize(c->env, 0)) == 0)
		rc = mdb_txn_renew(c->reader);
	bool found = !rc && cache_find_entry(c, kind, &v, &why);
	if (!rc)
		mdb_txn_reset(c->reader);
	crash_guard_leave();
	c->broken |= env_is_damage(rc);
	lookups_count(&c->lookups[kinds[kind].level], found);
	if (!found) {
		count_miss(c, kind, why);
		return NULL;
	}
	uint32_t now = cache_now(c);
	v.touched = now >= v.meta.used + CACHE_TOUCH_SECONDS || now < v.meta.used; /* also if the clock went backwards */
	v.meta.used = now;
	c->delta[kind].hits++;
	c->counted = true;
	*len = v.len;
	return cache_remember(c, &v);
}

bool cache_uses(const struct cache *c, enum cache_kind kind) { return c && c->levels >> kinds[kind].level & 1; }

const void *cache_get(struct cache *c, enum cache_kind kind, hash128 key, size_t *len)
{
	uint64_t at;
	const void *p = NULL;
	if (!cache_uses(c, kind))
		return NULL;
	measure_begin("cache read");
	hash128 id = cache_id(kind, key);
	pthread_mutex_lock(&c->lock);
	if (map_get(&c->known, id, &at)) {
		*len = c->values.at[at].len;
		p = c->values.at[at].bytes;
	} else if (!c->broken) {
		p = cache_look_up(c, kind, id, len);
		usage_of_thread.read += p ? *len : 0;
	}
	pthread_mutex_unlock(&c->lock);
	measure_end();
	return p;
}

bool cache_has(struct cache *c, enum cache_kind kind, hash128 key)
{
	hash128 id = cache_id(kind, key);
	struct cache_meta m;
	bool has = false;
	if (!cache_uses(c, kind) || c->broken)
		return false;
	pthread_mutex_lock(&c->lock);
	crash_guard_enter(c->dir, CRASH_GUARD_READ);
	if (mdb_txn_renew(c->reader) == 0) {
		has = cache_meta_get(c, c->reader, id, &m) == 0 && meta_is_stored(&m) && !is_expired(c, &m);
		mdb_txn_reset(c->reader);
	}
	crash_guard_leave();
	pthread_mutex_unlock(&c->lock);
	return has;
}

const void *cache_find(struct cache *c, enum cache_kind kind, hash128 key, size_t *len)
{
	return cache_has(c, kind, key) ? cache_get(c, kind, key, len) : NULL;
}

/* ---- adding ---- */

/* The bytes on disk of a value in LMDB: part of a leaf page, of which a third is empty, or pages of its own. */
static uint64_t small_charge(size_t len)
{
	enum { PAGE = 4096, HEAD = 16, NODE = 40, IN_LEAF = 1900, INDEX = 110 };
	if (len <= IN_LEAF)
		return INDEX + (len + NODE) * 3 / 2;
	return INDEX + NODE * 3 / 2 + (len + HEAD + PAGE - 1) / PAGE * PAGE;
}

static uint64_t large_charge(size_t len) { return small_charge(0) + (len + 4095) / 4096 * 4096; }

/* Where the entry is stored, by its size. */
static void set_place(struct cache_value *value)
{
	size_t all = value->entry_len + value->payload_len;
	bool large = all > CACHE_LARGE;
	value->meta.state = large ? META_LARGE : META_SMALL;
	value->meta.charge = large ? large_charge(all) : small_charge(all);
}

/* Encodes the head of an entry, whose payload is elsewhere. */
static void make_head(enum cache_kind kind, uint64_t digest, struct cache_value *value)
{
	struct buf b = {0};
	entry_encode_head(&b, kind, value->id, value->len, digest);
	value->entry = b.at;
	value->entry_len = b.len;
	value->payload_len = value->len;
	set_place(value);
}

/* Encodes the entry, without the lock. */
static void cache_make_entry(const struct cache *c, enum cache_kind kind, const void *bytes, struct cache_value *value)
{
	struct buf b = {0};
	if (value->len > CACHE_AS_IS) {
		make_head(kind, hash64_bytes(bytes, value->len), value);
		value->payload = bytes;
		return;
	}
	entry_encode(&b, kind, value->id, bytes, value->len, kinds[kind].compressed ? c->compress : 0);
	value->entry = b.at;
	value->entry_len = b.len;
	set_place(value);
}

static bool cache_is_written(const struct cache *c, enum cache_kind kind) { return c && !c->read_only && cache_uses(c, kind); }

/* A value without its bytes and its entry. */
static struct cache_value cache_new_value(const struct cache *c, enum cache_kind kind, hash128 key, size_t len, int64_t cost_ns)
{
	struct cache_value v = {.id = cache_id(kind, key), .len = len};
	uint64_t us = cost_ns > 0 ? (uint64_t)cost_ns / 1000 : 0;
	v.meta = (struct cache_meta){.raw = len, .kind = (uint8_t)kind, .cost_us = us < UINT32_MAX ? (uint32_t)us : UINT32_MAX};
	v.meta.used = v.meta.made = cache_now(c);
	return v;
}

/* Under the lock. */
static void add_pending(struct cache *c, size_t bytes)
{
	c->pending += bytes;
	if (c->pending > FLUSH_AT)
		cache_flush(c);
}

const void *cache_put(struct cache *c, enum cache_kind kind, hash128 key, const void *bytes, size_t len, int64_t cost_ns)
{
	uint64_t at;
	if (!c)
		return NULL;
	measure_begin("cache write");
	struct cache_value v = cache_new_value(c, kind, key, len, cost_ns);
	if (cache_is_written(c, kind))
		cache_make_entry(c, kind, bytes, &v);
	usage_of_thread.written += v.entry_len + v.payload_len;
	v.owned = malloc(len ? len : 1);
	if (!v.owned)
		bug_no_memory();
	v.bytes = len ? memcpy(v.owned, bytes, len) : v.owned;
	if (v.payload)
		v.payload = v.bytes;
	pthread_mutex_lock(&c->lock);
	const void *stored;
	if (map_get(&c->known, v.id, &at) && c->values.at[at].len == len && memcmp(c->values.at[at].bytes, bytes, len) == 0) {
		stored = c->values.at[at].bytes;
		free(v.owned);
		free(v.entry);
	} else {
		stored = cache_remember(c, &v);
		add_pending(c, v.payload_len ? 0 : v.entry_len);
	}
	pthread_mutex_unlock(&c->lock);
	measure_end();
	return stored;
}

/* Adds a value that does not stay in memory. A payload is the caller's, so it must not wait. */
static void cache_add_value(struct cache *c, const struct cache_value *value)
{
	usage_of_thread.written += value->entry_len + value->payload_len;
	pthread_mutex_lock(&c->lock);
	if (value->payload_len && c->broken) {
		free(value->entry);
	} else {
		vec_push(&c->values, *value);
		if (value->payload_len)
			cache_flush(c);
		else
			add_pending(c, value->entry_len);
	}
	pthread_mutex_unlock(&c->lock);
}

void cache_add(struct cache *c, enum cache_kind kind, hash128 key, const void *bytes, size_t len, int64_t cost_ns)
{
	if (!cache_is_written(c, kind))
		return;
	measure_begin("cache write");
	struct cache_value v = cache_new_value(c, kind, key, len, cost_ns);
	cache_make_entry(c, kind, bytes, &v);
	cache_add_value(c, &v);
	measure_end();
}

static void cache_add_piece(void *hasher, const void *bytes, size_t n) { hasher_add(hasher, bytes, n); }

/* The head of the entry of a large file. False: the file cannot be read. */
static bool make_file_entry(enum cache_kind kind, const char *path, struct cache_value *value)
{
	struct hasher *h = hasher_new();
	bool ok = os_read_pieces(path, cache_add_piece, h);
	uint64_t digest = hasher_finish64(h);
	if (!ok)
		return false;
	make_head(kind, digest, value);
	value->file = path;
	return true;
}

void cache_add_file(struct cache *c, enum cache_kind kind, hash128 key, const char *path, size_t len)
{
	const void *bytes;
	size_t mapped;
	if (!cache_is_written(c, kind))
		return;
	if (len <= CACHE_AS_IS) {
		if (os_map_file(path, &bytes, &mapped)) {
			cache_add(c, kind, key, bytes, mapped, 0);
			os_unmap(bytes, mapped);
		}
		return;
	}
	measure_begin("cache write");
	struct cache_value v = cache_new_value(c, kind, key, len, 0);
	if (make_file_entry(kind, path, &v))
		cache_add_value(c, &v);
	measure_end();
}
