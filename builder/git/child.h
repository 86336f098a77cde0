/* A program that is started to help: ssh, git's own keeper of passwords. It has no terminal, so it never asks anybody anything there. */
#ifndef TRIB_BUILDER_GIT_CHILD_H
#define TRIB_BUILDER_GIT_CHILD_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct child {
	pid_t pid; /* 0: not running */
	int talk;  /* a socket: its standard input and output */
	int said;  /* a file in memory with what it wrote to standard error */
	bool (*stopped)(void);
};

/* False: errno. argv[0] is looked for in PATH. `extra`: a variable NAME=VALUE for its environment, or NULL. */
bool child_start(struct child *c, const char *const *argv, const char *extra, bool (*stopped)(void));
/* All of it, or false. */
bool child_write(struct child *c, const char *text, size_t len);
/* Some bytes; 0 at the end, -1 if it failed or the user ended trib. */
ssize_t child_read(struct child *c, char *to, size_t size);
/* Ends it, waits, and gives the last lines of standard error as one. `said` may be NULL. True if it ended with 0. */
bool child_end(struct child *c, char *said, size_t size);
#endif
