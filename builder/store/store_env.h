/* An LMDB environment (https://www.symas.com/lmdb) that other processes use, too, and that may be damaged: what the project's store and the user's
 * cache have in common. Commits are not synced: after a power cut the newest values may be gone, which checksums find. Work between crash_guard_enter and
 * crash_guard_leave (builder/store/crash_guard.h) but in env_open and env_close, which do so themselves. */
#ifndef TRIB_BUILDER_STORE_STORE_ENV_H
#define TRIB_BUILDER_STORE_STORE_ENV_H
#include <lmdb.h>
#include <stdbool.h>
#include <stddef.h>

struct buf;

struct env_options {
	size_t map;      /* bytes: the data file never grows beyond them */
	unsigned tables; /* named ones, 0: only the unnamed */
	bool read_only;
	bool create; /* the folder, too */
};
/* In folder `dir`, which must outlive it. Others may move that away, remove it or replace it meanwhile: what is open then is one folder's or none's. *folder:
 * its descriptor, the caller's to close. 0; an error of LMDB or errno; or damage, if something else is in its place. */
int env_open(MDB_env **env, int *folder, const char *dir, const struct env_options *o);
void env_close(MDB_env *env, const char *dir); /* NULL is accepted */
/* A transaction; follows what other processes did to the size. flags: 0 or MDB_RDONLY. */
int env_begin(MDB_env *env, unsigned flags, MDB_txn **txn);
/* Commits. Then, unless another process wrote meanwhile, calls `check` (may be NULL) in a read transaction: a damaged tree may file values where no look-up
 * finds them. */
int env_commit(MDB_env *env, MDB_txn *txn, int (*check)(void *ctx, MDB_txn *txn), void *ctx);
/* Errors that mean damage, not circumstances. */
bool env_is_damage(int rc);
/* Moves a damaged environment's folder away and removes it: others may have it open, so it is not written over. */
void env_move_away(const char *dir);
/* A new folder beside it that env_sweep leaves alone until the descriptor is closed, or this process is killed. False: errno. `path` is malloc'd. */
bool env_make_folder(const char *dir, char **path, int *folder);
/* Removes what these and the guard left. */
void env_sweep(const char *dir);
#endif
