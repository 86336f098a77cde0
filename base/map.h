/* An open-addressing hash map from a 128-bit key, made of a number, bytes or a string, to a 64-bit value. It cannot be iterated: no
 * output may depend on its order. */
#ifndef TRIB_BASE_MAP_H
#define TRIB_BASE_MAP_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/hash.h"

struct map_slot;
struct map {
	struct map_slot *slots; /* malloc-backed */
	uint32_t len, cap;
};

void map_free(struct map *m);
/* Sets key to value; returns true if the key was new. */
bool map_put(struct map *m, hash128 key, uint64_t value);
bool map_get(const struct map *m, hash128 key, uint64_t *value); /* false: absent, *value untouched; value may be NULL */

static inline hash128 map_key_u64(uint64_t k) { return (hash128){k * 0x9E3779B97F4A7C15ull, k}; }
static inline hash128 map_key_bytes(const void *p, size_t n) { return hash_bytes(p, n); }
hash128 map_key_str(const char *s);
#endif
