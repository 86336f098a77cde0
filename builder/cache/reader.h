/* Reads the user's cache inside a foreign program, without LMDB, mappings or locks. Everything is checked, so that damage or a
 * concurrent writer causes no more than a miss. Uses are not recorded. */
#ifndef TRIB_BUILDER_CACHE_READER_H
#define TRIB_BUILDER_CACHE_READER_H
#include <stddef.h>
#include "builder/cache/cache.h"

struct arena;
struct cache_reader;

/* Opens the cache in this folder, with memory in `a`. NULL: there is none. */
struct cache_reader *cache_reader_open(struct arena *a, const char *dir);
/* The value, in the arena; NULL: a miss. */
const void *cache_reader_get(struct cache_reader *p, enum cache_kind kind, hash128 key, size_t *len);
void cache_reader_close(struct cache_reader *p); /* NULL is accepted */
#endif
