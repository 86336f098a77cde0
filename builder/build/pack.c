#include <stdatomic.h>
#include <string.h>
#include "backend/link/backend.h"
#include "backend/link/model.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/os.h"
#include "builder/build/link.h"
#include "builder/build/build_steps.h"
#include "builder/build/timing.h"
#include "builder/cache/cache.h"
#include "builder/weights/triw.h"
#include "frontend/hir/hir.h"

static const struct ir_fn *build_fn_of(void *ctx, const struct plan *p)
{
	struct variant *v = ctx;
	return plan_cache_code(variant_find_unit(v, p->unit->identity))->build_fn;
}

static bool load_param(void *ctx, struct arena *a, uint32_t param, struct tensor *out, const char **error)
{
	struct variant *v = ctx;
	return params_load(v->model, a, param, out, error);
}

struct model_input pack_model_input(struct variant *v)
{
	const struct model_job *m = v->model;
	return (struct model_input){.program = m->program,
				    .plans = v->units.plans,
				    .params = m->params.bound.params,
				    .param_hashes = m->params.bound.hashes,
				    .load = load_param,
				    .build_fn = build_fn_of,
				    .ctx = v};
}

/* Where packed weights go: into the weight file, else into the cache, else into an arena. */
struct weight_store {
	struct variant *v;
	struct cache *cache;
	struct arena *a;
};

static bool find_cached(const struct weight_store *s, struct model_blob *b)
{
	size_t len;
	b->bytes = cache_get(s->cache, CACHE_WEIGHTS, b->key, &len);
	if (b->bytes && len != b->len)
		b->bytes = NULL;
	return b->bytes != NULL;
}

static bool find_packed(void *ctx, struct model_blob *b)
{
	const struct weight_store *s = ctx;
	struct model_pack *p = &s->v->pack;
	bool found = p->is_shared[b - p->layout->blobs] || (p->triw ? triw_find(p->triw, b) : find_cached(s, b));
	p->packed_before += found;
	return found;
}

/* The packed bytes must not be cached under the hash of the old content. */
static const char *changed_error(struct model_job *m, struct arena *a)
{
	m->context->environment = true;
	return arena_printf(a, "`%s` was changed while it was read; build again", m->spec->weights->text);
}

static bool store_cached(const struct weight_store *s, struct model_blob *b, const void *bytes, const char **error)
{
	if (weights_changed(s->v->model->params.file)) {
		*error = changed_error(s->v->model, s->a);
		return false;
	}
	b->bytes = cache_put(s->cache, CACHE_WEIGHTS, b->key, bytes, b->len, 0);
	if (!b->bytes && b->len)
		b->bytes = memcpy(arena_alloc(s->a, b->len, 64), bytes, b->len);
	else if (!b->bytes)
		b->bytes = "";
	return true;
}

static bool store_packed(void *ctx, struct model_blob *b, const void *bytes, const char **error)
{
	const struct weight_store *s = ctx;
	struct model_pack *p = &s->v->pack;
	p->packed++;
	return p->triw ? triw_put(p->triw, b, bytes, error) : store_cached(s, b, bytes, error);
}

/* Finds the blobs that an earlier variant has packed. */
static void share_blobs(struct variant *v, const struct variant *earlier)
{
	struct model_weights *w = v->pack.layout;
	const struct model_weights *has = earlier->pack.layout;
	struct map by_key = {0};
	uint64_t at;
	for (uint32_t i = 0; i < has->n_blobs; i++)
		map_put(&by_key, has->blobs[i].key, i);
	for (uint32_t i = 0; i < w->n_blobs; i++) {
		if (v->pack.is_shared[i] || !map_get(&by_key, w->blobs[i].key, &at))
			continue;
		v->pack.is_shared[i] = true;
		w->blobs[i].bytes = has->blobs[at].bytes;
		w->blobs[i].offset = has->blobs[at].offset;
	}
	map_free(&by_key);
}

static void open_weight_file(struct variant *v)
{
	struct model_job *m = v->model;
	struct model_pack *p = &v->pack;
	p->triw = triw_create(p->arena, m->spec->out, m->spec->name, p->layout, link_record_weights(m));
	if (p->triw)
		m->outputs.weights = triw_path(p->triw);
	else
		model_write_failed(m, arena_printf(p->arena, "%s/%s", m->spec->out, p->layout->file->name));
}

void pack_lay_out(struct variant *v, uint32_t worker)
{
	struct tick t = timing_tick();
	struct model_job *m = v->model;
	struct model_input in = pack_model_input(v);
	struct model_pack *p = &v->pack;
	p->layout = model_layout_weights(p->arena, &in);
	p->is_shared = ARENA_ARRAY(p->arena, bool, p->layout->n_blobs + 1);
	for (const struct variant *earlier = m->variants; earlier < v; earlier++)
		share_blobs(v, earlier);
	if (v->backend->has_weight_file && variant_library(v) && p->layout->size > m->spec->weights_inside)
		open_weight_file(v);
	timing_add(m->context->timing, PHASE_PACK, worker + 1, m->spec->name, t);
}

static bool is_stopped(const struct model_job *m) { return os_interrupted() || m->context->superseded; }

const char *pack_weights(struct variant *v, struct arena *a, uint32_t worker)
{
	struct tick t = timing_tick();
	struct model_job *m = v->model;
	struct model_input in = pack_model_input(v);
	struct weight_store store = {v, m->context->stores.cache, a};
	struct weight_host host = {find_packed, store_packed, &store};
	const char *error = NULL;
	uint32_t part;
	while (!error && !is_stopped(m) && (part = atomic_fetch_add(&v->pack.next_part, 1)) < v->pack.layout->n_parts)
		model_pack_weights(a, &in, v->pack.layout, part, &host, &error);
	if (triw_failed(v->pack.triw))
		m->context->environment = true;
	timing_add(m->context->timing, PHASE_PACK, worker + 1, m->spec->name, t);
	return error ? error : is_stopped(m) ? "interrupted" : NULL;
}

bool pack_publish(struct variant *v)
{
	struct model_job *m = v->model;
	if (weights_changed(m->params.file))
		diag_add(m->diags, DIAG_FILE_READ, m->spec->weights->at, "%s", changed_error(m, m->link.arena));
	else if (v->pack.triw && !triw_finish(v->pack.triw))
		model_write_failed(m, m->outputs.weights);
	return diags_errors(m->diags) == 0;
}

bool pack_map(struct variant *v, struct pack_mapping *out)
{
	struct model_weights *w = v->pack.layout;
	if (v->pack.triw)
		return true;
	for (uint32_t i = 0; i < w->n_blobs; i++) {
		if (w->blobs[i].bytes)
			continue;
		if (!out->bytes && !os_map_file(v->model->outputs.weights, &out->bytes, &out->len))
			return model_link_failed(v->model, "its weight file cannot be read again");
		w->blobs[i].bytes = (const char *)out->bytes + w->blobs[i].offset;
	}
	model_merge_blobs(v->model->link.arena, w);
	return true;
}

void pack_unmap(struct pack_mapping *p) { os_unmap(p->bytes, p->len); }
