#include "builder/store/build_record.h"
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "builder/store/serialize.h"
#include "builder/store/store.h"

#define TRACE_MAGIC 0x32435254u /* "TRC2" */

void build_record_save(struct store *s, hash128 key, const struct build_record *t)
{
	struct buf b = {0};
	buf_u32(&b, TRACE_MAGIC);
	serialize_hash(&b, t->rest);
	buf_u32(&b, t->units);
	buf_u8(&b, t->committed);
	buf_u32(&b, t->n_inputs);
	buf_u32(&b, t->n_outputs);
	buf_u32(&b, t->n_sources);
	for (uint32_t i = 0; i < t->n_inputs; i++) {
		buf_u32(&b, t->inputs[i].kind);
		serialize_stamp(&b, &t->inputs[i].stamp);
		serialize_hash(&b, t->inputs[i].content);
		serialize_str(&b, t->inputs[i].path);
	}
	for (uint32_t i = 0; i < t->n_outputs; i++) {
		serialize_stamp(&b, &t->outputs[i].stamp);
		serialize_str(&b, t->outputs[i].path);
	}
	for (uint32_t i = 0; i < t->n_sources; i++) {
		buf_u32(&b, t->sources[i].model);
		serialize_hash(&b, t->sources[i].tokens);
		serialize_str(&b, t->sources[i].path);
	}
	store_put(s, key, b.at, b.len);
	buf_free(&b);
}

struct build_record *build_record_load(struct arena *a, struct store *s, hash128 key)
{
	struct deserializer c = {.ok = true};
	c.at = store_get(s, key, &c.left);
	if (!c.at || deserialize_u32(&c) != TRACE_MAGIC)
		return NULL;
	struct build_record *t = ARENA_NEW(a, struct build_record);
	t->rest = deserialize_hash(&c);
	t->units = deserialize_u32(&c);
	t->committed = deserialize_u8(&c) != 0;
	t->n_inputs = deserialize_count(&c, 53);
	t->n_outputs = deserialize_count(&c, 37);
	t->n_sources = deserialize_count(&c, 25);
	t->inputs = ARENA_ARRAY(a, struct input, t->n_inputs + 1);
	t->outputs = ARENA_ARRAY(a, struct build_record_output, t->n_outputs + 1);
	t->sources = ARENA_ARRAY(a, struct build_record_source, t->n_sources + 1);
	for (uint32_t i = 0; i < t->n_inputs && c.ok; i++) {
		t->inputs[i].kind = (enum input_kind)deserialize_u32(&c);
		c.ok &= t->inputs[i].kind < INPUT_KIND_COUNT;
		t->inputs[i].stamp = deserialize_stamp(&c);
		t->inputs[i].content = deserialize_hash(&c);
		t->inputs[i].path = deserialize_str(&c);
	}
	for (uint32_t i = 0; i < t->n_outputs && c.ok; i++) {
		t->outputs[i].stamp = deserialize_stamp(&c);
		t->outputs[i].path = deserialize_str(&c);
	}
	for (uint32_t i = 0; i < t->n_sources && c.ok; i++) {
		t->sources[i].model = deserialize_u32(&c);
		t->sources[i].tokens = deserialize_hash(&c);
		t->sources[i].path = deserialize_str(&c);
	}
	return deserialize_end(&c) ? t : NULL;
}

static bool is_source(const char *path)
{
	size_t n = strlen(path);
	return n > 4 && strcmp(path + n - 4, ".tri") == 0;
}

enum build_record_state build_record_verify(struct arena *a, struct build_record *t, hash128 rest, bool *touched, const char **why)
{
	enum build_record_state state = TRACE_FRESH;
	*touched = false;
	*why = "";
	if (!hash_eq(t->rest, rest)) {
		*why = "the options changed";
		return TRACE_STALE;
	}
	for (uint32_t i = 0; i < t->n_outputs; i++) {
		struct file_stamp now;
		if (!os_stamp(t->outputs[i].path, &now) || !os_stamp_eq(&now, &t->outputs[i].stamp)) {
			*why = arena_printf(a, "%s is missing or was changed", t->outputs[i].path);
			return TRACE_STALE;
		}
	}
	bool *changed = ARENA_ARRAY(a, bool, t->n_inputs + 1);
	inputs_verify(t->inputs, t->n_inputs, changed, touched);
	for (uint32_t i = 0; i < t->n_inputs; i++) {
		const struct input *in = &t->inputs[i];
		if (!changed[i])
			continue;
		/* a file that comes or goes changes what names mean: only edits of both sides' files count as edits */
		bool edit = in->kind == INPUT_FILE && is_source(in->path) && !hash_is_zero(in->content);
		if (!edit || state == TRACE_FRESH)
			*why = arena_printf(a, "%s changed", in->path);
		if (!edit)
			return TRACE_STALE;
		state = TRACE_SOURCES;
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
