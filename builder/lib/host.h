/* What libtrib keeps in a process between two units that it compiles, code generators; and the way to the user's cache and to trib. */
#ifndef TRIB_BUILDER_LIB_HOST_H
#define TRIB_BUILDER_LIB_HOST_H
#include <stdbool.h>
#include "base/hash.h"

struct arena;
struct generators;

/* A set of code generators for the caller alone until host_return. Only those of the file with that digest will do. NULL: *error, in `a`. */
struct generators *host_borrow(struct arena *a, hash128 generator, const char **error);
void host_return(struct generators *g);
/* The folder of the user's cache, in `a`; NULL: there is none, or it is not used. */
const char *host_cache(struct arena *a);
/* Runs `trib ARGS…` with these bytes as its standard input. What may meet damage and writes is done by a process that can die of it. argv[0] is filled in and the
 * list ends with NULL. *said: what it wrote to standard error, in `a`. False: it did not succeed, and *said is the reason if it could not be run. */
bool host_run_trib(struct arena *a, const char **argv, const void *input, size_t n, const char **said);
#endif
