#include "builder/history.h"
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "builder/store.h"
#include "builder/wire.h"

#define HISTORY_MAGIC 0x32545348u /* "HST2" */
enum { SHARD_UNITS = 128, MOST_BITS = 20 };
enum { LEAST_UNIT = 4 * 5 + 8 * 16 + 1 + 8 + 5 * 4 }; /* bytes of a record without a name or a part */

static hash128 index_key(const char *model) { return store_key("units", model); }
static hash128 shard_key(const char *model, uint32_t shard) { return hash_combine(index_key(model), (hash128){shard, 1}); }
static uint32_t shard_of(hash128 identity, uint32_t bits) { return bits ? (uint32_t)(identity.hi >> (64 - bits)) : 0; }

/* ---- one record ---- */

static void put_slots(struct buf *b, const struct unit_record *u)
{
	buf_u32(b, u->plan.n_slots);
	for (uint32_t i = 0; i < u->plan.n_slots; i++) {
		const struct slot *s = &u->plan.slots[i];
		buf_u8(b, (uint8_t)s->kind);
		buf_u8(b, (uint8_t)s->layout);
		buf_u32(b, s->slice_output);
		buf_u32(b, s->n_args);
		wire_put_hash(b, u->callees[i]);
	}
}

static void take_slots(struct arena *a, struct wire *w, struct unit_record *u)
{
	u->plan.n_slots = wire_count(w, 26);
	u->plan.slots = ARENA_ARRAY(a, struct slot, u->plan.n_slots + 1);
	u->callees = ARENA_ARRAY(a, hash128, u->plan.n_slots + 1);
	for (uint32_t i = 0; i < u->plan.n_slots; i++) {
		struct slot *s = &u->plan.slots[i];
		s->kind = (enum slot_kind)wire_u8(w);
		s->layout = (enum layout)wire_u8(w);
		s->slice_output = wire_u32(w);
		s->n_args = wire_u32(w);
		u->callees[i] = wire_hash(w);
		w->ok &= s->kind <= SLOT_TABLE && s->layout < LAYOUT_COUNT;
	}
}

static void put_face(struct buf *b, const struct slice_face *f)
{
	buf_u32(b, f->n_weights);
	for (uint32_t i = 0; i < f->n_weights; i++)
		buf_u32(b, f->piece_of[i]);
	buf_u32(b, f->n_pieces);
	for (uint32_t i = 0; i < f->n_pieces; i++)
		wire_put_hash(b, f->pieces[i]);
	buf_u32(b, f->n_outputs);
	for (uint32_t i = 0; i < f->n_outputs; i++) {
		const struct slice_output *o = &f->outputs[i];
		buf_u32(b, o->weight);
		buf_u32(b, o->piece);
		buf_u32(b, o->nth);
		buf_u8(b, (uint8_t)o->elem);
		buf_u8(b, o->rank);
		for (uint32_t d = 0; d < o->rank; d++)
			buf_u64(b, (uint64_t)o->dims[d]);
	}
}

static void take_output(struct wire *w, const struct slice_face *f, struct slice_output *o)
{
	o->weight = wire_u32(w);
	o->piece = wire_u32(w);
	o->nth = wire_u32(w);
	o->elem = (dtype)wire_u8(w);
	o->rank = wire_u8(w);
	w->ok &= o->elem < DT_COUNT && o->rank <= CORE_MAX_RANK;
	w->ok &= o->weight == PLAN_NONE ? o->piece < f->n_pieces : o->weight < f->n_weights && o->piece == PLAN_NONE;
	for (uint32_t d = 0; w->ok && d < o->rank; d++)
		o->dims[d] = (int64_t)wire_u64(w);
}

static void take_face(struct arena *a, struct wire *w, struct slice_face *f)
{
	f->n_weights = wire_count(w, 4);
	f->piece_of = ARENA_ARRAY(a, uint32_t, f->n_weights + 1);
	for (uint32_t i = 0; i < f->n_weights; i++)
		f->piece_of[i] = wire_u32(w);
	f->n_pieces = wire_count(w, 16);
	f->pieces = ARENA_ARRAY(a, hash128, f->n_pieces + 1);
	for (uint32_t i = 0; i < f->n_pieces; i++)
		f->pieces[i] = wire_hash(w);
	for (uint32_t i = 0; i < f->n_weights; i++)
		w->ok &= f->piece_of[i] == PLAN_NONE || f->piece_of[i] < f->n_pieces;
	f->n_outputs = wire_count(w, 14);
	f->outputs = ARENA_ARRAY(a, struct slice_output, f->n_outputs + 1);
	for (uint32_t i = 0; w->ok && i < f->n_outputs; i++)
		take_output(w, f, &f->outputs[i]);
}

