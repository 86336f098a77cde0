#include <stdatomic.h>
#include <string.h>
#include "backend/link/model.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/os.h"
#include "builder/build/link.h"
#include "builder/build/build_steps.h"
#include "builder/build/timing.h"
#include "builder/cache/cache.h"
#include "builder/weights/triw.h"
#include "frontend/hir/hir.h"

static const struct ir_fn *build_fn_of(void *ctx, const struct plan *p)
{
	struct model_job *m = ctx;
	return plan_cache_code(model_find_unit(m, p->unit->identity))->build_fn;
}

struct model_input pack_model_input(const struct model_job *m)
{
	return (struct model_input){.program = m->program,
				    .plans = m->units.plans,
				    .params = m->params.bound.params,
				    .param_hashes = m->params.bound.hashes,
				    .load = params_load,
				    .build_fn = build_fn_of,
				    .ctx = (void *)(uintptr_t)m};
}

/* Where packed weights go: into the weight file, else into the cache, else into an arena. */
struct weight_store {
	struct model_job *m;
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
	bool found = s->m->link.triw ? triw_find(s->m->link.triw, b) : find_cached(s, b);
	s->m->link.packed_before += found;
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
	if (weights_changed(s->m->params.file)) {
		*error = changed_error(s->m, s->a);
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
	s->m->link.packed++;
	return s->m->link.triw ? triw_put(s->m->link.triw, b, bytes, error) : store_cached(s, b, bytes, error);
}

void pack_lay_out(struct model_job *m, uint32_t worker)
{
	struct tick t = timing_tick();
	struct model_input in = pack_model_input(m);
	m->link.layout = model_layout_weights(m->link.arena, &in);
	m->outputs.weights = NULL;
	if (m->outputs.library && m->link.layout->size > m->spec->weights_inside) {
		m->link.triw = triw_create(m->link.arena, m->spec->out, m->spec->name, m->link.layout, link_record_weights(m));
		if (m->link.triw)
			m->outputs.weights = triw_path(m->link.triw);
		else
			model_write_failed(m, arena_printf(m->link.arena, "%s/%s", m->spec->out, m->link.layout->file->name));
	}
	timing_add(m->context->timing, PHASE_PACK, worker + 1, m->spec->name, t);
}

static bool is_stopped(const struct model_job *m) { return os_interrupted() || m->context->superseded; }

const char *pack_weights(struct model_job *m, struct arena *a, uint32_t worker)
{
	struct tick t = timing_tick();
	struct model_input in = pack_model_input(m);
	struct weight_store store = {m, m->context->stores.cache, a};
	struct weight_host host = {find_packed, store_packed, &store};
	const char *error = NULL;
	uint32_t part;
	while (!error && !is_stopped(m) && (part = atomic_fetch_add(&m->link.next_part, 1)) < m->link.layout->n_parts)
		model_pack_weights(a, &in, m->link.layout, part, &host, &error);
	if (triw_failed(m->link.triw))
		m->context->environment = true;
	timing_add(m->context->timing, PHASE_PACK, worker + 1, m->spec->name, t);
	return error ? error : is_stopped(m) ? "interrupted" : NULL;
}

bool pack_publish(struct model_job *m)
{
	if (weights_changed(m->params.file))
		diag_add(m->diags, DIAG_FILE_READ, m->spec->weights->at, "%s", changed_error(m, m->link.arena));
	else if (!m->link.triw)
		model_merge_blobs(m->link.arena, m->link.layout);
	else if (!triw_finish(m->link.triw))
		model_write_failed(m, m->outputs.weights);
	return diags_errors(m->diags) == 0;
}
