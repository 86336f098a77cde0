#include "builder/cache/direct_record.h"
#include "base/arena.h"
#include "builder/store/build_record.h"
#include "builder/store/costs.h"
#include "builder/store/history.h"
#include "builder/store/serializer.h"

#define DIRECT_MAGIC 0x33524944u /* "DIR3"; both records begin with it */

void direct_serialize_files(struct serializer *s, struct direct_file **files, uint32_t *n)
{
	serialize_magic(s, DIRECT_MAGIC);
	serialize_array(s, files, n, sizeof **files);
	for (uint32_t i = 0; i < *n && s->ok; i++) {
		serialize_enum(s, &(*files)[i].kind, INPUT_KIND_COUNT);
		serialize_str(s, &(*files)[i].path);
	}
}

static void serialize_model(struct serializer *s, struct direct_model *m)
{
	if (!s->out)
		m->history = ARENA_NEW(s->arena, struct history);
	history_serialize(s, m->history);
	interface_serialize(s, &m->interface);
	if (!s->out)
		m->costs = ARENA_ARRAY(s->arena, struct cost, m->history->n + 1);
	for (uint32_t i = 0; i < m->history->n && s->ok; i++)
		cost_serialize(s, &m->costs[i]);
}

void direct_serialize(struct serializer *s, struct direct_record *r)
{
	serialize_magic(s, DIRECT_MAGIC);
	serialize_u32(s, &r->units);
	serialize_array(s, &r->outputs, &r->n_outputs, sizeof *r->outputs);
	for (uint32_t i = 0; i < r->n_outputs && s->ok; i++) {
		serialize_str(s, &r->outputs[i].path);
		serialize_hash(s, &r->outputs[i].content);
	}
	build_record_serialize_sources(s, &r->sources, &r->n_sources);
	serialize_array(s, &r->models, &r->n_models, sizeof *r->models);
	for (uint32_t i = 0; i < r->n_models && s->ok; i++)
		serialize_model(s, &r->models[i]);
}

void direct_free(struct direct_record *r)
{
	for (uint32_t i = 0; i < r->n_models; i++)
		history_free(r->models[i].history);
}
