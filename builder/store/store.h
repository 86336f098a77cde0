/* A key-value store on disk: small values in an LMDB environment, large ones in files beside it. Every value carries a checksum; damage is a miss.
 * Several processes and threads may share one. A store that cannot be used never fails a build: everything then is a miss. */
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

/* Opens the store in folder `dir`, which `create` makes if need be. A damaged one is set aside and made again, with a line about it in `warning`.
 * NULL: there is none (and not `create`), or it cannot be used, which `warning` says. */
struct store *store_open(const char *dir, bool create, struct buf *warning);
/* Writes what is pending and closes. NULL is accepted. False: something could not be kept; `warning` says why. */
bool store_close(struct store *s, struct buf *warning);

/* The value, valid until the store is closed; NULL: a miss. Thread-safe. `s` may be NULL. */
const void *store_get(struct store *s, hash128 key, size_t *len);
/* Keeps a copy, written at the next flush, and returns it, valid until the store is closed. Thread-safe. NULL if `s` is NULL. */
const void *store_put(struct store *s, hash128 key, const void *bytes, size_t len);
/* Writes everything pending in one transaction. False: it could not; `warning` (may be NULL) says why. */
bool store_flush(struct store *s, struct buf *warning);
/* The key of a record that is found by name. */
hash128 store_key(const char *kind, const char *name);
#endif
