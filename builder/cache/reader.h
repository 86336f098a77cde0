/* Looking into the user's cache from a program that is not ours: with reads and checks alone, without LMDB, a mapping or a lock, so that no damage and no writer
 * does more to it than a miss. Uses are not noted. */
#ifndef TRIB_BUILDER_CACHE_READER_H
#define TRIB_BUILDER_CACHE_READER_H
#include <stddef.h>
#include "builder/cache/cache.h"

struct arena;
struct cache_reader;

/* The cache in that folder as it is now, in `a`. NULL: there is none. */
struct cache_reader *cache_reader_open(struct arena *a, const char *dir);
/* The value, in the arena; NULL: a miss. */
const void *cache_reader_get(struct cache_reader *p, enum cache_kind kind, hash128 key, size_t *len);
void cache_reader_close(struct cache_reader *p); /* NULL is accepted */
#endif
