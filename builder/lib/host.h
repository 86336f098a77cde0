/* What libtrib keeps in a process between two units that it compiles: code generators, and the way to the user's cache. */
#ifndef TRIB_BUILDER_LIB_HOST_H
#define TRIB_BUILDER_LIB_HOST_H
#include <stdbool.h>
#include "base/hash.h"

struct arena;
struct cache;
struct generators;

/* A set of code generators for the caller alone until host_return. Only those of the file with that digest will do. NULL: *error, in `a`. */
struct generators *host_borrow(struct arena *a, hash128 generator, const char **error);
void host_return(struct generators *g);
/* The user's cache; NULL: there is none, or it is not used. The process has it open once at a time: others wait until host_close_cache, which writes what was put
 * there and accepts NULL. */
struct cache *host_open_cache(struct arena *a);
void host_close_cache(struct cache *c);
/* For a build, which opens the cache itself. */
void host_lock_cache(void);
void host_unlock_cache(void);
#endif
