/* Any bytes as a record of a store or an entry of the cache. The first byte chooses which; checksums are made to fit, so that what they protect is
 * reached. What decodes must encode and decode again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/os.h"
#include "builder/cache_entry.h"
#include "builder/config_file.h"
#include "builder/history.h"
#include "builder/store.h"
#include "builder/trace.h"
#include "builder/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* As it came, and with its checksum put right. */
static void entry(const uint8_t *data, size_t size)
{
	struct buf b = {0}, again = {0};
	size_t n, m;
	void *owned;
	struct entry_head h;
	struct ZSTD_DCtx_s *unpack = NULL;
	buf_put(&b, data, size);
	entry_sound(b.at, b.len, 0);
	if (size < sizeof h) {
		buf_free(&b);
		return;
	}
	memcpy(&h, b.at, sizeof h);
	h.kind = 0;
	h.codec %= ENTRY_CODECS;
	if (h.codec == ENTRY_RAW)
		h.raw = size - sizeof h;
	memcpy(b.at, &h, sizeof h);
	h.check = hash64_bytes(b.at + sizeof h, size - sizeof h) ^ hash64_bytes(&h.raw, sizeof h - sizeof h.check) * 0x9E3779B97F4A7C15ull;
	memcpy(b.at, &h, sizeof h);
	if (!entry_sound(b.at, b.len, 0) || entry_sound(b.at, b.len, 1))
		abort();
	const void *value = entry_value(&unpack, b.at, b.len, &n, &owned);
	if (value) {
		void *owned_again;
		entry_encode(&again, 0, value, n, 1);
		const void *back = entry_sound(again.at, again.len, 0) ? entry_value(&unpack, again.at, again.len, &m, &owned_again) : NULL;
		if (!back || m != n || (n && memcmp(back, value, n) != 0))
			abort();
		free(owned_again);
	}
	free(owned);
	ZSTD_freeDCtx(unpack);
	buf_free(&b);
	buf_free(&again);
}

static void history(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new(0);
	struct wire w = {.at = (const char *)data, .left = size, .ok = true};
	struct history *h = history_decode(a, &w);
	if (w.ok) {
		struct buf b = {0};
		history_encode(&b, h);
		struct wire back = {.at = b.at, .left = b.len, .ok = true};
		struct history *again = history_decode(a, &back);
		if (!wire_end(&back) || again->n != h->n)
			abort();
		for (uint32_t i = 0; i < h->n; i++)
			if (!history_find(h, h->units[i].identity))
				abort();
		history_free(again);
		buf_free(&b);
	}
	history_free(h);
	arena_free(a);
}

static void trace(struct store *s, const uint8_t *data, size_t size)
{
	struct arena *a = arena_new(0);
	hash128 key = hash_bytes(data, size), other = hash_combine(key, key);
	store_put(s, key, data, size);
	struct trace *t = trace_load(a, s, key);
	if (t) {
		trace_save(s, other, t);
		struct trace *again = trace_load(a, s, other);
		if (!again || again->n_inputs != t->n_inputs || again->n_outputs != t->n_outputs || !trace_same_sources(t, again->sources, again->n_sources))
			abort();
	}
	arena_free(a);
}

/* History in the store: its shards. The value is the index of a model as well as its only shard. */
static void shards(struct store *s, const uint8_t *data, size_t size)
{
	struct arena *a = arena_new(0);
	hash128 index = store_key("units", "m");
	store_put(s, index, data, size);
	store_put(s, hash_combine(index, (hash128){0, 1}), data, size);
	history_free(history_load(a, s, "m"));
	arena_free(a);
}

/* An edit of the user's settings is found again in what it made. */
static void config(const uint8_t *data, size_t size)
{
	struct buf text = {0}, once = {0}, twice = {0};
	buf_put(&text, data, size);
	buf_putc(&text, 0);
	config_edit(text.at, "cache", "max_size", "1GiB", &once);
	config_edit(once.at, "cache", "max_size", "1GiB", &twice);
	if (!strstr(once.at, "max_size = 1GiB") || strcmp(once.at, twice.at) != 0)
		abort();
	buf_clear(&twice);
	config_edit(once.at, "cache", "max_size", NULL, &twice);
	buf_free(&text);
	buf_free(&once);
	buf_free(&twice);
}

static void in_store(void (*look)(struct store *, const uint8_t *, size_t), const uint8_t *data, size_t size)
{
	char dir[] = "/tmp/trib-fuzz-XXXXXX";
	struct buf warning = {0};
	if (!mkdtemp(dir))
		abort();
	struct store *s = store_open(dir, true, &warning);
	if (!s)
		abort();
	look(s, data, size);
	store_close(s, &warning);
	buf_free(&warning);
	os_remove_tree(dir);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	uint8_t which = data[0] % 5;
	data++, size--;
	if (which == 0)
		entry(data, size);
	else if (which == 1)
		history(data, size);
	else if (which == 2)
		in_store(trace, data, size);
	else if (which == 3)
		in_store(shards, data, size);
	else
		config(data, size);
	return 0;
}
