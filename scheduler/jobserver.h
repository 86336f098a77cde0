/* GNU make's jobserver: a pipe or FIFO with a token, one byte, for every job beyond the first of each process. trib is a client of make
 * (or ninja, cargo, …), or a server for the commands that it starts. Thread-safe. A process has at most one open. */
#ifndef TRIB_SCHEDULER_JOBSERVER_H
#define TRIB_SCHEDULER_JOBSERVER_H
#include <stdbool.h>
#include <stdint.h>
#include "scheduler/makeflags.h"

struct buf;
struct jobserver;

/* Connects to the jobserver that MAKEFLAGS names. NULL: there is none, or it cannot be used; then *why is the reason, a literal. */
struct jobserver *jobserver_connect(const struct makeflags *makeflags, const char **why);
/* Starts a server for `jobs` jobs, this process's first included. A FIFO is in the folder for temporary files; every make understands a
 * pipe. NULL: see errno. */
struct jobserver *jobserver_serve(uint32_t jobs, enum jobserver_kind kind);
/* Returns all borrowed tokens, and ends the server. NULL is accepted. */
void jobserver_close(struct jobserver *j);

/* Takes a token without waiting. False: none is available now. */
bool jobserver_take(struct jobserver *j, char *token);
void jobserver_return(struct jobserver *j, char token);
/* A descriptor that is readable when a token may be available; -1: the server is gone. */
int jobserver_fd(const struct jobserver *j);
/* Appends what MAKEFLAGS says to commands that we start. They inherit a pipe's descriptors. */
void jobserver_export(const struct jobserver *j, struct buf *out);

/* Replaces the tokens that killed commands did not return. Call it when all commands have ended. Does nothing for a client or NULL. */
void jobserver_restock(struct jobserver *j);

/* Returns all borrowed tokens before the process dies, and takes no more. Async-signal-safe. */
void jobserver_abandon(void);
#endif
