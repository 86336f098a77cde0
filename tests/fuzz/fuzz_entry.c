/* Entries of the user's cache. A value reads as it was written, at every compression level; a damaged entry is rejected. A frame that
 * zstd did not write is harmless even with a correct checksum. The first byte chooses the case, the second the level. */
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include "base/buf.h"
#include "base/bug.h"
#include "base/hash.h"
#include "builder/cache/entry.h"
#include "tests/fuzz/fuzz.h"

static const hash128 id = {1, 2}, other = {1, 3};

static void round_trip(const void *data, size_t n, int level)
{
	struct buf out = {0};
	size_t len;
	void *owned;
	ZSTD_DCtx *unpack = NULL;
	entry_encode(&out, 7, id, data, n, level);
	BUG_ON(!entry_is_valid(out.at, out.len, 7, id) || entry_is_valid(out.at, out.len, 8, id) ||
	       entry_is_valid(out.at, out.len, 7, other));
	const void *value = entry_value(&unpack, out.at, out.len, &len, &owned);
	BUG_ON(!value || len != n || (n && memcmp(value, data, n)));
	free(owned);
	ZSTD_freeDCtx(unpack);
	for (size_t i = 0; i < out.len; i += 1 + out.len / 16) {
		out.at[i] ^= 1;
		BUG_ON(entry_is_valid(out.at, out.len, 7, id));
		out.at[i] ^= 1;
	}
	BUG_ON(entry_is_valid(out.at, out.len - 1, 7, id));
	buf_free(&out);
}

static void read_entry(const void *entry, size_t len)
{
	size_t n;
	void *owned;
	ZSTD_DCtx *unpack = NULL;
	const void *value = entry_value(&unpack, entry, len, &n, &owned);
	if (value && n <= 1 << 16)
		round_trip(value, n, 1);
	free(owned);
	ZSTD_freeDCtx(unpack);
}

/* Any bytes as an entry, with the checksum that they need. */
static void forge(const uint8_t *data, size_t n)
{
	struct entry_head h;
	uint8_t *entry = malloc(n);
	if (n < sizeof h || !entry) {
		free(entry);
		return;
	}
	memcpy(entry, data, n);
	memcpy(&h, entry, sizeof h);
	const uint64_t name[] = {id.lo, id.hi, hash64_bytes(&h.raw, sizeof h - sizeof h.check)};
	h.check = hash64_bytes(entry + sizeof h, n - sizeof h) ^ hash64_bytes(name, sizeof name);
	memcpy(entry, &h, sizeof h);
	if (entry_is_valid(entry, n, h.kind, id))
		read_entry(entry, n);
	free(entry);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	if (data[0] & 1)
		forge(data + 2, size - 2);
	else
		round_trip(data + 2, size - 2, data[1] % 27 - 7);
	return 0;
}
