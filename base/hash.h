/* 128-bit content hashes (XXH3, https://xxhash.com). They are not cryptographic: they identify content and do not authenticate it. */
#ifndef TRIB_BASE_HASH_H
#define TRIB_BASE_HASH_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
	uint64_t lo, hi;
} hash128;

struct hasher; /* streaming */

hash128 hash_bytes(const void *p, size_t n);
uint64_t hash64_bytes(const void *p, size_t n);
/* Order-dependent combination of two hashes. */
hash128 hash_combine(hash128 a, hash128 b);
static inline bool hash_eq(hash128 a, hash128 b) { return a.lo == b.lo && a.hi == b.hi; }
static inline bool hash_is_zero(hash128 a) { return (a.lo | a.hi) == 0; }

struct hasher *hasher_new(void);
void hasher_add(struct hasher *h, const void *p, size_t n);
void hasher_add_u64(struct hasher *h, uint64_t v);
void hasher_add_str(struct hasher *h, const char *s); /* length first, so that "ab","c" differs from "a","bc" */
void hasher_add_hash(struct hasher *h, hash128 v);
hash128 hasher_finish(struct hasher *h);    /* frees h */
uint64_t hasher_finish64(struct hasher *h); /* the same as hash64_bytes; frees h */

/* 32 lower-case hex digits and a NUL into `out`. */
void hash_hex(hash128 h, char out[33]);
bool hash_parse_hex(const char *s, hash128 *out); /* false unless 32 hex digits */
#endif
