#include "builder/build/link.h"
#include <string.h>
#include "backend/link/backend.h"
#include "backend/link/lazy.h"
#include "backend/link/link.h"
#include "backend/link/model.h"
#include "backend/link/object.h"
#include "backend/link/runtime_objects.h"
#include "backend/target/target.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/os.h"
#include "base/path.h"
#include "builder/build/build_id.h"
#include "builder/build/build_steps.h"
#include "builder/build/lines.h"
#include "builder/build/session.h"
#include "builder/build/timing.h"
#include "builder/manifest/build_spec.h"
#include "builder/manifest/options.h"
#include "builder/manifest/outputs.h"
#include "builder/module.h"
#include "builder/store/inputs.h"
#include "builder/version.h"
#include "builder/weights/triw.h"
#include "frontend/hir/hir.h"

struct object_list {
	struct object **at;
	const struct unit_lines **lines; /* of each */
	uint32_t n;
};

/* The session's parsed object, or the bytes, parsed. NULL: reported. */
static struct object *parse(struct model_job *m, hash128 key, const char *name, const void *bytes, size_t len)
{
	const char *error = NULL;
	struct object *o = fragments_object(m->context->session->fragments, key);
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
	while (v->backend->runtime(v->target, n, &name, &len))
		n++;
	return n;
}

static bool add_runtime(struct variant *v, struct object_list *l)
{
	const char *name;
	const void *bytes;
	size_t len;
	for (uint32_t i = 0; (bytes = v->backend->runtime(v->target, i, &name, &len)); i++) {
		struct object *o = parse(v->model, runtime_key(v, i), name, bytes, len);
		if (!o)
			return false;
		l->at[l->n++] = o;
	}
	return true;
}

void link_retain_runtime(struct fragments *f, const struct variant *v)
{
	const char *name;
	const void *bytes;
	size_t len;
	for (uint32_t i = 0; variant_library(v) && (bytes = v->backend->runtime(v->target, i, &name, &len)); i++)
		fragments_use(f, runtime_key(v, i), name, bytes, len, true);
}

/* The fragment of each unit. NULL: reported. */
static struct backend_fragment *list_fragments(struct variant *v)
{
	struct model_job *m = v->model;
	struct backend_fragment *list = ARENA_ARRAY(m->link.arena, struct backend_fragment, m->program->n_units + 1);
	for (uint32_t i = 0; i < m->program->n_units; i++) {
		const struct unit_job *j = &v->units.jobs[i];
		const struct compile *f = j->compile;
		if (!f)
			continue;
		list[i] = (struct backend_fragment){.bytes = f->object, .len = f->len, .key = f->key, .options = &j->options};
		if (f->is_object && !(list[i].object = parse(m, f->key, j->unit->name, f->object, f->len)))
			return NULL;
	}
	return list;
}

/* The lines of each object of the list. Fragments are in the order of the units. */
static const struct unit_lines **list_lines(const struct variant *v, const struct backend_fragment *fragments, const struct object_list *l)
{
	const struct unit_lines **lines = ARENA_ARRAY(v->model->link.arena, const struct unit_lines *, l->n + count_runtime(v) + 1);
	uint32_t n = v->model->program->n_units, next = 0;
	for (uint32_t k = 0; k < l->n; k++) {
		uint32_t i = next;
		while (i < n && fragments[i].object != l->at[k])
			i++;
		if (i == n)
			continue;
		lines[k] = v->units.jobs[i].lines;
		next = i + 1;
	}
	return lines;
}

/* False: reported. */
static bool describe_lazy(struct variant *v, struct lazy_info *out)
{
	*out = (struct lazy_info){.libtrib = module_path(v->model->link.arena, ""),
				  .cpu = v->target->cpu,
				  .features = v->target->features,
				  .vector_bytes = v->target->vector_bytes,
				  .build = build_id(),
				  .generator = v->model->context->stores.generator};
	return (out->libtrib && !hash_is_zero(out->build)) ||
	       model_link_failed(v->model, "libtrib.so, which would compile its units, is not beside trib or in its lib/trib folder");
}

