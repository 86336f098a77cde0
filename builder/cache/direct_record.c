#include "builder/cache/direct_record.h"
#include "base/arena.h"
#include "builder/store/build_record.h"
#include "builder/store/costs.h"
#include "builder/store/history.h"
#include "builder/store/serialize.h"

struct direct_file *direct_decode_list(struct arena *a, const void *bytes, size_t len, uint32_t *n)
{
	struct deserializer w = {.at = bytes, .left = len, .ok = true};
	if (deserialize_u32(&w) != DIRECT_MAGIC)
		return NULL;
	*n = deserialize_count(&w, 6);
	struct direct_file *files = ARENA_ARRAY(a, struct direct_file, *n + 1);
	for (uint32_t i = 0; i < *n && w.ok; i++) {
		files[i].kind = (enum input_kind)deserialize_u8(&w);
		files[i].path = deserialize_str(&w);
		w.ok &= files[i].kind < INPUT_KIND_COUNT;
	}
	return deserialize_end(&w) ? files : NULL;
}

static struct cost *take_costs(struct arena *a, struct deserializer *w, uint32_t n)
{
	struct cost *costs = ARENA_ARRAY(a, struct cost, n + 1);
	for (uint32_t i = 0; i < n && w->ok; i++) {
		costs[i].ns = deserialize_u64(w);
		costs[i].memory = deserialize_u64(w);
	}
	return costs;
}

bool direct_decode(struct arena *a, const void *bytes, size_t len, struct direct_record *r)
{
	struct deserializer w = {.at = bytes, .left = len, .ok = true};
	*r = (struct direct_record){0};
	if (deserialize_u32(&w) != DIRECT_MAGIC)
		return false;
	r->units = deserialize_u32(&w);
	r->n_outputs = deserialize_count(&w, 21);
	r->outputs = ARENA_ARRAY(a, struct direct_output, r->n_outputs + 1);
	for (uint32_t i = 0; i < r->n_outputs && w.ok; i++) {
		r->outputs[i].path = deserialize_str(&w);
		r->outputs[i].content = deserialize_hash(&w);
	}
	r->n_sources = deserialize_count(&w, 25);
	r->sources = ARENA_ARRAY(a, struct build_record_source, r->n_sources + 1);
	for (uint32_t i = 0; i < r->n_sources && w.ok; i++) {
		r->sources[i].path = deserialize_str(&w);
		r->sources[i].model = deserialize_u32(&w);
		r->sources[i].tokens = deserialize_hash(&w);
	}
	r->n_models = deserialize_count(&w, 4);
	r->histories = ARENA_ARRAY(a, struct history *, r->n_models + 1);
	r->costs = ARENA_ARRAY(a, struct cost *, r->n_models + 1);
	for (uint32_t i = 0; i < r->n_models && w.ok; i++) {
		r->histories[i] = history_decode(a, &w);
		r->costs[i] = take_costs(a, &w, r->histories[i]->n);
	}
	return deserialize_end(&w);
}

void direct_free(struct direct_record *r)
{
	for (uint32_t i = 0; r->histories && i < r->n_models; i++)
		history_free(r->histories[i]);
}
