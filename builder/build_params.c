#include <string.h>
#include "backend/interp.h"
#include "backend/lower.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/os.h"
#include "builder/build_state.h"
#include "builder/cache.h"
#include "builder/file_hash.h"
#include "builder/manifest.h"
#include "builder/store.h"
#include "builder/timing.h"
#include "frontend/core.h"

bool build_open_weights_if_there(struct build *b)
{
	struct file_stamp stamp;
	for (uint32_t i = 0; i < b->n_models; i++) {
		struct model_job *m = &b->models[i];
		m->no_weights = m->spec->weights && !os_stamp(m->spec->weights->text, &stamp);
	}
	return build_open_weights(b);
}

/* True if an entry takes its parameters as arguments, which only the weights file tells from its inputs. */
static bool has_functional_entry(const struct model_job *m)
{
	uint32_t n;
	for (uint32_t i = 0; i < m->spec->n_entries; i++)
		if (frontend_entry_args(m->frontend, m->spec->entries[i], m->build->session, &n))
			return true;
	return false;
}

bool build_elaborate_known(struct build *b)
{
	for (uint32_t i = 0; i < b->n_models; i++)
		b->models[i].unknown_params = !b->models[i].failed && b->models[i].no_weights && has_functional_entry(&b->models[i]);
	return build_elaborate(b);
}

bool build_open_weights(struct build *b)
{
	for (uint32_t i = 0; i < b->n_models; i++) {
		struct model_job *m = &b->models[i];
		if (m->failed || !m->spec->weights || m->no_weights)
			continue;
		const char *path = m->spec->weights->text;
		m->weights = weights_open(b->session, path, m->spec->weights->at, &m->spec->weights_options, b->diags);
		file_hash(b->project, b->inputs, path);
		m->failed = !m->weights;
	}
	return build_may_go_on(b);
}

static hash128 init_key(void *ctx, const struct core_param *p, uint64_t seed)
{
	const struct build *b = ctx;
	hash128 h = hash_combine(store_key("init", p->name), core_unit_hash_all(p->init));
	return hash_combine(hash_combine(h, b->compiler), (hash128){seed, 0});
}

static bool interpret(struct arena *a, const struct core_param *p, uint64_t seed, struct tensor *out, const char **error)
{
	struct diags *diags = diags_new(0);
	struct ir_fn *f = lower_unit(a, p->init, diags);
	bool ok = f && interp_run(f, NULL, NULL, NULL, seed, a, out, error);
	if (!f && diags_count(diags))
		*error = arena_strdup(a, diags_at(diags, 0)->message);
	diags_free(diags);
	return ok;
}

/* Initial values are remembered, unless they are large: then what is packed from them is. */
static bool initialise(void *ctx, struct arena *a, const struct core_param *p, uint64_t seed, struct tensor *out, const char **error)
{
	struct build *b = ctx;
	struct tensor t = *out;
	bool keep = tensor_bytes(out) > 4096 && tensor_bytes(out) <= WEIGHTS_LARGE;
	size_t len;
	const void *data = keep ? cache_get(b->cache, CACHE_INIT, init_key(b, p, seed), &len) : NULL;
	if (data && len == (size_t)tensor_bytes(out)) {
		out->data = (void *)(uintptr_t)data;
		return true;
	}
	if (!interpret(a, p, seed, &t, error))
		return false;
	if (t.elem != out->elem || tensor_bytes(&t) != tensor_bytes(out)) {
		*error = "its initializer gives another type or shape";
		return false;
	}
	out->data = t.data;
	if (keep)
		cache_put(b->cache, CACHE_INIT, init_key(b, p, seed), t.data, (size_t)tensor_bytes(&t), 0);
	return true;
}

static struct weights_host host_of(struct build *b) { return (struct weights_host){.init = initialise, .name = init_key, .ctx = b}; }

bool build_load_param(void *ctx, struct arena *a, uint32_t i, struct tensor *out, const char **error)
{
	struct model_job *m = ctx;
	*out = m->bound.params[i];
	return out->data || weights_load(a, m->weights, m->program, host_of(m->build), i, out, error);
}

bool build_bind_model(struct build *b, struct model_job *m)
{
	struct tick t = timing_tick();
	span at = !m->spec ? SPAN_NONE : m->spec->weights ? m->spec->weights->at : m->spec->at;
	bool ok = weights_bind(m->arena, m->weights, m->program, host_of(b), at, &m->bound, b->diags);
	timing_add(b->timing, PHASE_PACK, 0, "read parameters", t);
	return ok;
}

bool build_bind_weights(struct build *b)
{
	for (uint32_t i = 0; i < b->n_models; i++)
		if (!b->models[i].failed)
			b->models[i].failed = !build_bind_model(b, &b->models[i]);
	return build_may_go_on(b);
}
