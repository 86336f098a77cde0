#include "builder/store/history.h"
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "builder/store/serialize.h"
#include "builder/store/store.h"

#define HISTORY_MAGIC 0x33545348u /* "HST3" */
enum { SHARD_UNITS = 128, MOST_BITS = 20 };
enum { LEAST_UNIT = 4 * 5 + 3 * 16 + PLAN_RECORD_LEAST }; /* bytes of a record without names */

static hash128 index_key(const char *model) { return store_key("units", model); }
static hash128 shard_key(const char *model, uint32_t shard) { return hash_combine(index_key(model), (hash128){shard, 1}); }
static uint32_t shard_of(hash128 identity, uint32_t bits) { return bits ? (uint32_t)(identity.hi >> (64 - bits)) : 0; }

/* ---- one record ---- */

static void put_unit(struct buf *b, const struct unit_record *u)
{
	serialize_str(b, u->name);
	serialize_str(b, u->file);
	serialize_str(b, u->definition);
	serialize_str(b, u->cpu);
	serialize_hash(b, u->tokens);
	serialize_hash(b, u->key);
	serialize_hash(b, u->target);
	plan_record_put(b, &u->made);
}

static void take_unit(struct arena *a, struct deserializer *w, struct unit_record *u)
{
	u->name = deserialize_str(w);
	u->file = deserialize_str(w);
	u->definition = deserialize_str(w);
	u->cpu = deserialize_str(w);
	u->tokens = deserialize_hash(w);
	u->key = deserialize_hash(w);
	u->target = deserialize_hash(w);
	plan_record_take(a, w, &u->made);
}

/* ---- all of a model ---- */

static hash128 definition_key(const char *file, const char *definition) { return hash_combine(map_key_str(file), map_key_str(definition)); }

static void index_unit(struct history *h, uint32_t i)
{
	const struct unit_record *u = &h->units[i];
	hash128 definition = definition_key(u->file, u->definition);
	map_put(&h->by_identity, u->made.identity, i + 1);
	if (!map_get(&h->by_definition, definition, NULL))
		map_put(&h->by_definition, definition, i + 1);
}

static uint32_t load_shard(struct arena *a, struct store *project, const char *model, uint32_t shard, uint32_t bits,
			   struct unit_record *units, uint32_t room)
{
	struct deserializer w = {.ok = true};
	w.at = store_get(project, shard_key(model, shard), &w.left);
	if (!w.at || deserialize_u32(&w) != HISTORY_MAGIC || deserialize_u32(&w) != bits)
		return 0;
	uint32_t n = deserialize_count(&w, LEAST_UNIT);
	for (uint32_t i = 0; i < n && i < room && w.ok; i++)
		take_unit(a, &w, &units[i]);
	return n <= room && deserialize_end(&w) ? n : 0;
}

struct history *history_load(struct arena *a, struct store *project, const char *model)
{
	struct history *h = ARENA_NEW(a, struct history);
	struct deserializer w = {.ok = true};
	w.at = store_get(project, index_key(model), &w.left);
	if (!w.at || deserialize_u32(&w) != HISTORY_MAGIC)
		return h;
	uint32_t bits = deserialize_u32(&w), n = deserialize_u32(&w);
	if (!deserialize_end(&w) || bits > MOST_BITS || n / SHARD_UNITS > (uint32_t)1 << bits)
		return h;
	struct unit_record *units = ARENA_ARRAY(a, struct unit_record, n + 1);
	h->units = units;
	for (uint32_t k = 0; k < (uint32_t)1 << bits; k++)
		h->n += load_shard(a, project, model, k, bits, units + h->n, n - h->n);
	for (uint32_t i = 0; i < h->n; i++)
		index_unit(h, i);
	return h;
}

void history_free(struct history *h)
{
	if (!h)
		return;
	map_free(&h->by_identity);
	map_free(&h->by_definition);
}

static uint32_t bits_for(uint32_t n)
{
	uint32_t bits = 0;
	while (bits < MOST_BITS && n > (uint32_t)SHARD_UNITS << bits)
		bits++;
	return bits;
}

