#include "builder/store/interface_record.h"
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "builder/store/serializer.h"
#include "builder/store/store.h"

#define INTERFACE_MAGIC 0x31434649u /* "IFC1" */

static void serialize_values(struct serializer *s, struct interface_value **values, uint32_t *n)
{
	serialize_array(s, values, n, sizeof **values);
	for (uint32_t i = 0; i < *n && s->ok; i++) {
		serialize_str(s, &(*values)[i].name);
		serialize_str(s, &(*values)[i].type);
	}
}

void interface_serialize(struct serializer *s, struct interface_record *r)
{
	serialize_magic(s, INTERFACE_MAGIC);
	serialize_array(s, &r->entries, &r->n_entries, sizeof *r->entries);
	for (uint32_t i = 0; i < r->n_entries && s->ok; i++) {
		struct interface_entry *e = &r->entries[i];
		serialize_str(s, &e->name);
		serialize_values(s, &e->inputs, &e->n_inputs);
		serialize_values(s, &e->states, &e->n_states);
		serialize_u32(s, &e->tensors);
		serialize_u64(s, &e->elements);
		serialize_u64(s, &e->bytes);
	}
}

/* Strings stay valid when the store or cache is closed. */
static struct interface_record read_copy(struct arena *a, const void *bytes, size_t len)
{
	struct interface_record r = {0};
	struct serializer s = serializer_from(a, bytes ? memcpy(arena_alloc(a, len, 1), bytes, len) : NULL, len);
	interface_serialize(&s, &r);
	return serializer_is_done(&s) ? r : (struct interface_record){0};
}

bool interface_replace(struct arena *a, struct store *project, const char *model, struct interface_record *now,
		       struct interface_record *before)
{
	hash128 key = store_key("interface", model);
	struct buf bytes = {0};
	struct serializer s = serializer_to(&bytes);
	size_t len = 0;
	const void *old = store_get(project, key, &len);
	interface_serialize(&s, now);
	bool changed = !old || len != bytes.len || memcmp(old, bytes.at, len) != 0;
	if (changed) {
		*before = read_copy(a, old, len);
		*now = read_copy(a, bytes.at, bytes.len);
		store_put(project, key, bytes.at, bytes.len);
	}
	buf_free(&bytes);
	return changed;
}
