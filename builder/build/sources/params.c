#include "builder/build/sources/params.h"
#include <string.h>
#include "backend/expand/expand.h"
#include "backend/buildtime/buildtime.h"
#include "backend/buildtime/stream.h"
#include "backend/ir/ir.h"
#include "backend/lower/lower.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/measure.h"
#include "base/os.h"
#include "builder/build/model/model.h"
#include "builder/build/model/project.h"
#include "builder/build/session/context.h"
#include "builder/build/sources/states.h"
#include "builder/build/timing/timing.h"
#include "builder/manifest/build_spec.h"
#include "builder/cache/cache.h"
#include "builder/manifest/manifest.h"
#include "builder/store/key.h"
#include "builder/store/store.h"
#include "frontend/frontend.h"
#include "frontend/hir/hir.h"

/* True if an entry takes its parameters as arguments: only the weights file says which arguments those are. */
static bool has_functional_entry(struct arena *arena, const struct model_job *m)
{
	uint32_t n;
	for (uint32_t i = 0; i < m->spec->n_entries; i++)
		if (frontend_entry_args(m->frontend, m->spec->entries[i], arena, &n))
			return true;
	return false;
}

struct weights_place {
	struct weights *file;
	uint32_t i;
};

static hash128 params_digest(void *ctx)
{
	const struct weights_place *p = ctx;
	return weights_digest(p->file, p->i);
}

/* The files become inputs. */
static void record_files(struct inputs *inputs, struct store *store, struct weights *weights)
{
	for (uint32_t i = 0; weights_file_path(weights, i); i++) {
		struct weights_place place = {weights, i};
		file_hash_open(store, inputs, weights_file_path(weights, i),
			       &(struct open_file){weights_stamp(weights, i), params_digest, &place});
	}
}

bool params_open_files(struct build_context *c, struct project *p)
{
	for (uint32_t i = 0; i < p->n_models; i++) {
		struct model_job *m = &p->models[i];
		if (m->failed || !m->spec->weights || m->params.file_absent)
			continue;
		const char *path = m->spec->weights->text;
		m->params.file = weights_open(c->arena, path, m->spec->weights->at, &m->spec->weights_options, c->diags);
		if (m->params.file)
			record_files(c->inputs, c->stores.project, m->params.file);
		else
			file_hash(c->stores.project, c->inputs, path);
		m->failed = !m->params.file;
	}
	return project_may_go_on(c, p);
}

bool params_open_files_if_there(struct build_context *c, struct project *p)
{
	struct file_stamp stamp;
	for (uint32_t i = 0; i < p->n_models; i++) {
		struct model_job *m = &p->models[i];
		m->params.file_absent = m->spec->weights && !os_stamp(m->spec->weights->text, &stamp);
		m->params.unknown = !m->failed && m->params.file_absent && has_functional_entry(c->arena, m);
	}
	return params_open_files(c, p);
}

static hash128 init_key(void *ctx, const struct hir_param *p, uint64_t seed)
{
	const struct stores *stores = ctx;
	hash128 h = hash_combine(store_key("init", p->name), hir_unit_hash_all(p->init));
	return hash_combine(hash_combine(h, stores->compiler), (hash128){seed, 0});
}

/* Returns the initializer as a function; NULL: errors are in diags. */
static struct ir_fn *lower_initial(struct arena *a, const struct hir_param *p, struct diags *diags)
{
	struct ir_fn *f = lower_unit(a, p->init, diags);
	if (f)
		expand_compound(f, NULL, NULL);
	return f;
}

static bool params_interpret(struct arena *a, const struct hir_param *p, uint64_t seed, struct tensor *out, const char **error)
{
	struct diags *diags = diags_new(0);
	struct ir_fn *f = lower_initial(a, p, diags);
	bool ok = f && buildtime_run(f, NULL, NULL, seed, a, out, error);
	if (!f && diags_count(diags))
		*error = arena_strdup(a, diags_at(diags, 0)->message);
	diags_free(diags);
	return ok;
}

static struct stream_elements *initialise_parts(void *ctx, struct arena *a, const struct hir_param *p, uint64_t seed)
{
	struct diags *diags = diags_new(0);
	struct ir_fn *f = lower_initial(a, p, diags);
	struct stream_elements *e = f ? stream_plan_elements(a, f, seed) : NULL;
	int64_t n = 1;
	(void)ctx;
	for (uint32_t k = 0; k < p->type.rank; k++)
		n *= dim_eval(p->dims, p->type.dims[k], NULL);
	diags_free(diags);
	return e && stream_element_type(e) == p->type.elem && stream_element_count(e) == n ? e : NULL;
}

/* Initial values are cached if computing them takes longer than reading them, and unless they are large: then the packed values are. */
static bool params_initialise(void *ctx, struct arena *a, const struct hir_param *p, uint64_t seed, struct tensor *out, const char **error)
{
	const struct stores *stores = ctx;
	struct tensor t = *out;
	bool is_cached = tensor_bytes(out) > 4096 && tensor_bytes(out) <= WEIGHTS_LARGE;
	size_t len;
	hash128 key = is_cached ? init_key(ctx, p, seed) : (hash128){0, 0};
	const void *data = is_cached ? cache_find(stores->cache, CACHE_INIT, key, &len) : NULL;
	int64_t began = os_thread_cpu_ns();
	if (data && len == (size_t)tensor_bytes(out)) {
		out->data = (void *)(uintptr_t)data;
		return true;
	}
	if (!params_interpret(a, p, seed, &t, error))
		return false;
	if (t.elem != out->elem || tensor_bytes(&t) != tensor_bytes(out)) {
		*error = "its initializer gives another type or shape";
		return false;
	}
	out->data = t.data;
	int64_t took_ns = os_thread_cpu_ns() - began;
	if (is_cached && cache_pays(took_ns, (size_t)tensor_bytes(&t)))
		cache_add(stores->cache, CACHE_INIT, key, t.data, (size_t)tensor_bytes(&t), took_ns);
	return true;
}

static struct weights_host weights_host(const struct stores *stores)
{
	return (struct weights_host){.init = params_initialise,
				     .init_parts = initialise_parts,
				     .init_hash = init_key,
				     .ctx = (void *)(uintptr_t)stores}; /* only read */
}

bool params_load(const struct stores *stores, struct model_job *m, struct arena *a, uint32_t i, struct tensor *out, const char **error)
{
	*out = m->params.bound.params[i];
	return out->data || weights_load(a, m->params.file, m->program, weights_host(stores), i, out, error);
}

struct weights_reader *params_open(const struct stores *stores, struct model_job *m, struct arena *a, uint32_t i)
{
	return weights_open_param(a, m->params.file, m->program, weights_host(stores), i, m->params.bound.params[i].elem);
}

bool params_bind_model(struct arena *arena, const struct stores *stores, struct diags *diags, struct model_job *m)
{
	phase_begin(PHASE_PACK, NULL);
	measure_begin("read parameters");
	span at = !m->spec ? SPAN_NONE : m->spec->weights ? m->spec->weights->at : m->spec->at;
	bool ok =
		weights_bind(m->link.arena, m->params.file, m->program, m->params.types, weights_host(stores), at, &m->params.bound, diags);
	ok = states_bind(arena, diags, m, weights_host(stores)) && ok;
	measure_end();
	measure_end();
	return ok;
}

bool params_bind(struct build_context *c, struct project *p)
{
	for (uint32_t i = 0; i < p->n_models; i++)
		if (!p->models[i].failed)
			p->models[i].failed = !params_bind_model(c->arena, &c->stores, c->diags, &p->models[i]);
	return project_may_go_on(c, p);
}
