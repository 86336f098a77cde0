#include "builder/store/store_env.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/bug.h"
#include "base/os.h"
#include "base/path.h"
#include "base/usage.h"
#include "builder/store/crash_guard.h"

enum { OPEN_TRIES = 64 };
#define MOST_LOOSE ((size_t)1 << 20) /* bytes of pages at the end that an aborted transaction counted but never wrote */

bool env_is_damage(int rc)
{
	return rc == MDB_INVALID || rc == MDB_VERSION_MISMATCH || rc == MDB_CORRUPTED || rc == MDB_PAGE_NOTFOUND || rc == MDB_PANIC ||
	       rc == MDB_INCOMPATIBLE || rc == MDB_CURSOR_FULL || rc == MDB_PAGE_FULL || rc == MDB_BAD_TXN || rc == MDB_BAD_DBI ||
	       rc == MDB_BAD_VALSIZE || rc == MDB_KEYEXIST; /* our keys are valid, so the table's own record is damaged */
}

static void on_assert(MDB_env *env, const char *what)
{
	(void)env, (void)what;
	crash_guard_report_damage();
}

/* ESTALE: the data file was removed meanwhile. */
static int check_exists(MDB_env *env)
{
	struct stat st;
	mdb_filehandle_t fd;
	if (mdb_env_get_fd(env, &fd) || fstat(fd, &st))
		return MDB_CORRUPTED;
	return st.st_nlink ? 0 : ESTALE;
}

int env_begin(MDB_env *env, unsigned flags, MDB_txn **txn)
{
	int rc = mdb_txn_begin(env, NULL, flags, txn);
	if (rc != MDB_MAP_RESIZED)
		return rc;
	mdb_env_set_mapsize(env, 0);
	return mdb_txn_begin(env, NULL, flags, txn);
}

int env_commit(MDB_env *env, MDB_txn *txn, int (*check)(void *ctx, MDB_txn *txn), void *ctx)
{
	size_t id = mdb_txn_id(txn);
	int rc = mdb_txn_commit(txn);
	usage_of_thread.files_written++;
	if (rc == EIO || rc == EINVAL) /* a page number beyond the file */
		rc = MDB_CORRUPTED;
	if (rc || !check || env_begin(env, MDB_RDONLY, &txn) != 0)
		return rc;
	if (mdb_txn_id(txn) == id)
		rc = check(ctx, txn);
	mdb_txn_abort(txn);
	return rc == MDB_NOTFOUND ? MDB_CORRUPTED : rc;
}

/* True if something else is at the path. A folder may be a link; a file may not, because its target is not ours to write. */
static bool is_something_else(const char *path, mode_t kind)
{
	struct stat st;
	return lstat(path, &st) == 0 && ((kind == S_IFDIR && stat(path, &st) != 0) || (st.st_mode & S_IFMT) != kind);
}

static int store_env_make_folder(const char *dir)
{
	if (os_mkdirs(dir))
		return 0;
	int why = errno;
	return is_something_else(dir, S_IFDIR) ? MDB_INVALID : why;
}

/* LMDB would read a device as a file of zeros, and wait for a pipe's writer. */
static int check_kinds(const char *dir)
{
	static const char *const names[] = {"data.mdb", "lock.mdb"};
	char path[4096];
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if ((size_t)snprintf(path, sizeof path, "%s/%s", dir, names[i]) < sizeof path && is_something_else(path, S_IFREG))
			return MDB_INVALID;
	return 0;
}

/* The fields that LMDB trusts before it checks anything else, at the offsets of its data version 1. */
struct meta_page {
	uint32_t page_size;
	uint64_t last, txn; /* number of the last page; transaction, higher in the newer page */
};

static bool read_meta(int fd, off_t at, struct meta_page *out)
{
	enum { META = 152, AT_PAGE_SIZE = 40, AT_LAST = 136, AT_TXN = 144 };
	unsigned char bytes[META];
	if (pread(fd, bytes, sizeof bytes, at) != sizeof bytes)
		return false;
	memcpy(&out->page_size, bytes + AT_PAGE_SIZE, sizeof out->page_size);
	memcpy(&out->last, bytes + AT_LAST, sizeof out->last);
	memcpy(&out->txn, bytes + AT_TXN, sizeof out->txn);
	return true;
}

static bool is_page_size(uint32_t n) { return n >= 512 && n <= 65536 && (n & (n - 1)) == 0; }

/* False if the number of pages exceeds the file, for which LMDB would ask for any amount of address space. LMDB itself rejects a file
 * without meta pages. The size is read last, since another process may append pages meanwhile. */
static bool is_header_sane(int fd)
{
	struct meta_page a, b;
	struct stat st;
	if (!read_meta(fd, 0, &a))
		return true;
	if (!is_page_size(a.page_size))
		return false;
	if (!read_meta(fd, (off_t)a.page_size, &b) || fstat(fd, &st) != 0)
		return true;
	return b.page_size == a.page_size && (a.txn > b.txn ? a.last : b.last) <= ((uint64_t)st.st_size + MOST_LOOSE) / a.page_size;
}

