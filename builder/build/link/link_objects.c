#include "builder/build/link/link_objects.h"
#include <string.h>
#include "backend/link/backend.h"
#include "backend/link/lazy/lazy.h"
#include "backend/link/elf/object.h"
#include "backend/target/target.h"
#include "base/arena.h"
#include "builder/build/link/link.h"
#include "builder/build/model/model.h"
#include "builder/build/plan/compile.h"
#include "builder/build/session/build_id.h"
#include "builder/build/session/context.h"
#include "builder/build/session/fragments.h"
#include "builder/build/session/session.h"
#include "builder/module.h"
#include "frontend/hir/hir.h"

/* The session's parsed object, or the bytes, parsed. NULL: reported. */
static struct object *parse(struct fragments *fragments, struct model_job *m, hash128 key, const char *name, const void *bytes, size_t len)
{
	const char *error = NULL;
	struct object *o = fragments_object(fragments, key);
	if (!o)
		o = object_parse(m->link.arena, name, bytes, len, &error);
	if (!o)
		model_link_failed(m, error);
	return o;
}

static hash128 runtime_key(const struct variant *v, uint32_t i) { return hash_combine(v->target_id, (hash128){i, 1}); }

static uint32_t count_runtime(const struct variant *v)
{
	const char *name;
	size_t len;
	uint32_t n = 0;
	while (v->backend->library->runtime(v->target, n, &name, &len))
		n++;
	return n;
}

static bool has_runtime(const struct variant *v, const char *wanted)
{
	const char *name;
	size_t len;
	for (uint32_t i = 0; v && v->backend->library->runtime(v->target, i, &name, &len); i++)
		if (strcmp(name, wanted) == 0)
			return true;
	return false;
}

/* But what the runtime of `other` has. */
static bool add_runtime(struct fragments *fragments, struct variant *v, const struct variant *other, struct object_list *l)
{
	const char *name;
	const void *bytes;
	size_t len;
	for (uint32_t i = 0; (bytes = v->backend->library->runtime(v->target, i, &name, &len)); i++) {
		if (has_runtime(other, name))
			continue;
		struct object *o = parse(fragments, v->model, runtime_key(v, i), name, bytes, len);
		if (!o)
			return false;
		l->at[l->n++] = o;
	}
	return true;
}

void link_retain_runtime(struct fragments *fragments, const struct variant *v)
{
	const char *name;
	const void *bytes;
	size_t len;
	for (uint32_t i = 0;
	     variant_is_linked(v) && v->backend->library && (bytes = v->backend->library->runtime(v->target, i, &name, &len)); i++)
		fragments_use(fragments, runtime_key(v, i), name, bytes, len, true);
}

/* The fragment of each unit. NULL: reported. */
static struct backend_fragment *list_fragments(struct fragments *fragments, struct variant *v)
{
	struct model_job *m = v->model;
	struct backend_fragment *list = ARENA_ARRAY(m->link.arena, struct backend_fragment, m->program->n_units + 1);
	for (uint32_t i = 0; i < m->program->n_units; i++) {
		const struct unit_job *j = &v->units.jobs[i];
		const struct compile *f = j->compile;
		if (!f)
			continue;
		list[i] = (struct backend_fragment){.bytes = f->object, .len = f->len, .key = f->key, .options = &j->options};
		if (f->is_object && !(list[i].object = parse(fragments, m, f->key, j->unit->name, f->object, f->len)))
			return NULL;
	}
	return list;
}

/* Appends the objects that the variant was made into, with their lines. Fragments are in the order of the units. */
static void add_made(const struct variant *v, const struct backend_fragment *fragments, const struct backend_output *made,
		     struct object_list *l)
{
	uint32_t n = v->model->program->n_units, next = 0;
	for (uint32_t k = 0; k < made->n_objects; k++) {
		uint32_t i = next;
		while (i < n && fragments[i].object != made->objects[k])
			i++;
		l->lines[l->n] = i < n ? v->units.jobs[i].lines : NULL;
		l->at[l->n++] = made->objects[k];
		next = i < n ? i + 1 : next;
	}
}

/* False: reported. */
static bool describe_lazy(hash128 generator, struct variant *v, struct lazy_info *out)
{
	*out = (struct lazy_info){.libtrib = module_path(v->model->link.arena, ""),
				  .cpu = v->target->cpu,
				  .features = v->target->features,
				  .vector_bytes = v->target->vector_bytes,
				  .build = build_id(),
				  .generator = generator};
	return (out->libtrib && !hash_is_zero(out->build)) ||
	       model_link_failed(v->model, "libtrib.so, which would compile its units, is not beside trib or in its lib/trib folder");
}

static bool add_objects(struct fragments *parsed, struct variant *v, const struct backend_fragment *fragments,
			const struct backend_output *made, struct object_list *l)
{
	struct arena *a = v->model->link.arena;
	struct object_list all = {.n = l->n};
	uint32_t most = l->n + made->n_objects + count_runtime(v);
	all.at = ARENA_ARRAY(a, struct object *, most);
	all.lines = ARENA_ARRAY(a, const struct unit_lines *, most);
	for (uint32_t i = 0; i < l->n; i++) {
		all.at[i] = l->at[i];
		all.lines[i] = l->lines[i];
	}
	add_made(v, fragments, made, &all);
	const struct variant *other = l->runtime_of;
	*l = all;
	l->runtime_of = v;
	return add_runtime(parsed, v, other, l);
}

bool link_assemble(struct build_context *c, struct variant *v, const struct model_input *in, const struct model_info *info,
		   struct backend_output *out, struct object_list *l)
{
	struct model_job *m = v->model;
	struct lazy_info lazy;
	const char *error = NULL;
	struct backend_model b = {.arena = m->link.arena,
				  .diags = m->diags,
				  .sources = c->sources,
				  .in = in,
				  .info = info,
				  .weights = v->pack.layout,
				  .fragments = list_fragments(c->session->fragments, v)};
	if (!b.fragments || (v->is_lazy && !describe_lazy(c->stores.generator, v, &lazy)))
		return false;
	if (v->is_lazy)
		b.lazy = &lazy;
	*out = model_new_output(m, v->emit);
	out->objects = ARENA_ARRAY(b.arena, struct object *, m->program->n_units + 2);
	if (!v->backend->assemble(&b, out, &error))
		return error && model_link_failed(m, error);
	return !v->backend->library || add_objects(c->session->fragments, v, b.fragments, out, l);
}
