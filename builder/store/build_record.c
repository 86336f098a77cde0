#include "builder/store/build_record.h"
#include "base/path.h"
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "builder/store/disk.h"
#include "builder/store/serializer.h"
#include "builder/store/store.h"

#define BUILD_RECORD_MAGIC 0x33435254u /* "TRC3" */

void build_record_serialize_sources(struct serializer *s, struct build_record_source **sources, uint32_t *n)
{
	serialize_array(s, sources, n, sizeof **sources);
	for (uint32_t i = 0; i < *n && s->ok; i++) {
		serialize_str(s, &(*sources)[i].path);
		serialize_u32(s, &(*sources)[i].model);
		serialize_hash(s, &(*sources)[i].tokens);
	}
}

static void serialize_record(struct serializer *s, struct build_record *r)
{
	serialize_magic(s, BUILD_RECORD_MAGIC);
	serialize_hash(s, &r->rest);
	serialize_u32(s, &r->units);
	serialize_bool(s, &r->committed);
	serialize_array(s, &r->inputs, &r->n_inputs, sizeof *r->inputs);
	for (uint32_t i = 0; i < r->n_inputs && s->ok; i++) {
		serialize_enum(s, &r->inputs[i].kind, INPUT_KIND_COUNT);
		serialize_stamp(s, &r->inputs[i].stamp);
		serialize_hash(s, &r->inputs[i].content);
		serialize_str(s, &r->inputs[i].path);
	}
	serialize_array(s, &r->outputs, &r->n_outputs, sizeof *r->outputs);
	for (uint32_t i = 0; i < r->n_outputs && s->ok; i++) {
		serialize_stamp(s, &r->outputs[i].stamp);
		serialize_str(s, &r->outputs[i].path);
	}
	build_record_serialize_sources(s, &r->sources, &r->n_sources);
}

void build_record_save(struct store *store, hash128 key, const struct build_record *r)
{
	struct buf b = {0};
	struct serializer s = serializer_to(&b);
	serialize_record(&s, (struct build_record *)r);
	store_put(store, key, b.at, b.len);
	buf_free(&b);
}

struct build_record *build_record_load(struct arena *a, struct store *store, hash128 key)
{
	size_t n = 0;
	const void *bytes = store_get(store, key, &n);
	struct serializer s = serializer_from(a, bytes, n);
	struct build_record *r = ARENA_NEW(a, struct build_record);
	serialize_record(&s, r);
	return serializer_is_done(&s) ? r : NULL;
}

enum build_record_state build_record_verify(const struct disk *d, struct arena *a, struct build_record *t, hash128 rest, bool *touched,
					    const char **why)
{
	enum build_record_state state = RECORD_FRESH;
	*touched = false;
	*why = "";
	if (!hash_eq(t->rest, rest)) {
		*why = "the options changed";
		return RECORD_STALE;
	}
	for (uint32_t i = 0; i < t->n_outputs; i++) {
		if (!disk_has_stamp(d, t->outputs[i].path, &t->outputs[i].stamp)) {
			*why = arena_printf(a, "%s is missing or was changed", t->outputs[i].path);
			return RECORD_STALE;
		}
	}
	bool *changed = ARENA_ARRAY(a, bool, t->n_inputs + 1);
	inputs_verify(d, t->inputs, t->n_inputs, changed, touched);
	for (uint32_t i = 0; i < t->n_inputs; i++) {
		const struct input *in = &t->inputs[i];
		if (!changed[i])
			continue;
		/* a file that is added or removed changes what names mean: only a file that exists before and after counts as edited */
		bool edit = in->kind == INPUT_FILE && path_has_extension(in->path, "tri") && !hash_is_zero(in->content);
		if (!edit || state == RECORD_FRESH)
			*why = arena_printf(a, "%s changed", in->path);
		if (!edit)
			return RECORD_STALE;
		state = RECORD_SOURCES;
	}
	return state;
}

bool build_record_same_sources(const struct build_record *t, const struct build_record_source *sources, uint32_t n)
{
	if (n != t->n_sources)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		const struct build_record_source *a = &t->sources[i], *b = &sources[i];
		if (a->model != b->model || !hash_eq(a->tokens, b->tokens) || strcmp(a->path, b->path) != 0)
			return false;
	}
	return true;
}
