#include "builder/build/link.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/os.h"
#include "builder/build/context.h"
#include "builder/build/model.h"
#include "builder/manifest/build_spec.h"
#include "builder/store/disk.h"
#include "builder/store/serializer.h"
#include "builder/store/store.h"

struct link_record {
	hash128 digest;
	const char *weights;       /* path of the weight file; "": none */
	struct file_stamp *stamps; /* of the outputs, the weight file last */
	uint32_t n_stamps;
};

static hash128 record_key(const struct model_job *m)
{
	return store_key("link", arena_printf(m->link.arena, "%s/%s", m->spec->out, m->spec->name));
}

static void serialize(struct serializer *s, struct link_record *r)
{
	serialize_hash(s, &r->digest);
	serialize_str(s, &r->weights);
	serialize_array(s, &r->stamps, &r->n_stamps, sizeof *r->stamps);
	for (uint32_t i = 0; i < r->n_stamps && s->ok; i++)
		serialize_stamp(s, &r->stamps[i]);
}

static bool load(const struct model_job *m, struct link_record *r)
{
	size_t n = 0;
	const void *bytes = store_get(m->context->stores.project, record_key(m), &n);
	struct serializer s = serializer_from(m->link.arena, bytes, n);
	serialize(&s, r);
	return serializer_is_done(&s);
}

bool link_record_is_current(struct model_job *m)
{
	const char *paths[MOST_OUTPUTS];
	struct model_outputs o = m->outputs;
	struct link_record r;
	if (!load(m, &r) || !hash_eq(r.digest, m->link.digest))
		return false;
	o.weights = *r.weights ? r.weights : NULL;
	if (model_list_outputs(&o, paths) != r.n_stamps)
		return false;
	for (uint32_t i = 0; i < r.n_stamps; i++)
		if (!disk_has_stamp(m->context->disk, paths[i], &r.stamps[i]))
			return false;
	m->outputs = o;
	return true;
}

const char *link_record_weights(const struct model_job *m)
{
	struct link_record r;
	return load(m, &r) && *r.weights && r.n_stamps && disk_has_stamp(m->context->disk, r.weights, &r.stamps[r.n_stamps - 1]) ? r.weights
																 : NULL;
}

void link_record_save(const struct model_job *m)
{
	const char *paths[MOST_OUTPUTS];
	struct file_stamp stamps[MOST_OUTPUTS];
	struct link_record r = {m->link.digest, m->outputs.weights ? m->outputs.weights : "", stamps,
				model_list_outputs(&m->outputs, paths)};
	struct buf b = {0};
	struct serializer s = serializer_to(&b);
	const struct disk *d = m->context->disk;
	for (uint32_t i = 0; i < r.n_stamps; i++)
		d->stamp(d->ctx, paths[i], &stamps[i]);
	serialize(&s, &r);
	store_put(m->context->stores.project, record_key(m), b.at, b.len);
	buf_free(&b);
}
