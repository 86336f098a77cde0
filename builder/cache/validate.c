/* `trib cache validate`: compares the index with entries and files, and checks every checksum. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "builder/cache/maintenance.h"
#include "builder/cache/entry.h"
#include "builder/cache/state.h"
#include "builder/store/crash_guard.h"
#include "builder/store/store_env.h"

struct fault {
	hash128 id;
	struct cache_meta meta;
	bool indexed; /* false: an entry that is not in the index */
};
struct check {
	struct cache *c;
	MDB_txn *txn;
	cache_fault *found;
	void *ctx;
	VEC(struct fault) faults;
	VEC(hash128) files; /* large entries that are not in the index */
	uint64_t checked, n_faults;
};

static void report_fault(struct check *k, const char *kind, hash128 id, const char *what)
{
	char hex[33];
	hash_hex(id, hex);
	k->n_faults++;
	k->found(k->ctx, kind, hex, what);
}

static const char *check_entry(struct cache *c, const void *entry, size_t len, uint32_t kind, hash128 id)
{
	size_t n;
	void *owned;
	if (!entry_is_valid(entry, len, kind, id))
		return "its checksum does not match";
	bool ok = entry_value(&c->unpack, entry, len, &n, &owned) != NULL;
	free(owned);
	return ok ? NULL : "it cannot be decompressed";
}

static const char *check_small(struct check *k, hash128 id, const struct cache_meta *meta)
{
	MDB_val key = {sizeof id, &id}, d;
	if (mdb_get(k->txn, k->c->entries, &key, &d) != 0)
		return "it is in the index, but missing";
	return check_entry(k->c, d.mv_data, d.mv_size, meta->kind, id);
}

static const char *check_large(struct check *k, hash128 id, const struct cache_meta *meta)
{
	char name[LARGE_NAME];
	struct stat st;
	const char *killed = meta->state == META_WRITING ? "its writer was killed" : NULL;
	cache_large_name(id, name);
	int fd = openat(k->c->folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return killed ? killed : "its file is missing";
	void *p = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0
			  ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0)
			  : MAP_FAILED;
	close(fd);
	if (p == MAP_FAILED)
		return killed ? killed : "its file is empty";
	const char *what = check_entry(k->c, p, (size_t)st.st_size, meta->kind, id);
	munmap(p, (size_t)st.st_size);
	return what && killed ? killed : what;
}

static void check_record(void *check, hash128 id, const struct cache_meta *meta)
{
	struct check *k = check;
	const char *what = NULL, *kind = "index";
	if (meta->state == META_STATES) {
		what = "its record in the index is damaged";
	} else if (!meta_is_removed(meta)) {
		k->checked++;
		kind = cache_kind_text((enum cache_kind)meta->kind);
		what = meta_is_large(meta) ? check_large(k, id, meta) : check_small(k, id, meta);
	}
	if (!what)
		return;
	report_fault(k, kind, id, what);
	vec_push(&k->faults, ((struct fault){.id = id, .meta = *meta, .indexed = true}));
}

static bool indexed(struct check *k, hash128 id, bool large)
{
	struct cache_meta m;
	return cache_meta_get(k->c, k->txn, id, &m) == 0 && (m.state == META_STATES || (meta_is_stored(&m) && meta_is_large(&m) == large));
}

static int validate_check_entries(struct check *k)
{
	MDB_cursor *cursor;
	MDB_val key, d;
	int rc = mdb_cursor_open(k->txn, k->c->entries, &cursor);
	if (rc)
		return rc;
	while ((rc = mdb_cursor_get(cursor, &key, &d, MDB_NEXT)) == 0) {
		struct fault f = {.meta.state = META_SMALL};
		if (key.mv_size != sizeof f.id)
			continue;
		memcpy(&f.id, key.mv_data, sizeof f.id);
		if (indexed(k, f.id, false))
			continue;
		report_fault(k, "entry", f.id, "it is missing from the index");
		vec_push(&k->faults, f);
	}
	mdb_cursor_close(cursor);
	return rc == MDB_NOTFOUND ? 0 : rc;
}

static void validate_check_folder(struct check *k, const char *name)
{
	int fd = openat(k->c->folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	for (struct dirent *e; d && (e = readdir(d));) {
		hash128 id;
		if (!hash_parse_hex(e->d_name, &id) || indexed(k, id, true))
			continue;
		report_fault(k, "file", id, "it is missing from the index");
		vec_push(&k->files, id);
	}
	if (d)
		closedir(d);
}

static void check_files(struct check *k)
{
	static const char digits[] = "0123456789abcdef";
	for (uint32_t i = 0; i < 256; i++) {
		char name[] = "large/00";
		name[6] = digits[i / 16];
		name[7] = digits[i % 16];
		validate_check_folder(k, name);
	}
}

static int check_totals(struct check *k)
{
	struct cache_totals stored, counted;
	int rc = cache_totals_read(k->c, k->txn, &stored);
	counted = stored;
	rc = rc ? rc : cache_recount(k->c, k->txn, &counted);
	if (!rc && memcmp(&stored, &counted, sizeof stored) != 0)
		report_fault(k, "index", (hash128){0, 0}, "its totals are wrong");
	return rc;
}

static int repair(struct check *k)
{
	struct cache_totals t;
	int rc = cache_totals_read(k->c, k->txn, &t);
	for (uint32_t i = 0; i < k->faults.len && !rc; i++) {
		struct fault *f = &k->faults.at[i];
		MDB_val key = {sizeof f->id, &f->id};
		rc = f->indexed ? cache_remove(k->c, k->txn, &t, f->id, &f->meta, META_STATES) : mdb_del(k->txn, k->c->entries, &key, NULL);
		rc = rc == MDB_NOTFOUND ? 0 : rc;
	}
	for (uint32_t i = 0; i < k->files.len; i++) {
		char name[LARGE_NAME];
		cache_large_name(k->files.at[i], name);
		unlinkat(k->c->folder, name, 0);
	}
	rc = rc ? rc : cache_recount(k->c, k->txn, &t);
	return rc ? rc : cache_totals_write(k->c, k->txn, &t);
}

/* Under the write lock if possible, so that no process writes meanwhile. */
bool cache_validate(struct cache *c, bool with_repair, cache_fault *found, void *ctx, uint64_t *checked, uint64_t *faults)
{
	struct check k = {.c = c, .found = found, .ctx = ctx};
	errno = EROFS;
	if (with_repair && c->read_only)
		return false;
	pthread_mutex_lock(&c->lock);
	crash_guard_enter(c->dir, CRASH_GUARD_NO_LIMIT);
	int rc = env_begin(c->env, c->read_only ? MDB_RDONLY : 0, &k.txn);
	if (!rc) {
		rc = cache_meta_each(c, k.txn, check_record, &k);
		rc = rc ? rc : validate_check_entries(&k);
		if (!rc)
			check_files(&k);
		rc = rc ? rc : check_totals(&k);
		bool write = with_repair && !rc && k.n_faults;
		rc = write ? repair(&k) : rc;
		if (write && !rc)
			rc = mdb_txn_commit(k.txn);
		else
			mdb_txn_abort(k.txn);
	}
	crash_guard_leave();
	pthread_mutex_unlock(&c->lock);
	vec_free(&k.faults);
	vec_free(&k.files);
	*checked = k.checked;
	*faults = k.n_faults;
	errno = rc > 0 ? rc : EIO;
	return rc == 0;
}
