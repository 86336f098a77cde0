/* The bytes of one entry of the user's cache: a head, then the value, either raw or as a zstd frame. The head's checksum covers all of
 * it and the entry's id. */
#ifndef TRIB_BUILDER_CACHE_ENTRY_H
#define TRIB_BUILDER_CACHE_ENTRY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/hash.h"

struct buf;
struct ZSTD_DCtx_s;

struct entry_head {
	uint64_t check; /* of the id, the rest of the head, and the value */
	uint64_t raw;   /* bytes of the value */
	uint32_t kind, codec;
	uint32_t zero[2];
};
_Static_assert(sizeof(struct entry_head) == 32, "values start aligned");
enum entry_codec { ENTRY_RAW, ENTRY_ZSTD, ENTRY_CODECS };

/* Appends an entry. level: zstd's; 0: raw. A value that zstd hardly makes smaller is raw at any level. */
void entry_encode(struct buf *out, uint32_t kind, hash128 id, const void *bytes, size_t len, int level);
/* Appends the head of a raw entry, whose value of `len` bytes the caller writes after it. digest: hash64_bytes of the value. */
void entry_encode_head(struct buf *out, uint32_t kind, hash128 id, size_t len, uint64_t digest);
/* True if the entry is complete and undamaged, and has this kind and id. */
bool entry_is_valid(const void *entry, size_t len, uint32_t kind, hash128 id);
/* The value of a valid entry. NULL: the frame is damaged. *owned: malloc'd memory of the value; NULL if the value is part of the entry.
 * *unpack: a zstd context, created if it is NULL, and freed by the caller. To create one takes longer than to decompress a small entry. */
const void *entry_value(struct ZSTD_DCtx_s **unpack, const void *entry, size_t len, size_t *value_len, void **owned);
#endif
