/* Any bytes as a record of the project's store: that of a finished build, or what it knew of a model's units. What loads is saved and loads again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/os.h"
#include "builder/history.h"
#include "builder/store.h"
#include "builder/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
	in_store(data[0] & 1 ? shards : trace, data + 1, size - 1);
	return 0;
}
