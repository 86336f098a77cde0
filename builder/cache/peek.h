/* Looking into the user's cache from a program that is not ours: with reads and checks alone, without LMDB, a mapping or a lock, so that no damage and no writer
 * does more to it than a miss. Uses are not noted. */
#ifndef TRIB_BUILDER_CACHE_PEEK_H
#define TRIB_BUILDER_CACHE_PEEK_H
#include <stddef.h>
#include "builder/cache/cache.h"

struct arena;
struct cache_peek;

/* The cache in that folder as it is now, in `a`. NULL: there is none. */
struct cache_peek *cache_peek_open(struct arena *a, const char *dir);
/* The value, in the arena; NULL: a miss. */
const void *cache_peek_get(struct cache_peek *p, enum cache_kind kind, hash128 key, size_t *len);
void cache_peek_close(struct cache_peek *p); /* NULL is accepted */
#endif
