/* Any bytes as a record of the project's store or of direct mode; the first byte chooses which. A valid record is the same after writing
 * and reading. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/os.h"
#include "builder/cache/direct_record.h"
#include "builder/store/build_record.h"
#include "builder/store/history.h"
#include "builder/store/serializer.h"
#include "builder/store/store.h"
#include "tests/fuzz/fuzz.h"

static void build_record(struct store *s, const uint8_t *data, size_t size)
{
	struct arena *a = arena_new(0);
	hash128 key = hash_bytes(data, size), other = hash_combine(key, key);
	store_put(s, key, data, size);
	struct build_record *t = build_record_load(a, s, key);
	if (t) {
		build_record_save(s, other, t);
		struct build_record *again = build_record_load(a, s, other);
		if (!again || again->n_inputs != t->n_inputs || again->n_outputs != t->n_outputs ||
		    !build_record_same_sources(t, again->sources, again->n_sources))
			abort();
	}
	arena_free(a);
}

/* The value is the index of a model's units as well as its only shard. */
static void shards(struct store *s, const uint8_t *data, size_t size)
{
	struct arena *a = arena_new(0);
	hash128 index = store_key("units", "m");
	store_put(s, index, data, size);
	store_put(s, hash_combine(index, (hash128){0, 1}), data, size);
	history_free(history_load(a, s, "m"));
	arena_free(a);
}

static void direct(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new(0);
	struct direct_record r = {0};
	struct serializer of_record = serializer_from(a, data, size), of_list = of_record;
	direct_serialize(&of_record, &r);
	direct_free(&r);
	struct direct_file *files;
	uint32_t n;
	direct_serialize_files(&of_list, &files, &n);
	for (uint32_t i = 0; of_list.ok && i < n; i++)
		if (strlen(files[i].path) > size)
			abort();
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
	uint8_t which = data[0] % 3;
	data++, size--;
	if (which == 0)
		direct(data, size);
	else
		in_store(which == 1 ? build_record : shards, data, size);
	return 0;
}
