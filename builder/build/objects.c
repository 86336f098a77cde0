/* The objects that a model's library is linked from, and those that are kept in memory for the next build. */
#include "backend/link/lazy.h"
#include "backend/link/object.h"
#include "backend/link/runtime_objects.h"
#include "base/arena.h"
#include "base/diag.h"
#include "builder/build/build_id.h"
#include "builder/build/fragments.h"
#include "builder/build/session.h"
#include "builder/build/state.h"
#include "builder/manifest/options.h"
#include "builder/module.h"
#include "frontend/hir/hir.h"
#include "gpu/opencl.h"

bool build_link_fails(struct model_job *m, const char *error)
{
	diag_add(m->diags, DIAG_LINK, m->spec->at, "model `%s` cannot be linked: %s", m->spec->name, error ? error : "no reason given");
	return false;
}

/* `key`: what the session keeps it under. */
static bool gather(struct model_job *m, struct gathered *g, hash128 key, const char *name, const void *bytes, size_t len)
{
	const char *error = NULL;
	struct object *o = fragments_object(m->build->lasting->fragments, key);
	if (!o)
		o = object_parse(m->arena, name, bytes, len, &error);
	if (!o)
		return build_link_fails(m, error);
	g->at[g->n++] = o;
	return true;
}

static bool gather_fragments(struct model_job *m, struct gathered *g)
{
	for (uint32_t i = 0; i < m->program->n_units; i++) {
		const struct compile *c = m->units[i].fragment;
		if (c && !gather(m, g, c->key, m->units[i].unit->name, c->object, c->len))
			return false;
	}
	return true;
}

static hash128 runtime_key(enum runtime_level level, uint32_t i) { return (hash128){i, level}; }

static void keep_runtime(struct fragments *f, const struct model_job *m)
{
	enum runtime_level level = (enum runtime_level)m->platform.level;
	for (uint32_t i = 0; i < runtime_object_count(); i++) {
		size_t len;
		const void *bytes = runtime_object(level, i, &len);
		if (bytes)
			fragments_use(f, runtime_key(level, i), runtime_object_name(i), bytes, len);
	}
}

/* What stands in a lazy library for the fragments. */
static bool gather_stubs(struct model_job *m, struct gathered *g)
{
	struct lazy_unit *units = ARENA_ARRAY(m->arena, struct lazy_unit, m->program->n_units + 1);
	uint32_t n = 0;
	const char *error = NULL;
	for (uint32_t i = 0; i < m->program->n_units; i++) {
		const struct unit_job *j = &m->units[i];
		if (j->fragment)
			units[n++] = (struct lazy_unit){j->unit->name, j->unit->symbol, j->fragment->object, j->fragment->len,
							j->key,        j->options.opt,  j->options.size};
	}
	const struct lazy_info info = {.libtrib = module_path(m->arena, ""),
				       .cpu = m->platform.cpu,
				       .features = m->platform.features,
				       .vector_bytes = m->platform.vector_bytes,
				       .build = build_id(),
				       .generator = m->build->generator};
	if (!info.libtrib || hash_is_zero(info.build))
		return build_link_fails(m, "libtrib.so, which would compile its units, is not beside trib or in its lib/trib folder");
	g->at[g->n++] = lazy_object(m->arena, units, n, &info, &error);
	return !error || build_link_fails(m, error);
}

bool build_gather(struct model_job *m, struct gathered *g)
{
	enum runtime_level level = (enum runtime_level)m->platform.level;
	if (!(m->build->options->lazy ? gather_stubs(m, g) : gather_fragments(m, g)))
		return false;
	for (uint32_t i = 0; i < runtime_object_count(); i++) {
		size_t len;
		const void *bytes = runtime_object(level, i, &len);
		if (!bytes)
			return build_link_fails(m, "this trib has no runtime for the target");
		if (!gather(m, g, runtime_key(level, i), runtime_object_name(i), bytes, len))
			return false;
	}
	return true;
}

bool build_gather_opencl(struct model_job *m, struct gathered *g)
{
	size_t len;
	const void *bytes;
	const char *error = NULL;
	for (uint32_t i = 0; (bytes = opencl_runtime_object(i, &len)) && i < BUILD_MOST_OPENCL_OBJECTS; i++) {
		struct object *o = object_parse(m->arena, "opencl runtime", bytes, len, &error);
		if (!o)
			return build_link_fails(m, error);
		g->at[g->n++] = o;
	}
	return true;
}

/* A build that failed has not asked for all that the next one may want. */
void build_keep_objects(struct build *b)
{
	struct fragments *f = b->lasting ? b->lasting->fragments : NULL;
	if (!f || b->options->lazy)
		return;
	for (uint32_t i = 0; i < b->compiles.len; i++) {
		const struct compile *c = b->compiles.at[i];
		if (c->object)
			fragments_use(f, c->key, c->job->unit->name, c->object, c->len);
	}
	for (uint32_t i = 0; i < b->n_models; i++)
		if (b->models[i].library)
			keep_runtime(f, &b->models[i]);
	if (b->published)
		fragments_forget(f);
}
