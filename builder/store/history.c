#include "builder/store/history.h"
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "builder/store/serializer.h"
#include "builder/store/store.h"
#include "builder/store/summary_record.h"

#define HISTORY_MAGIC 0x35545348u /* "HST5" */
enum { SHARD_UNITS = 128, MOST_BITS = 20 };

static hash128 history_index_key(const char *model) { return store_key("units", model); }
static hash128 shard_key(const char *model, uint32_t shard) { return hash_combine(history_index_key(model), (hash128){shard, 1}); }
static uint32_t shard_of(hash128 identity, uint32_t bits) { return bits ? (uint32_t)(identity.hi >> (64 - bits)) : 0; }

/* ---- records ---- */

static void serialize_unit(struct serializer *s, struct unit_record *u)
{
	serialize_str(s, &u->name);
	serialize_str(s, &u->file);
	serialize_str(s, &u->definition);
	serialize_str(s, &u->backend);
	serialize_str(s, &u->cpu);
	serialize_hash(s, &u->tokens);
	serialize_hash(s, &u->key);
	serialize_hash(s, &u->target);
	plan_record_serialize(s, &u->made);
	summary_serialize(s, &u->summary);
}

/* The whole index, and the start of a shard. `n`: units of the model, or of the shard. */
static void serialize_header(struct serializer *s, uint32_t *bits, uint32_t *n)
{
	serialize_magic(s, HISTORY_MAGIC);
	serialize_u32(s, bits);
	serialize_u32(s, n);
}

/* ---- loading ---- */

static hash128 identity_key(hash128 identity, const char *backend) { return hash_combine(identity, map_key_str(backend)); }

static hash128 definition_key(const char *file, const char *definition, const char *backend)
{
	return hash_combine(hash_combine(map_key_str(file), map_key_str(definition)), map_key_str(backend));
}

static void index_units(struct history *h)
{
	for (uint32_t i = 0; i < h->n; i++) {
		const struct unit_record *u = &h->units[i];
		hash128 definition = definition_key(u->file, u->definition, u->backend);
		map_put(&h->by_identity, identity_key(u->made.identity, u->backend), i + 1);
		if (!map_get(&h->by_definition, definition, NULL))
			map_put(&h->by_definition, definition, i + 1);
	}
}

static uint32_t load_shard(struct arena *a, struct store *project, hash128 key, uint32_t bits, struct unit_record *units, uint32_t room)
{
	size_t len = 0;
	const void *bytes = store_get(project, key, &len);
	struct serializer s = serializer_from(a, bytes, len);
	uint32_t stored_bits, n;
	serialize_header(&s, &stored_bits, &n);
	if (!s.ok || stored_bits != bits || n > room)
		return 0;
	for (uint32_t i = 0; i < n && s.ok; i++)
		serialize_unit(&s, &units[i]);
	return serializer_is_done(&s) ? n : 0;
}

struct history *history_load(struct arena *a, struct store *project, const char *model)
{
	struct history *h = ARENA_NEW(a, struct history);
	size_t len = 0;
	const void *bytes = store_get(project, history_index_key(model), &len);
	struct serializer s = serializer_from(a, bytes, len);
	uint32_t bits, n;
	serialize_header(&s, &bits, &n);
	if (!serializer_is_done(&s) || bits > MOST_BITS || n / SHARD_UNITS > (uint32_t)1 << bits)
		return h;
	h->units = ARENA_ARRAY(a, struct unit_record, n + 1);
	for (uint32_t k = 0; k < (uint32_t)1 << bits; k++)
		h->n += load_shard(a, project, shard_key(model, k), bits, h->units + h->n, n - h->n);
	index_units(h);
	return h;
}

void history_serialize(struct serializer *s, struct history *h)
{
	serialize_array(s, &h->units, &h->n, sizeof *h->units);
	for (uint32_t i = 0; i < h->n && s->ok; i++)
		serialize_unit(s, &h->units[i]);
	if (!s->ok)
		h->n = 0;
	if (!s->out)
		index_units(h);
}

void history_free(struct history *h)
{
	if (!h)
		return;
	map_free(&h->by_identity);
	map_free(&h->by_definition);
}

/* ---- saving ---- */

static uint32_t bits_for(uint32_t n)
{
	uint32_t bits = 0;
	while (bits < MOST_BITS && n > (uint32_t)SHARD_UNITS << bits)
		bits++;
	return bits;
}

/* Saves the header and units, at the key of the index or of a shard. */
static void store_history_save(struct store *project, hash128 key, uint32_t bits, uint32_t n, const struct unit_record *const *units,
			       uint32_t n_units)
{
	struct buf b = {0};
	struct serializer s = serializer_to(&b);
	serialize_header(&s, &bits, &n);
	for (uint32_t i = 0; i < n_units; i++)
		serialize_unit(&s, (struct unit_record *)units[i]);
	store_put(project, key, b.at, b.len);
	buf_free(&b);
}

static bool history_is_unchanged(const struct history *old, const struct unit_record *u)
{
	return u >= old->units && u < old->units + old->n;
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

void history_save(struct store *project, const char *model, const struct history *old, const struct unit_record *const *units, uint32_t n)
{
	struct arena *a = arena_new(0);
	uint32_t bits = bits_for(n), shards = (uint32_t)1 << bits;
	uint32_t *first = ARENA_ARRAY(a, uint32_t, shards + 1), *old_n = ARENA_ARRAY(a, uint32_t, shards);
	const struct unit_record **sorted = by_shard(a, units, n, bits, first);
	bool same = old->n && bits_for(old->n) == bits;
	for (uint32_t i = 0; i < old->n; i++)
		old_n[shard_of(old->units[i].made.identity, bits)]++;
	for (uint32_t k = 0; k < shards; k++) {
		bool changed = !same || old_n[k] != first[k + 1] - first[k];
		for (uint32_t i = first[k]; i < first[k + 1] && !changed; i++)
			changed = !history_is_unchanged(old, sorted[i]);
		if (changed)
			store_history_save(project, shard_key(model, k), bits, first[k + 1] - first[k], sorted + first[k],
					   first[k + 1] - first[k]);
	}
	if (!same || old->n != n)
		store_history_save(project, history_index_key(model), bits, n, NULL, 0);
	arena_free(a);
}

/* ---- looking up ---- */

static const struct unit_record *store_history_find(const struct history *h, const struct map *map, hash128 key)
{
	uint64_t i;
	return map_get(map, key, &i) ? &h->units[i - 1] : NULL;
}

const struct unit_record *history_find(const struct history *h, hash128 identity, const char *backend)
{
	return store_history_find(h, &h->by_identity, identity_key(identity, backend));
}

const struct unit_record *history_of_definition(const struct history *h, const char *file, const char *definition, const char *backend)
{
	return store_history_find(h, &h->by_definition, definition_key(file, definition, backend));
}
