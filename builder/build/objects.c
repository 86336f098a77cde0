#include "builder/build/link.h"
#include "backend/link/lazy.h"
#include "backend/link/object.h"
#include "backend/link/runtime_objects.h"
#include "base/arena.h"
#include "base/diag.h"
#include "builder/build/build_id.h"
#include "builder/build/compile_set.h"
#include "builder/build/fragments.h"
#include "builder/build/project.h"
#include "builder/build/session.h"
#include "builder/manifest/options.h"
#include "builder/module.h"
#include "frontend/hir/hir.h"
#include "gpu/opencl.h"

/* Adds the session's parsed object, or parses the bytes. */
static bool add(struct model_job *m, struct object_list *l, hash128 key, const char *name, const void *bytes, size_t len)
{
	const char *error = NULL;
	struct object *o = fragments_object(m->context->session->fragments, key);
	if (!o)
		o = object_parse(m->link.arena, name, bytes, len, &error);
	if (!o)
		return model_link_failed(m, error);
	l->at[l->n++] = o;
	return true;
}

static bool add_fragments(struct model_job *m, struct object_list *l)
{
	for (uint32_t i = 0; i < m->program->n_units; i++) {
		const struct compile *f = m->units.jobs[i].compile;
		if (f && !add(m, l, f->key, m->units.jobs[i].unit->name, f->object, f->len))
			return false;
	}
	return true;
}

static hash128 runtime_key(enum runtime_level level, uint32_t i) { return (hash128){i, level}; }

/* In place of the fragments a lazy library has stubs, which compile units at the first call. */
static bool add_stubs(struct model_job *m, struct object_list *l)
{
	struct lazy_unit *units = ARENA_ARRAY(m->link.arena, struct lazy_unit, m->program->n_units + 1);
	uint32_t n = 0;
	const char *error = NULL;
	for (uint32_t i = 0; i < m->program->n_units; i++) {
		const struct unit_job *j = &m->units.jobs[i];
		if (j->compile)
			units[n++] = (struct lazy_unit){j->unit->name, j->unit->symbol, j->compile->object, j->compile->len,
							j->key,        j->options.opt,  j->options.size};
	}
	const struct lazy_info info = {.libtrib = module_path(m->link.arena, ""),
				       .cpu = m->platform.cpu,
				       .features = m->platform.features,
				       .vector_bytes = m->platform.vector_bytes,
				       .build = build_id(),
				       .generator = m->context->stores.generator};
	if (!info.libtrib || hash_is_zero(info.build))
		return model_link_failed(m, "libtrib.so, which would compile its units, is not beside trib or in its lib/trib folder");
	l->at[l->n++] = lazy_object(m->link.arena, units, n, &info, &error);
	return !error || model_link_failed(m, error);
}

bool objects_add_cpu(struct model_job *m, struct object_list *l)
{
	enum runtime_level level = (enum runtime_level)m->platform.level;
	if (!(m->context->request.options->lazy ? add_stubs(m, l) : add_fragments(m, l)))
		return false;
	for (uint32_t i = 0; i < runtime_object_count(); i++) {
		size_t len;
		const void *bytes = runtime_object(level, i, &len);
		if (!bytes)
			return model_link_failed(m, "this trib has no runtime for the target");
		if (!add(m, l, runtime_key(level, i), runtime_object_name(i), bytes, len))
			return false;
	}
	return true;
}

bool objects_add_opencl(struct model_job *m, struct object_list *l)
{
	size_t len;
	const void *bytes;
	const char *error = NULL;
	for (uint32_t i = 0; (bytes = opencl_runtime_object(i, &len)) && i < MOST_OPENCL_OBJECTS; i++) {
		struct object *o = object_parse(m->link.arena, "opencl runtime", bytes, len, &error);
		if (!o)
			return model_link_failed(m, error);
		l->at[l->n++] = o;
	}
	return true;
}

void objects_retain_runtime(struct fragments *f, const struct model_job *m)
{
	enum runtime_level level = (enum runtime_level)m->platform.level;
	for (uint32_t i = 0; i < runtime_object_count(); i++) {
		size_t len;
		const void *bytes = runtime_object(level, i, &len);
		if (bytes)
			fragments_use(f, runtime_key(level, i), runtime_object_name(i), bytes, len);
	}
}
