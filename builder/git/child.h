/* Child processes: ssh and `git credential`. They have no terminal, so they cannot prompt. */
#ifndef TRIB_BUILDER_GIT_CHILD_H
#define TRIB_BUILDER_GIT_CHILD_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct child {
	pid_t pid;       /* 0: not running */
	int socket;      /* its standard input and output */
	int stderr_file; /* a file in memory */
	bool (*stopped)(void);
};

/* Starts argv[0], found in PATH. `extra`: a variable NAME=VALUE for its environment, or NULL. False: errno. */
bool child_start(struct child *c, const char *const *argv, const char *extra, bool (*stopped)(void));
/* True if all bytes were written. */
bool child_write(struct child *c, const char *text, size_t len);
/* Returns the number of bytes read; 0 at the end, -1 on failure or if the user stopped trib. */
ssize_t child_read(struct child *c, char *to, size_t size);
/* Ends and awaits the process. Writes the last lines of its standard error, joined to one, to `message`, which may be NULL. True if it
 * exited with 0. */
bool child_end(struct child *c, char *message, size_t size);
#endif
