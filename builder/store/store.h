/* A key-value store on disk: small values in an LMDB environment, large ones in files. Every value has a checksum; a damaged value is a
 * miss. Processes and threads may share a store. If it cannot be used, every look-up is a miss and the build goes on. */
#ifndef TRIB_BUILDER_STORE_STORE_H
#define TRIB_BUILDER_STORE_STORE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/hash.h"

struct buf;
struct store;

/* Values above this many bytes become files. */
#define STORE_LARGE ((size_t)256 << 10)

/* Opens the store in folder `dir`; with `create` it creates a missing one. A damaged store is replaced by a new one, and `warning` says
 * so. NULL: there is none, or it cannot be used; then `warning` says why. */
struct store *store_open(const char *dir, bool create, struct buf *warning);
/* Writes all pending values and closes. NULL is accepted. False: the write failed; `warning` says why. */
bool store_close(struct store *s, struct buf *warning);

/* The value, valid until the store is closed; NULL: a miss. Thread-safe. `s` may be NULL. */
const void *store_get(struct store *s, hash128 key, size_t *len);
/* Stores a copy, written at the next flush, and returns it, valid until the store is closed. Thread-safe. NULL if `s` is NULL. */
const void *store_put(struct store *s, hash128 key, const void *bytes, size_t len);
/* Writes all pending values in one transaction. False: it failed; `warning` (may be NULL) says why. */
bool store_flush(struct store *s, struct buf *warning);
/* The key of a record with a name. */
hash128 store_key(const char *kind, const char *name);
#endif