static bool add_objects(struct variant *v, const struct model_input *in, const struct model_info *info, struct object_list *l)
{
	struct lazy_info lazy;
	const char *error = NULL;
	struct backend_link b = {v->model->link.arena, in, v->pack.layout, info, list_fragments(v), NULL};
	if (!b.fragments || (variant_is_lazy(v) && !describe_lazy(v, &lazy)))
		return false;
	if (variant_is_lazy(v))
		b.lazy = &lazy;
	l->at = ARENA_ARRAY(b.arena, struct object *, v->model->program->n_units + 2 + count_runtime(v));
	if (!v->backend->link(&b, l->at, &l->n, &error))
		return model_link_failed(v->model, error);
	l->lines = list_lines(v, b.fragments, l);
	return add_runtime(v, l);
}

/* ---- the link ---- */

static void add_units(struct hasher *h, struct variant *v)
{
	for (uint32_t i = 0; i < v->model->program->n_units; i++) {
		hasher_add_hash(h, v->units.keys[i]);
		hasher_add_hash(h, v->units.plans[i] ? v->units.plans[i]->build_fn_hash : (hash128){0, 0});
		if (!v->units.plans[i])
			continue;
		lines_find(&v->units.jobs[i]);
		lines_hash(v->units.jobs[i].lines, h);
	}
}

static void add_states(struct hasher *h, const struct model_job *m)
{
	const struct hir_program *p = m->program;
	hasher_add_u64(h, p->n_states);
	for (uint32_t i = 0; i < p->n_states; i++) {
		const struct hir_state *s = &p->states[i];
		const struct tensor *t = &m->params.initial_states[i];
		hasher_add_str(h, s->name);
		hasher_add_u64(h, (uint64_t)s->axis << 32 | s->capacity);
		hasher_add_u64(h, (uint64_t)t->elem << 8 | t->rank);
		hasher_add(h, t->dims, t->rank * sizeof *t->dims);
		if (t->data)
			hasher_add(h, t->data, (size_t)tensor_bytes(t));
	}
	for (uint32_t i = 0; i < p->n_capacities; i++) {
		hasher_add_str(h, p->capacities[i].name);
		hasher_add_u64(h, (uint64_t)m->params.capacities[i]);
	}
	for (uint32_t i = 0; i < p->n_entries; i++) {
		const struct hir_entry *e = &p->entries[i];
		hasher_add(h, e->states_in, e->n_states_in * sizeof *e->states_in);
		hasher_add(h, e->states_out, e->n_states_out * sizeof *e->states_out);
	}
}

/* In a repository, the commit and the exact text of the inputs count: the library says whether its inputs are committed. */
void link_digest(struct model_job *m, const struct repository *repo)
{
	struct build_context *c = m->context;
	const struct hir_program *p = m->program;
	struct hasher *h = hasher_new();
	hasher_add_hash(h, c->stores.compiler);
	hasher_add_hash(h, m->platform.id); /* which the library names */
	hasher_add_str(h, m->spec->name);
	hasher_add_str(h, m->spec->version);
	hasher_add_u64(h, m->spec->emit);
	hasher_add_u64(h, m->spec->weights_inside);
	hasher_add_u64(h, m->spec->plan.profile_hook);
	hasher_add_str(h, m->spec->linker);
	hasher_add_u64(h, c->request.options->lazy);
	hasher_add_u64(h, p->n_entries);
	for (uint32_t i = 0; i < p->n_entries; i++) {
		const struct hir_unit *u = p->entries[i].unit;
		hasher_add_str(h, p->entries[i].name);
		hasher_add_hash(h, u->identity);
		hasher_add_u64(h, u->n_inputs);
		for (uint32_t k = 0; k < u->n_inputs; k++) {
			hasher_add_str(h, u->inputs[k].name);
			hasher_add_u64(h, p->entries[i].params[k]);
		}
		for (uint32_t k = 0; k < u->n_outputs; k++)
			hasher_add_str(h, u->outputs[k].name);
	}
	add_states(h, m);
	for (uint32_t i = 0; i < m->n_variants; i++)
		add_units(h, &m->variants[i]);
	for (uint32_t i = 0; i < p->n_units; i++)
		hasher_add_str(h, p->units[i]->name); /* the descriptor also lists inlined units */
	for (uint32_t i = 0; i < p->n_params; i++)
		hasher_add_hash(h, m->params.bound.hashes[i]);
	if (repo->found) {
		hasher_add_hash(h, repo->head);
		for (uint32_t i = 0; i < inputs_count(c->inputs); i++)
			hasher_add_hash(h, inputs_at(c->inputs, i)->content);
	}
	m->link.digest = hasher_finish(h);
	m->link.is_current = link_record_is_current(m);
}

