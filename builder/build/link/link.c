#include "builder/build/link/link.h"
#include <string.h>
#include "backend/link/backend.h"
#include "backend/link/elf/link.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/measure.h"
#include "base/os.h"
#include "base/path.h"
#include "builder/build/link/link_external.h"
#include "builder/build/link/link_objects.h"
#include "builder/build/link/link_record.h"
#include "builder/build/link/pack.h"
#include "builder/build/link/trits.h"
#include "builder/manifest/backends.h"
#include "builder/build/model/lines.h"
#include "builder/build/model/model.h"
#include "builder/build/reuse/repository.h"
#include "builder/build/session/context.h"
#include "builder/build/timing/timing.h"
#include "builder/store/inputs.h"
#include "builder/manifest/build_spec.h"
#include "builder/manifest/options.h"
#include "builder/manifest/outputs.h"
#include "builder/version.h"
#include "builder/weights/triw.h"
#include "frontend/hir/hir.h"

static void link_add_units(struct arena *arena, struct sources *sources, struct hasher *h, struct variant *v)
{
	for (uint32_t i = 0; i < v->model->program->n_units; i++) {
		hasher_add_hash(h, v->units.keys[i]);
		hasher_add_hash(h, v->units.plans[i] ? v->units.plans[i]->build_fn_hash : (hash128){0, 0});
		if (!v->units.plans[i])
			continue;
		lines_find(arena, sources, &v->units.jobs[i]);
		lines_hash(v->units.jobs[i].lines, h);
	}
}

static void link_add_states(struct hasher *h, const struct model_job *m)
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

/* What the commit and plans do not decide. */
static struct model_info describe_model(const struct model_job *m)
{
	return (struct model_info){.name = m->spec->name,
				   .version = m->spec->version,
				   .compiler = "trib " TRIB_VERSION,
				   .target = m->platform.text,
				   .profile_hook = m->spec->plan.profile_hook};
}

/* Makes the files of the back ends that read the HIR. They have names and comments that no other output depends on. */
static void make_texts(struct sources *sources, struct model_job *m, struct hasher *h)
{
	struct model_input in = {.program = m->program};
	struct model_info info = describe_model(m);
	struct backend_model b = {.arena = m->link.arena, .diags = m->diags, .sources = sources, .in = &in, .info = &info};
	for (enum emit e = 0; e < EMIT_COUNT; e++) {
		struct backend_output *out = &m->link.texts[e];
		const char *error = NULL;
		if (!m->outputs.emitted[e][0] || emit_backend(e)->stage != BACKEND_HIR)
			continue;
		*out = model_new_output(m, e);
		if (!emit_backend(e)->assemble(&b, out, &error))
			m->failed = !error || !model_link_failed(m, error);
		for (uint32_t k = 0; k < out->n_files; k++)
			hasher_add(h, out->files[k].text.at, out->files[k].text.len);
	}
}

/* In a repository, the commit and the exact text of the inputs count: the library says whether its inputs are committed. */
void link_digest(struct build_context *c, struct model_job *m, const struct repository *repo)
{
	const struct hir_program *p = m->program;
	struct hasher *h = hasher_new();
	hasher_add_hash(h, c->stores.compiler);
	hasher_add_hash(h, m->platform.id); /* which the library names */
	hasher_add_str(h, m->spec->name);
	hasher_add_str(h, m->spec->version);
	hasher_add_u64(h, m->spec->emit);
	hasher_add_u64(h, m->spec->has_fallback);
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
	link_add_states(h, m);
	for (uint32_t i = 0; i < m->n_variants; i++)
		link_add_units(c->arena, c->sources, h, &m->variants[i]);
	for (uint32_t i = 0; i < p->n_units; i++)
		hasher_add_str(h, p->units[i]->name); /* the descriptor also lists inlined units */
	for (uint32_t i = 0; i < p->n_params; i++)
		hasher_add_hash(h, m->params.bound.hashes[i]);
	make_texts(c->sources, m, h);
	if (repo->found) {
		hasher_add_hash(h, repo->head);
		for (uint32_t i = 0; i < inputs_count(c->inputs); i++)
			hasher_add_hash(h, inputs_at(c->inputs, i)->content);
	}
	m->link.digest = hasher_finish(h);
	m->link.is_current = link_record_is_current(c->disk, c->stores.project, m);
}

static bool write_output(struct build_outcome *outcome, struct model_job *m, const char *path, const struct buf *text, unsigned mode)
{
	if (os_mkdirs(path_dir(m->link.arena, path)) && outputs_remove_link(m->link.arena, path, m->spec->out_named) &&
	    os_write_if_changed(path, text->at, text->len, mode, false))
		return true;
	model_write_failed(outcome, m, path);
	return false;
}

static bool is_linked_here(const struct model_job *m) { return strcmp(m->spec->linker, "internal") == 0; }

