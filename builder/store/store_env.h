/* An LMDB environment (https://www.symas.com/lmdb) that several processes use and that may be damaged. The project's store and the
 * user's cache share this code. Commits are not synced: after a power cut the newest values may be missing, which checksums find.
 * Callers use it between crash_guard_enter and crash_guard_leave (builder/store/crash_guard.h), except for env_open and env_close. */
#ifndef TRIB_BUILDER_STORE_STORE_ENV_H
#define TRIB_BUILDER_STORE_STORE_ENV_H
#include <lmdb.h>
#include <stdbool.h>
#include <stddef.h>

struct buf;

struct env_options {
	size_t map;      /* bytes; the largest size of the data file */
	unsigned tables; /* number of named tables; 0: only the unnamed one */
	bool read_only;
	bool create; /* also the folder */
};
/* Opens the environment in folder `dir`; the string must outlive it. Other processes may move, remove or replace the folder meanwhile;
 * all open files then belong to one folder. *folder: its descriptor, which the caller closes. Returns 0, an error of LMDB or errno, or
 * damage if something else is there. */
int env_open(MDB_env **env, int *folder, const char *dir, const struct env_options *o);
void env_close(MDB_env *env, const char *dir); /* NULL is accepted */
/* Begins a transaction, with the current size of the map. flags: 0 or MDB_RDONLY. */
int env_begin(MDB_env *env, unsigned flags, MDB_txn **txn);
/* Commits. Then, unless another process wrote meanwhile, calls `check` (may be NULL) in a read transaction: a damaged tree may file
 * values where no look-up finds them. */
int env_commit(MDB_env *env, MDB_txn *txn, int (*check)(void *ctx, MDB_txn *txn), void *ctx);
/* True for errors that mean damage. */
bool env_is_damage(int rc);
/* Moves the folder of a damaged environment away and removes it. It is not overwritten, because other processes may have it open. */
void env_move_away(const char *dir);
/* Makes a new folder beside it. env_sweep does not remove it before the descriptor is closed or this process ends. False: errno. `path`
 * is malloc'd. */
bool env_make_folder(const char *dir, char **path, int *folder);
/* Removes the folders that env_move_away, env_make_folder and the crash guard left. */
void env_sweep(const char *dir);
#endif