static bool write_output(struct model_job *m, const char *path, const struct buf *text, unsigned mode)
{
	if (os_mkdirs(path_dir(m->link.arena, path)) && outputs_remove_link(m->link.arena, path, m->spec->out_named) &&
	    os_write_if_changed(path, text->at, text->len, mode, false))
		return true;
	model_write_failed(m, path);
	return false;
}

static bool is_linked_here(const struct model_job *m) { return strcmp(m->spec->linker, "internal") == 0; }

/* Links and writes the library, which has its weights already. An outside linker writes them again. */
static bool link_library(struct variant *v, struct link_request *r)
{
	struct model_job *m = v->model;
	struct arena *a = m->link.arena;
	const char *error = NULL;
	struct buf out = {0};
	bool here = is_linked_here(m), has_weights = here && !v->pack.triw && v->pack.layout->size;
	r->weights = has_weights ? v->pack.layout->size : 0;
	bool ok = here ? link_shared(a, r, &out, &error)
		       : link_external(a, r, m->spec->linker, arena_printf(a, ".trib/link-%s", m->spec->name), &out, &error);
	if (!ok) {
		m->context->environment |= !here;
		model_link_failed(m, error);
	} else if (v->pack.triw) {
		ok = write_output(m, variant_library(v), &out, 0755);
	} else {
		uint64_t gap = (r->weights + LINK_WEIGHTS_AT - 1) / LINK_WEIGHTS_AT * LINK_WEIGHTS_AT;
		ok = pack_publish(v, &out, has_weights ? LINK_WEIGHTS_AT : out.len, gap);
	}
	buf_free(&out);
	return ok;
}

static bool link_variant(struct variant *v, const struct model_info *about)
{
	struct model_job *m = v->model;
	struct model_input in = pack_model_input(v);
	struct model_info info = *about;
	struct link_request r = {.soname = path_base(variant_library(v)), .needed = v->backend->needed};
	struct object_list l = {0};
	const struct unit_lines **lines = ARENA_ARRAY(m->link.arena, const struct unit_lines *, m->program->n_units + 1);
	for (uint32_t i = 0; i < m->program->n_units; i++)
		lines[i] = v->units.jobs[i].lines;
	in.lines = lines;
	info.unit_keys = v->units.keys;
	while (r.needed[r.n_needed])
		r.n_needed++;
	if (!add_objects(v, &in, &info, &l))
		return false;
	r.objects = l.at;
	r.n_objects = l.n;
	r.lines = l.lines;
	r.exports = model_exports(m->link.arena, &in, &info, &r.n_exports);
	return link_library(v, &r);
}

static bool link_libraries(struct model_job *m, const struct model_info *info)
{
	for (uint32_t i = 0; i < m->n_variants; i++) {
		struct variant *v = &m->variants[i];
		if (variant_library(v) && !(pack_finish(v) && (is_linked_here(m) || pack_map(v)) && link_variant(v, info)))
			return false;
	}
	return true;
}

static bool write_headers(struct model_job *m, const struct model_info *info)
{
	struct model_input in = pack_model_input(&m->variants[0]);
	const char *header = m->outputs.emitted[EMIT_HEADER], *live = m->outputs.emitted[EMIT_LIVE];
	struct buf text = {0};
	bool ok = true;
	if (header) {
		model_header(&in, info, &text);
		ok = write_output(m, header, &text, 0644);
	}
	if (ok && live) {
		buf_clear(&text);
		buf_printf(&text, "%s\n%s", runtime_header(), runtime_live_header());
		ok = write_output(m, live, &text, 0644);
	}
	buf_free(&text);
	return ok;
}

void link_model(struct model_job *m, const struct repository *repo, uint32_t worker)
{
	struct tick t = timing_tick();
	struct model_info info = {.name = m->spec->name,
				  .version = m->spec->version,
				  .compiler = "trib " TRIB_VERSION,
				  .target = m->platform.text,
				  .commit = repo->commit,
				  .dirty = repo->dirty,
				  .profile_hook = m->spec->plan.profile_hook};
	bool ok = link_libraries(m, &info) && write_headers(m, &info);
	if (ok) {
		triw_sweep(m->link.arena, m->spec->out, m->spec->name, m->outputs.weights);
		link_record_save(m);
	}
	m->link.written = ok;
	timing_add(m->context->timing, PHASE_LINK, worker + 1, m->spec->name, t);
}
