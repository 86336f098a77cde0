/* An LMDB environment (https://www.symas.com/lmdb) that other processes use, too, and that may be damaged: what the project's store and the user's
 * cache have in common. Commits are not synced: after a power cut the newest values may be gone, which checksums find. Work between guard_enter and
 * guard_leave (builder/guard.h) but in env_open and env_close, which do so themselves. */
#ifndef TRIB_BUILDER_STORE_ENV_H
#define TRIB_BUILDER_STORE_ENV_H
#include <lmdb.h>
#include <stdbool.h>
#include <stddef.h>

struct buf;

struct env_options {
	size_t map;      /* bytes: the data file never grows beyond them */
	unsigned tables; /* named ones, 0: only the unnamed */
	bool read_only;
};
/* Makes the folder. 0; errno; or damage, if something else is in its place. */
int env_make(const char *dir);
/* In folder `dir`, which must outlive it. 0, or an error of LMDB or errno. */
int env_open(MDB_env **env, const char *dir, const struct env_options *o);
void env_close(MDB_env *env, const char *dir); /* NULL is accepted */
/* A transaction; follows what other processes did to the size. flags: 0 or MDB_RDONLY. */
int env_begin(MDB_env *env, unsigned flags, MDB_txn **txn);
/* Errors that mean damage, not circumstances. */
bool env_is_damage(int rc);
/* Moves a damaged environment's folder away and removes it: others may have it open, so it is not written over. */
void env_set_aside(const char *dir);
/* Removes what that and the guard moved away. */
void env_sweep(const char *dir);
#endif
