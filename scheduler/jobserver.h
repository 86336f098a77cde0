/* GNU make's jobserver: a pipe or FIFO with a token, one byte, for every job beyond the first of each process. As a client of make (or ninja, cargo, …),
 * or as the server of the commands that we start. Thread-safe. At most one at a time is connected. */
#ifndef TRIB_SCHEDULER_JOBSERVER_H
#define TRIB_SCHEDULER_JOBSERVER_H
#include <stdbool.h>
#include <stdint.h>
#include "scheduler/makeflags.h"

struct buf;
struct jobserver;

/* Connects to the one that MAKEFLAGS names. NULL: there is none, or it cannot be used; then *why says so (a literal; NULL: there is none). */
struct jobserver *jobserver_connect(const struct makeflags *m, const char **why);
/* Starts one for `jobs` jobs, this process's first included. A FIFO lies in the folder for temporary files; a pipe is understood by every make.
 * NULL: errno says why. */
struct jobserver *jobserver_serve(uint32_t jobs, enum jobserver_kind kind);
/* Returns what is on loan, and ends the server. NULL is accepted. */
void jobserver_close(struct jobserver *j);

/* False: no token is there now. */
bool jobserver_take(struct jobserver *j, char *token);
void jobserver_return(struct jobserver *j, char token);
/* Readable when a token may be there; -1: there will be none any more. */
int jobserver_fd(const struct jobserver *j);
/* The value of MAKEFLAGS for commands that we start. Of a pipe's server they inherit the descriptors. */
void jobserver_export(const struct jobserver *j, struct buf *out);

/* A server whose commands have all ended, perhaps killed with tokens in their hands: makes up for those. Nothing for a client, or NULL. */
void jobserver_restock(struct jobserver *j);

/* Returns all that is on loan. Async-signal-safe: for the process that is about to die. */
void jobserver_abandon(void);
#endif