/* Links and writes the library, which has its weights already. An outside linker writes them again. */
static bool link_library(struct build_outcome *outcome, struct variant *v, struct link_request *request)
{
	struct model_job *m = v->model;
	struct arena *a = m->link.arena;
	const char *error = NULL;
	struct buf out = {0};
	bool here = is_linked_here(m), has_weights = here && !v->pack.triw && v->pack.layout->size;
	request->weights = has_weights ? v->pack.layout->size : 0;
	bool ok = here ? link_shared(a, request, &out, &error)
		       : link_external(a, request, m->spec->linker, arena_printf(a, ".trib/link-%s", m->spec->name), &out, &error);
	if (!ok) {
		outcome->environment |= !here;
		model_link_failed(m, error);
	} else if (v->pack.triw) {
		ok = write_output(outcome, m, variant_output(v), &out, 0755);
	} else {
		uint64_t gap = (request->weights + LINK_WEIGHTS_AT - 1) / LINK_WEIGHTS_AT * LINK_WEIGHTS_AT;
		ok = pack_publish(outcome, v, &out, has_weights ? LINK_WEIGHTS_AT : out.len, gap);
	}
	buf_free(&out);
	return ok;
}

static bool link_objects(struct build_outcome *outcome, struct variant *v, const struct model_input *in, const struct model_info *info,
			 const struct object_list *list)
{
	struct link_request r = {.soname = path_base(variant_output(v)),
				 .needed = v->backend->library->needed,
				 .objects = list->at,
				 .n_objects = list->n,
				 .lines = list->lines};
	while (r.needed[r.n_needed])
		r.n_needed++;
	r.exports = model_exports(v->model->link.arena, in, info, &r.n_exports);
	return link_library(outcome, v, &r);
}

static bool write_texts(struct build_outcome *outcome, struct model_job *m, enum emit e, const struct backend_output *output,
			uint32_t first)
{
	for (uint32_t k = first; k < output->n_files; k++)
		if (!write_output(outcome, m, m->outputs.emitted[e][k], &output->files[k].text, 0644))
			return false;
	return true;
}

/* What a variant is assembled from. */
struct assembly {
	struct packing packing;
	struct model_input in;
	struct model_info info;
	struct backend_output out;
};

static const struct unit_lines *const *link_lines_of(const struct variant *v)
{
	const struct unit_lines **lines = ARENA_ARRAY(v->model->link.arena, const struct unit_lines *, v->model->program->n_units + 1);
	for (uint32_t i = 0; i < v->model->program->n_units; i++)
		lines[i] = v->units.jobs[i].lines;
	return lines;
}

/* Completes the weights, unless another library has them already, and finds them in memory for whoever reads them. */
static bool finish_weights(struct build_outcome *outcome, struct variant *v, const struct assembly *s)
{
	bool mapped = !v->backend->library || !is_linked_here(v->model) || s->info.role == MODEL_FALLBACK;
	if (v->backend->weights == BACKEND_NO_WEIGHTS)
		return true;
	if (!v->pack.is_finished && !(pack_finish(outcome, v) && pack_list_trits(v, &s->in)))
		return false;
	v->pack.is_finished = true;
	return !mapped || pack_map(v);
}

/* Makes the files of a variant, or adds its objects to `list`. Fills *s, which stays where it is: it refers to itself. */
static bool assemble(struct build_context *c, struct variant *v, const struct model_info *about, enum model_role role, struct assembly *s,
		     struct object_list *list)
{
	s->packing = (struct packing){&c->stores, v};
	s->in = pack_model_input(&s->packing);
	s->in.lines = link_lines_of(v);
	s->info = *about;
	s->info.role = role;
	s->info.unit_keys = v->units.keys;
	bool ok = finish_weights(&c->outcome, v, s);
	s->info.trits = v->pack.trits;
	s->info.n_trits = v->pack.n_trits;
	return ok && link_assemble(c, v, &s->in, &s->info, &s->out, list);
}

static bool link_variant(struct build_context *c, struct variant *v, const struct model_info *about)
{
	struct model_job *m = v->model;
	const struct backend_library *library = v->backend->library;
	struct variant *fallback = library && library->has_devices ? model_fallback(m) : NULL;
	struct assembly own = {0}, other = {0};
	struct object_list list = {0};
	bool ok = assemble(c, v, about, fallback ? MODEL_WITH_FALLBACK : MODEL_ALONE, &own, &list);
	if (fallback)
		ok = ok && assemble(c, fallback, about, MODEL_FALLBACK, &other, &list);
	v->needs = own.out.needs;
	if (library)
		ok = ok && link_objects(&c->outcome, v, &own.in, &own.info, &list);
	ok = ok && write_texts(&c->outcome, m, v->emit, &own.out, library ? 1 : 0);
	model_free_output(&own.out);
	model_free_output(&other.out);
	return ok;
}

static bool link_variants(struct build_context *c, struct model_job *m, const struct model_info *info)
{
	for (uint32_t i = 0; i < m->n_variants; i++)
		if (variant_output(&m->variants[i]) && !link_variant(c, &m->variants[i], info))
			return false;
	return true;
}

void link_model(struct build_context *c, struct model_job *m, const struct repository *repo)
{
	phase_begin(PHASE_LINK, m->spec->name);
	struct model_info info = describe_model(m);
	info.commit = repo->commit;
	info.dirty = repo->dirty;
	measure_begin("write libraries");
	bool ok = link_variants(c, m, &info);
	measure_end();
	measure_begin("write texts");
	for (enum emit e = 0; e < EMIT_COUNT; e++)
		ok = ok && write_texts(&c->outcome, m, e, &m->link.texts[e], 0);
	measure_end();
	if (ok) {
		triw_sweep(m->link.arena, m->spec->out, m->spec->name, m->outputs.weights, EMIT_COUNT);
		link_record_save(c->disk, c->stores.project, m);
	}
	m->link.written = ok;
	measure_end();
}
