/* One entry of the user's cache as bytes: a head with a checksum over everything and the name that it is found by, then the value, as it is or as a zstd
 * frame. */
#ifndef TRIB_BUILDER_CACHE_ENTRY_H
#define TRIB_BUILDER_CACHE_ENTRY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/hash.h"

struct buf;
struct ZSTD_DCtx_s;

struct entry_head {
	uint64_t check; /* of the entry's id, the rest of the head and what follows it */
	uint64_t raw;   /* bytes of the value */
	uint32_t kind, codec;
	uint32_t zero[2];
};
_Static_assert(sizeof(struct entry_head) == 32, "values start aligned");
enum entry_codec { ENTRY_RAW, ENTRY_ZSTD, ENTRY_CODECS };

/* Appends it. level: zstd's, 0: as it is, which a value that zstd hardly makes smaller stays in any case. */
void entry_encode(struct buf *out, uint32_t kind, hash128 id, const void *bytes, size_t len, int level);
/* Is it whole, and of that kind and id? */
bool entry_is_valid(const void *entry, size_t len, uint32_t kind, hash128 id);
/* The value of a sound entry. *owned: malloc'd memory that holds it, or NULL where it is a part of the entry. NULL: it is damaged after all.
 * *unpack: what zstd works with, made at the first need (NULL) and the caller's to free; making it takes longer than a small entry does. */
const void *entry_value(struct ZSTD_DCtx_s **unpack, const void *entry, size_t len, size_t *value_len, void **owned);
#endif
