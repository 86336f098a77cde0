#include "builder/build/link/link_record.h"
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/os.h"
#include "builder/build/model/model.h"
#include "builder/manifest/build_spec.h"
#include "builder/store/disk.h"
#include "builder/store/serializer.h"
#include "builder/store/store.h"
#include "builder/weights/packed.h"

struct link_record {
	hash128 digest;
	const char *weights[EMIT_COUNT]; /* paths of the weight files; "": none */
	struct file_stamp *stamps;       /* of the outputs, in the order of model_list_outputs */
	uint32_t n_stamps;
	struct library_weights { /* of each library */
		uint64_t emit;
		struct triw_entry *entries;
		uint32_t n;
	} *libraries;
	uint32_t n_libraries;
};

static hash128 record_key(const struct model_job *m)
{
	return store_key("link", arena_printf(m->link.arena, "%s/%s", m->spec->out, m->spec->name));
}

static void link_record_serialize_bytes(struct serializer *s, uint8_t bytes[sizeof(hash128)])
{
	hash128 h;
	memcpy(&h, bytes, sizeof h);
	serialize_hash(s, &h);
	memcpy(bytes, &h, sizeof h);
}

static void link_record_serialize_entry(struct serializer *s, struct triw_entry *entry)
{
	link_record_serialize_bytes(s, entry->key);
	serialize_u64(s, &entry->offset);
	serialize_u64(s, &entry->size);
	link_record_serialize_bytes(s, entry->digest);
}

static void serialize(struct serializer *s, struct link_record *r)
{
	serialize_hash(s, &r->digest);
	for (enum emit e = 0; e < EMIT_COUNT; e++)
		serialize_str(s, &r->weights[e]);
	serialize_array(s, &r->stamps, &r->n_stamps, sizeof *r->stamps);
	for (uint32_t i = 0; i < r->n_stamps && s->ok; i++)
		serialize_stamp(s, &r->stamps[i]);
	serialize_array(s, &r->libraries, &r->n_libraries, sizeof *r->libraries);
	for (uint32_t i = 0; i < r->n_libraries && s->ok; i++) {
		serialize_u64(s, &r->libraries[i].emit);
		serialize_array(s, &r->libraries[i].entries, &r->libraries[i].n, sizeof *r->libraries[i].entries);
		for (uint32_t k = 0; k < r->libraries[i].n && s->ok; k++)
			link_record_serialize_entry(s, &r->libraries[i].entries[k]);
	}
}

static bool link_record_load(struct store *store, const struct model_job *m, struct link_record *r)
{
	size_t n = 0;
	const void *bytes = store_get(store, record_key(m), &n);
	struct serializer s = serializer_from(m->link.arena, bytes, n);
	serialize(&s, r);
	return serializer_is_done(&s);
}

/* Loads the record of the last link, which wrote the outputs *o. False: there is none. */
static bool load_outputs(struct store *store, const struct model_job *m, struct link_record *r, struct model_outputs *outputs,
			 const char *paths[MOST_OUTPUTS])
{
	*outputs = m->outputs;
	if (!link_record_load(store, m, r))
		return false;
	for (enum emit e = 0; e < EMIT_COUNT; e++)
		outputs->weights[e] = *r->weights[e] ? r->weights[e] : NULL;
	return model_list_outputs(outputs, paths) == r->n_stamps;
}

bool link_record_is_current(const struct disk *disk, struct store *store, struct model_job *m)
{
	const char *paths[MOST_OUTPUTS];
	struct model_outputs o;
	struct link_record r;
	if (!load_outputs(store, m, &r, &o, paths) || !hash_eq(r.digest, m->link.digest))
		return false;
	for (uint32_t i = 0; i < r.n_stamps; i++)
		if (!disk_has_stamp(disk, paths[i], &r.stamps[i]))
			return false;
	m->outputs = o;
	return true;
}

/* True if the last link wrote the file, and it is unchanged. */
static bool link_record_is_unchanged(const struct disk *disk, const struct link_record *r, const char *const paths[MOST_OUTPUTS],
				     const char *path)
{
	for (uint32_t i = 0; i < r->n_stamps; i++)
		if (strcmp(paths[i], path) == 0)
			return disk_has_stamp(disk, path, &r->stamps[i]);
	return false;
}

const char *link_record_weights(const struct disk *disk, struct store *store, const struct model_job *m, enum emit emit)
{
	const char *paths[MOST_OUTPUTS];
	struct model_outputs o;
	struct link_record r;
	bool found = load_outputs(store, m, &r, &o, paths) && o.weights[emit] && link_record_is_unchanged(disk, &r, paths, o.weights[emit]);
	return found ? o.weights[emit] : NULL;
}

const struct triw_entry *link_record_library(const struct disk *disk, struct store *store, const struct model_job *m, enum emit emit,
					     uint32_t *n)
{
	const char *paths[MOST_OUTPUTS];
	struct link_record r;
	struct model_outputs o;
	if (!load_outputs(store, m, &r, &o, paths) || !link_record_is_unchanged(disk, &r, paths, m->outputs.emitted[emit][0]))
		return NULL;
	for (uint32_t i = 0; i < r.n_libraries; i++)
		if (r.libraries[i].emit == emit) {
			*n = r.libraries[i].n;
			return r.libraries[i].entries;
		}
	return NULL;
}

static void list_libraries(const struct model_job *m, struct link_record *r)
{
	r->libraries = ARENA_ARRAY(m->link.arena, struct library_weights, m->n_variants + 1);
	for (uint32_t i = 0; i < m->n_variants; i++) {
		const struct variant *v = &m->variants[i];
		if (!v->backend->library || !v->pack.packed || !variant_output(v) ||
		    strcmp(m->spec->linker, "internal") != 0) /* a text has other bytes, and an outside linker chooses their places */
			continue;
		r->libraries[r->n_libraries++] =
			(struct library_weights){v->emit, packed_table(m->link.arena, v->pack.packed), v->pack.layout->n_blobs};
	}
}

void link_record_save(const struct disk *d, struct store *store, const struct model_job *m)
{
	const char *paths[MOST_OUTPUTS];
	struct file_stamp stamps[MOST_OUTPUTS];
	struct link_record r = {.digest = m->link.digest, .stamps = stamps, .n_stamps = model_list_outputs(&m->outputs, paths)};
	struct buf b = {0};
	struct serializer s = serializer_to(&b);
	for (uint32_t i = 0; i < r.n_stamps; i++)
		d->stamp(d->ctx, paths[i], &stamps[i]);
	for (enum emit e = 0; e < EMIT_COUNT; e++)
		r.weights[e] = m->outputs.weights[e] ? m->outputs.weights[e] : "";
	list_libraries(m, &r);
	serialize(&s, &r);
	store_put(store, record_key(m), b.at, b.len);
	buf_free(&b);
}