static void put_unit(struct buf *b, const struct unit_record *u)
{
	wire_put_str(b, u->name);
	wire_put_str(b, u->file);
	wire_put_str(b, u->definition);
	wire_put_str(b, u->cpu);
	const hash128 hashes[] = {u->identity, u->tokens, u->code, u->key, u->compiler, u->target, u->plan.slice_hash, u->plan.run_hash};
	for (size_t i = 0; i < sizeof hashes / sizeof *hashes; i++)
		wire_put_hash(b, hashes[i]);
	buf_u8(b, u->opt);
	buf_u64(b, (uint64_t)u->compile_ns);
	buf_u32(b, u->n_parts);
	for (uint32_t k = 0; k < u->n_parts; k++) {
		buf_u8(b, (uint8_t)u->parts[k].kind);
		wire_put_str(b, u->parts[k].name);
		wire_put_hash(b, u->parts[k].identity);
		wire_put_hash(b, u->parts[k].code);
		buf_u64(b, u->parts[k].facts);
	}
	put_slots(b, u);
	put_face(b, &u->plan.face);
}

static void take_unit(struct arena *a, struct wire *w, struct unit_record *u)
{
	u->name = wire_str(w);
	u->file = wire_str(w);
	u->definition = wire_str(w);
	u->cpu = wire_str(w);
	hash128 *const hashes[] = {&u->identity, &u->tokens, &u->code, &u->key, &u->compiler, &u->target, &u->plan.slice_hash, &u->plan.run_hash};
	for (size_t i = 0; i < sizeof hashes / sizeof *hashes; i++)
		*hashes[i] = wire_hash(w);
	u->opt = wire_u8(w);
	u->compile_ns = (int64_t)wire_u64(w);
	u->n_parts = wire_count(w, 46);
	u->parts = ARENA_ARRAY(a, struct unit_part, u->n_parts + 1);
	for (uint32_t k = 0; k < u->n_parts && w->ok; k++) {
		u->parts[k].kind = (enum part_kind)wire_u8(w);
		w->ok &= u->parts[k].kind < PART_KIND_COUNT;
		u->parts[k].name = wire_str(w);
		u->parts[k].identity = wire_hash(w);
		u->parts[k].code = wire_hash(w);
		u->parts[k].facts = wire_u64(w);
	}
	take_slots(a, w, u);
	take_face(a, w, &u->plan.face);
}

/* ---- all of a model ---- */

static hash128 definition_key(const char *file, const char *definition) { return hash_combine(map_key_str(file), map_key_str(definition)); }

static void index_unit(struct history *h, uint32_t i)
{
	const struct unit_record *u = &h->units[i];
	hash128 definition = definition_key(u->file, u->definition);
	map_put(&h->by_identity, u->identity, i + 1);
	if (!map_get(&h->by_definition, definition, NULL))
		map_put(&h->by_definition, definition, i + 1);
}

static uint32_t load_shard(struct arena *a, struct store *project, const char *model, uint32_t shard, uint32_t bits, struct unit_record *units,
			   uint32_t room)
{
	struct wire w = {.ok = true};
	w.at = store_get(project, shard_key(model, shard), &w.left);
	if (!w.at || wire_u32(&w) != HISTORY_MAGIC || wire_u32(&w) != bits)
		return 0;
	uint32_t n = wire_count(&w, LEAST_UNIT);
	for (uint32_t i = 0; i < n && i < room && w.ok; i++)
		take_unit(a, &w, &units[i]);
	return n <= room && wire_end(&w) ? n : 0;
}

struct history *history_load(struct arena *a, struct store *project, const char *model)
{
	struct history *h = ARENA_NEW(a, struct history);
	struct wire w = {.ok = true};
	w.at = store_get(project, index_key(model), &w.left);
	if (!w.at || wire_u32(&w) != HISTORY_MAGIC)
		return h;
	uint32_t bits = wire_u32(&w), n = wire_u32(&w);
	if (!wire_end(&w) || bits > MOST_BITS || n / SHARD_UNITS > (uint32_t)1 << bits)
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

static void save_shard(struct store *project, const char *model, uint32_t shard, uint32_t bits, const struct unit_record *const *units, uint32_t n)
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
static const struct unit_record **by_shard(struct arena *a, const struct unit_record *const *units, uint32_t n, uint32_t bits, uint32_t *first)
{
	const struct unit_record **sorted = ARENA_ARRAY(a, const struct unit_record *, n + 1);
	uint32_t shards = (uint32_t)1 << bits;
	for (uint32_t i = 0; i < n; i++)
		first[shard_of(units[i]->identity, bits) + 1]++;
	for (uint32_t k = 0; k < shards; k++)
		first[k + 1] += first[k];
	uint32_t *next = ARENA_ARRAY(a, uint32_t, shards + 1);
	memcpy(next, first, shards * sizeof *next);
	for (uint32_t i = 0; i < n; i++)
		sorted[next[shard_of(units[i]->identity, bits)]++] = units[i];
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
		had[shard_of(then->units[i].identity, bits)]++;
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

struct history *history_decode(struct arena *a, struct wire *w)
{
	struct history *h = ARENA_NEW(a, struct history);
	uint32_t n = wire_count(w, LEAST_UNIT);
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
