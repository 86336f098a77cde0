#include "builder/cache/entry.h"
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include "base/buf.h"
#include "base/bug.h"
#include "base/hash.h"

#define MOST_COMPRESSED ((size_t)256 << 20) /* larger values are not compressed; a frame that claims a larger one is damaged */

/* payload: the digest of what follows the head. */
static uint64_t entry_checksum(const struct entry_head *h, hash128 id, uint64_t payload)
{
	const uint64_t name[] = {id.lo, id.hi, hash64_bytes(&h->raw, sizeof *h - sizeof h->check)};
	return payload ^ hash64_bytes(name, sizeof name);
}

/* Appends the compressed value. False: that would save less than an eighth, so nothing was appended. */
static bool put_frame(struct buf *out, const void *bytes, size_t len, int level)
{
	size_t most = len - len / 8;
	buf_reserve(out, len);
	size_t n = ZSTD_compress(out->at + out->len, most, bytes, len, level); /* fails if the frame needs more room */
	if (ZSTD_isError(n))
		return false;
	out->len += n;
	return true;
}

void entry_encode_head(struct buf *out, uint32_t kind, hash128 id, size_t len, uint64_t digest)
{
	struct entry_head h = {.raw = len, .kind = kind, .codec = ENTRY_RAW};
	h.check = entry_checksum(&h, id, digest);
	buf_put(out, &h, sizeof h);
}

void entry_encode(struct buf *out, uint32_t kind, hash128 id, const void *bytes, size_t len, int level)
{
	struct entry_head h = {.raw = len, .kind = kind, .codec = ENTRY_RAW};
	size_t at = out->len;
	buf_put(out, &h, sizeof h);
	if (level && len > sizeof h && len <= MOST_COMPRESSED && put_frame(out, bytes, len, level))
		h.codec = ENTRY_ZSTD;
	else if (len)
		buf_put(out, bytes, len);
	h.check = entry_checksum(&h, id, hash64_bytes(out->at + at + sizeof h, out->len - at - sizeof h));
	memcpy(out->at + at, &h, sizeof h);
}

bool entry_is_valid(const void *entry, size_t len, uint32_t kind, hash128 id)
{
	struct entry_head h;
	if (len < sizeof h)
		return false;
	memcpy(&h, entry, sizeof h);
	return h.kind == kind && h.codec < ENTRY_CODECS && (h.codec == ENTRY_ZSTD || h.raw == len - sizeof h) &&
	       h.check == entry_checksum(&h, id, hash64_bytes((const char *)entry + sizeof h, len - sizeof h));
}

const void *entry_value(struct ZSTD_DCtx_s **unpack, const void *entry, size_t len, size_t *value_len, void **owned)
{
	struct entry_head h;
	const char *payload = (const char *)entry + sizeof h;
	memcpy(&h, entry, sizeof h);
	*value_len = h.raw;
	*owned = NULL;
	if (h.codec == ENTRY_RAW)
		return payload;
	if (h.raw > MOST_COMPRESSED || !(*owned = malloc(h.raw ? h.raw : 1)))
		return NULL;
	if (!*unpack && !(*unpack = ZSTD_createDCtx()))
		bug_no_memory();
	if (ZSTD_decompressDCtx(*unpack, *owned, h.raw, payload, len - sizeof h) == h.raw)
		return *owned;
	free(*owned);
	*owned = NULL;
	return NULL;
}