static bool is_old(const struct history *then, const struct unit_record *u) { return u >= then->units && u < then->units + then->n; }

static void save_shard(struct store *project, const char *model, uint32_t shard, uint32_t bits, const struct unit_record *const *units,
		       uint32_t n)
{
	struct buf b = {0};
	buf_u32(&b, HISTORY_MAGIC);
	buf_u32(&b, bits);
	buf_u32(&b, n);
	for (uint32_t i = 0; i < n; i++)
		put_unit(&b, units[i]);
	store_put(project, shard_key(model, shard), b.at, b.len);
	buf_free(&b);
}

static void save_index(struct store *project, const char *model, uint32_t bits, uint32_t n)
{
	struct buf b = {0};
	buf_u32(&b, HISTORY_MAGIC);
	buf_u32(&b, bits);
	buf_u32(&b, n);
	store_put(project, index_key(model), b.at, b.len);
	buf_free(&b);
}

/* Units by shard, in their order; first[k] is where shard k begins. */
static const struct unit_record **by_shard(struct arena *a, const struct unit_record *const *units, uint32_t n, uint32_t bits,
					   uint32_t *first)
{
	const struct unit_record **sorted = ARENA_ARRAY(a, const struct unit_record *, n + 1);
	uint32_t shards = (uint32_t)1 << bits;
	for (uint32_t i = 0; i < n; i++)
		first[shard_of(units[i]->made.identity, bits) + 1]++;
	for (uint32_t k = 0; k < shards; k++)
		first[k + 1] += first[k];
	uint32_t *next = ARENA_ARRAY(a, uint32_t, shards + 1);
	memcpy(next, first, shards * sizeof *next);
	for (uint32_t i = 0; i < n; i++)
		sorted[next[shard_of(units[i]->made.identity, bits)]++] = units[i];
	return sorted;
}

void history_save(struct store *project, const char *model, const struct history *then, const struct unit_record *const *units, uint32_t n)
{
	struct arena *a = arena_new(0);
	uint32_t bits = bits_for(n), shards = (uint32_t)1 << bits;
	uint32_t *first = ARENA_ARRAY(a, uint32_t, shards + 1), *had = ARENA_ARRAY(a, uint32_t, shards);
	const struct unit_record **sorted = by_shard(a, units, n, bits, first);
	bool same = then->n && bits_for(then->n) == bits;
	for (uint32_t i = 0; i < then->n; i++)
		had[shard_of(then->units[i].made.identity, bits)]++;
	for (uint32_t k = 0; k < shards; k++) {
		bool changed = !same || had[k] != first[k + 1] - first[k];
		for (uint32_t i = first[k]; i < first[k + 1] && !changed; i++)
			changed = !is_old(then, sorted[i]);
		if (changed)
			save_shard(project, model, k, bits, sorted + first[k], first[k + 1] - first[k]);
	}
	if (!same || then->n != n)
		save_index(project, model, bits, n);
	arena_free(a);
}

void history_encode(struct buf *out, const struct history *h)
{
	buf_u32(out, h->n);
	for (uint32_t i = 0; i < h->n; i++)
		put_unit(out, &h->units[i]);
}

struct history *history_decode(struct arena *a, struct deserializer *w)
{
	struct history *h = ARENA_NEW(a, struct history);
	uint32_t n = deserialize_count(w, LEAST_UNIT);
	struct unit_record *units = ARENA_ARRAY(a, struct unit_record, n + 1);
	for (uint32_t i = 0; i < n && w->ok; i++)
		take_unit(a, w, &units[i]);
	h->units = units;
	h->n = w->ok ? n : 0;
	for (uint32_t i = 0; i < h->n; i++)
		index_unit(h, i);
	return h;
}

static const struct unit_record *at(const struct history *h, const struct map *m, hash128 key)
{
	uint64_t i;
	return map_get(m, key, &i) ? &h->units[i - 1] : NULL;
}

const struct unit_record *history_find(const struct history *h, hash128 identity) { return at(h, &h->by_identity, identity); }

const struct unit_record *history_of_definition(const struct history *h, const char *file, const char *definition)
{
	return at(h, &h->by_definition, definition_key(file, definition));
}