/* An empty file counts as missing for a reader: LMDB would write a header into it. */
static int store_env_check_header(const char *dir, bool read_only)
{
	char path[4096];
	int fd = (size_t)snprintf(path, sizeof path, "%s/data.mdb", dir) < sizeof path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return 0;
	bool sane = is_header_sane(fd), empty = lseek(fd, 0, SEEK_END) == 0;
	close(fd);
	return !sane ? MDB_CORRUPTED : empty && read_only ? ENOENT : 0;
}

/* A reader that cannot write the lock file does without it. At worst it reads a value whose checksum is wrong. */
static int open_files(MDB_env *env, const char *dir, bool read_only)
{
	unsigned flags = MDB_NOTLS | MDB_NOSYNC | (read_only ? MDB_RDONLY : 0);
	int rc = mdb_env_open(env, dir, flags, 0666);
	if (read_only && (rc == EACCES || rc == EROFS || rc == EPERM))
		rc = mdb_env_open(env, dir, flags | MDB_NOLOCK, 0666);
	return rc;
}

static int store_env_open_env(MDB_env **out, const char *dir, const struct env_options *o)
{
	MDB_txn *txn = NULL;
	MDB_env *env = NULL;
	crash_guard_enter(dir, CRASH_GUARD_READ);
	int rc = mdb_env_create(&env);
	if (!rc)
		rc = mdb_env_set_assert(env, on_assert);
	if (!rc)
		rc = mdb_env_set_mapsize(env, o->map);
	if (!rc)
		rc = mdb_env_set_maxreaders(env, 510);
	if (!rc && o->tables)
		rc = mdb_env_set_maxdbs(env, o->tables);
	if (!rc)
		rc = check_kinds(dir);
	if (!rc)
		rc = store_env_check_header(dir, o->read_only);
	if (!rc)
		rc = open_files(env, dir, o->read_only);
	if (!rc)
		rc = check_exists(env);
	if (!rc)
		rc = env_begin(env, MDB_RDONLY, &txn);
	if (txn)
		mdb_txn_abort(txn);
	if (rc && env)
		mdb_env_close(env);
	else
		*out = env;
	usage_of_thread.files_read += 2; /* data.mdb; lock.mdb, which has the readers */
	usage_of_thread.files_written += !o->read_only;
	crash_guard_leave();
	return rc;
}

/* True if `dir` is still the folder that was opened. LMDB opens its two files by name: the lock of one folder would not protect the data
 * of another. */
static bool is_still(const char *dir, int folder, bool locked)
{
	struct stat then, now;
	return fstat(folder, &then) == 0 && stat(dir, &now) == 0 && then.st_dev == now.st_dev && then.st_ino == now.st_ino &&
	       (!locked || faccessat(folder, "lock.mdb", F_OK, 0) == 0);
}

static int open_once(MDB_env **env, int *folder, const char *dir, const struct env_options *o)
{
	int rc = o->create ? store_env_make_folder(dir) : 0;
	if (rc)
		return rc;
	*folder = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	rc = *folder < 0 ? errno : store_env_open_env(env, dir, o);
	if (!rc && !is_still(dir, *folder, !o->read_only)) {
		env_close(*env, dir);
		rc = ESTALE;
	}
	if (rc) {
		*env = NULL;
		if (*folder >= 0)
			close(*folder);
		*folder = -1;
	}
	return rc == ENOENT && o->create ? ESTALE : rc;
}

int env_open(MDB_env **env, int *folder, const char *dir, const struct env_options *o)
{
	int rc = open_once(env, folder, dir, o);
	for (int i = 1; rc == ESTALE && i < OPEN_TRIES; i++)
		rc = open_once(env, folder, dir, o);
	return rc;
}

void env_close(MDB_env *env, const char *dir)
{
	crash_guard_enter(dir, CRASH_GUARD_NO_LIMIT);
	if (env)
		mdb_env_close(env);
	crash_guard_leave();
}

bool env_make_folder(const char *dir, char **path, int *folder)
{
	if (asprintf(path, "%s.damaged-new-%d", dir, (int)getpid()) < 0)
		bug_no_memory();
	*folder = os_remove_tree(*path) && mkdir(*path, 0777) == 0 ? open(*path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (*folder >= 0 && (flock(*folder, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK))
		return true;
	int why = errno;
	if (*folder >= 0)
		close(*folder);
	free(*path);
	errno = why;
	return false;
}

static void sweep_one(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool used = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
	if (fd >= 0)
		close(fd);
	if (!used)
		os_remove_tree(path);
}

void env_sweep(const char *dir)
{
	struct arena *a = arena_new(0);
	const char *parent = path_dir(a, dir), *prefix = arena_printf(a, "%s.damaged-", path_base(dir));
	DIR *d = opendir(parent);
	for (struct dirent *e; d && (e = readdir(d));)
		if (strncmp(e->d_name, prefix, strlen(prefix)) == 0)
			sweep_one(path_join(a, parent, e->d_name));
	if (d)
		closedir(d);
	arena_free(a);
}

void env_move_away(const char *dir)
{
	char *away;
	if (asprintf(&away, "%s.damaged-%d", dir, (int)getpid()) < 0)
		return;
	if (rename(dir, away) == 0)
		env_sweep(dir);
	free(away);
}
