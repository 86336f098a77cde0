/* LMDB's file never shrinks. When half of it is free, it is copied without the free pages into a new folder. That folder replaces the
 * old one while the write lock is held. Processes that have the old one open go on using it. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/os.h"
#include "base/path.h"
#include "builder/cache/maintenance.h"
#include "builder/cache/state.h"
#include "builder/store/crash_guard.h"
#include "builder/store/store_env.h"

enum { REMOVE_TRIES = 16 };
#define WORTH_COMPACTING ((uint64_t)1 << 20) /* bytes of free pages */

static bool prune_failed(int rc)
{
	errno = rc > 0 ? rc : EIO;
	return rc != 0;
}

/* *small: the charges of the small entries that remain. */
static int evict(struct cache *c, const struct cache_target *target, struct cache_freed *freed, uint64_t *small)
{
	MDB_txn *txn;
	struct cache_totals t;
	int rc = env_begin(c->env, 0, &txn);
	if (rc)
		return rc;
	rc = cache_totals_read(c, txn, &t);
	uint64_t entries = cache_totals_entries(&t), disk = t.small + t.large;
	rc = rc ? rc : cache_evict(c, txn, &t, target);
	rc = rc ? rc : cache_totals_write(c, txn, &t);
	if (rc) {
		mdb_txn_abort(txn);
		return rc;
	}
	freed->entries = entries - cache_totals_entries(&t);
	freed->disk = disk - t.small - t.large;
	*small = t.small;
	return mdb_txn_commit(txn);
}

static bool file_size(const struct cache *c, uint64_t *size)
{
	struct stat st;
	bool ok = fstatat(c->folder, "data.mdb", &st, 0) == 0;
	*size = ok ? (uint64_t)st.st_size : 0;
	return ok;
}

/* In one step if the file system can. Otherwise there is a moment without a cache, in which others may create an empty one. */
static int swap(const char *fresh, const char *dir, const char *away)
{
	if (renameat2(AT_FDCWD, fresh, AT_FDCWD, dir, RENAME_EXCHANGE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return errno;
	return rename(dir, away) == 0 && (rename(fresh, dir) == 0 || errno == EEXIST || errno == ENOTEMPTY) ? 0 : errno;
}

/* Under the write lock. */
static int swap_folders(struct cache *c, struct arena *a)
{
	char *fresh;
	int folder;
	if (!env_make_folder(c->dir, &fresh, &folder))
		return errno;
	int rc = mdb_env_copy2(c->env, fresh, MDB_CP_COMPACT);
	if (!rc && renameat(c->folder, "large", folder, "large") != 0 && errno != ENOENT)
		rc = errno;
	rc = rc ? rc : swap(fresh, c->dir, arena_printf(a, "%s.damaged-%d", c->dir, (int)getpid()));
	close(folder);
	free(fresh);
	return rc;
}

static int compact(struct cache *c)
{
	struct arena *a = arena_new(0);
	MDB_txn *txn;
	int rc = env_begin(c->env, 0, &txn);
	if (!rc) {
		rc = swap_folders(c, a);
		mdb_txn_abort(txn);
	}
	env_sweep(c->dir);
	arena_free(a);
	return rc == ENOENT ? 0 : rc; /* another process cleared the cache */
}

static int prune_run(struct cache *c, const struct cache_target *target, struct cache_freed *freed)
{
	uint64_t before, used = 0;
	*freed = (struct cache_freed){0};
	if (c->read_only)
		return EROFS;
	pthread_mutex_lock(&c->lock);
	crash_guard_enter(c->dir, CRASH_GUARD_NO_LIMIT);
	int rc = evict(c, target, freed, &used);
	if (!rc && file_size(c, &before) && before > 2 * used && before - used > WORTH_COMPACTING)
		rc = compact(c);
	crash_guard_leave();
	pthread_mutex_unlock(&c->lock);
	return rc;
}

bool cache_prune(struct cache *c, const struct cache_limits *limits, struct cache_freed *freed)
{
	struct cache_target t = {
		.small = UINT64_MAX, .large = UINT64_MAX, .entries = limits->entries ? limits->entries : UINT64_MAX, .kinds = ~0u};
	uint64_t now = cache_now(c), age = limits->days * DAY_SECONDS;
	if (limits->size != UINT64_MAX)
		t.small = cache_small_room(limits), t.large = cache_large_room(limits);
	if (limits->days)
		t.used_since = now > age ? now - age : 0;
	return !prune_failed(prune_run(c, &t, freed));
}

bool cache_clear_levels(struct cache *c, unsigned levels, struct cache_freed *freed)
{
	struct cache_target t = {.used_since = UINT64_MAX};
	for (uint32_t k = 0; k < CACHE_KINDS; k++)
		if (levels >> cache_kind_level((enum cache_kind)k) & 1)
			t.kinds |= 1u << k;
	return !prune_failed(prune_run(c, &t, freed));
}

/* True for folders that any version of trib made: "v1", "v2.damaged-77". */
static bool prune_is_ours(struct arena *a, const char *root, const char *name)
{
	const char *lock = path_join(a, path_join(a, root, name), "lock.mdb");
	if (strcmp(name, "opencl") == 0) /* programs that libraries keep (gpu/runtime/binaries.c) */
		return true;
	return name[0] == 'v' && name[1] >= '0' && name[1] <= '9' && (!name[2] || name[2] == '.') && access(lock, F_OK) == 0;
}

/* Moves the folder away first, so that no process opens half of it. A process that has it open may still write a file into it: hence the
 * tries. */
static bool prune_remove_one(struct arena *a, const char *root, const char *name)
{
	const char *dir = path_join(a, root, name),
		   *away = path_join(a, root, arena_printf(a, "%.2s.damaged-clear-%d", name, (int)getpid()));
	if (rename(dir, away) != 0) {
		if (errno == ENOENT)
			return true;
		away = dir;
	}
	bool ok = false;
	for (int i = 0; !ok && i < REMOVE_TRIES; i++)
		ok = os_remove_tree(away);
	return ok;
}

bool cache_remove_all(const char *root)
{
	struct arena *a = arena_new(0);
	DIR *d = opendir(root);
	bool ok = d || errno == ENOENT;
	for (struct dirent *e; d && (e = readdir(d));)
		if (prune_is_ours(a, root, e->d_name))
			ok = prune_remove_one(a, root, e->d_name) && ok;
	int why = errno;
	if (d)
		closedir(d);
	arena_free(a);
	errno = why;
	return ok;
}
