/* What libtrib shares in a process: code generators, the path of the user's cache, and a way to run trib. */
#ifndef TRIB_BUILDER_LIB_HOST_H
#define TRIB_BUILDER_LIB_HOST_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include "base/hash.h"

struct arena;
struct generators;

/* Lends code generators to the caller until host_return. They must come from the module with that digest. NULL: *error, in `a`. */
struct generators *host_borrow(struct arena *a, hash128 generator, const char **error);
void host_return(struct generators *generators);
/* The folder of the user's cache, in `a`; NULL if the cache is not used. */
const char *host_cache(struct arena *a);
/* Runs `trib ARGS…` with these bytes as standard input. Writing to a damaged cache may crash, so another process does it. argv[0] is
 * filled in; the list ends with NULL. *message: its standard error, in `a`, or why it could not be started. False: it failed. */
bool host_run_trib(struct arena *a, const char **argv, const void *input, size_t n, const char **message);

/* The standard streams of a process. */
struct host_streams {
	int in, out, err; /* out -1: nowhere */
	bool own_group;   /* the terminal sends it no signals */
};
/* Starts a program with these streams, the signal mask empty. Returns 0 or an errno. */
int host_spawn(pid_t *child, const char *const *argv, const struct host_streams *s);
/* Makes a file without a name with this content: no deadlock as with a pipe, no SIGPIPE. -1: errno. */
int host_open_nameless(const void *bytes, size_t n);
/* All of such a file, in `a`. */
const char *host_content(struct arena *a, int fd);
#endif
