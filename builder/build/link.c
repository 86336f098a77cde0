#include "builder/build/link.h"
#include <string.h>
#include "backend/link/backend.h"
#include "backend/link/elf/link.h"
#include "backend/link/model/runtime_objects.h"
#include "backend/pytorch/pytorch.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/measure.h"
#include "base/os.h"
#include "base/path.h"
#include "builder/build/build_steps.h"
#include "builder/build/lines.h"
#include "builder/build/link_objects.h"
#include "builder/build/session.h"
#include "builder/build/timing.h"
#include "builder/manifest/build_spec.h"
#include "builder/manifest/options.h"
#include "builder/manifest/outputs.h"
#include "builder/version.h"
#include "builder/weights/triw.h"
#include "frontend/hir/hir.h"

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

/* Prints the PyTorch source, which has names and comments that no other output depends on. */
static void print_python(struct model_job *m, struct hasher *h)
{
	if (!m->outputs.emitted[EMIT_PYTORCH])
		return;
	m->failed = !pytorch_print(m->program, m->context->sources, m->spec->name, m->diags, &m->link.python) || m->failed;
	hasher_add(h, m->link.python.at, m->link.python.len);
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
	print_python(m, h);
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
	if (!pack_list_trits(v, &in))
		return false;
	info.trits = v->pack.trits;
	info.n_trits = v->pack.n_trits;
	if (!link_list_objects(v, &in, &info, &l))
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

static bool write_texts(struct model_job *m, const struct model_info *info)
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
	if (ok && m->outputs.emitted[EMIT_PYTORCH])
		ok = write_output(m, m->outputs.emitted[EMIT_PYTORCH], &m->link.python, 0644);
	buf_free(&text);
	return ok;
}

void link_model(struct model_job *m, const struct repository *repo)
{
	phase_begin(PHASE_LINK, m->spec->name);
	struct model_info info = {.name = m->spec->name,
				  .version = m->spec->version,
				  .compiler = "trib " TRIB_VERSION,
				  .target = m->platform.text,
				  .commit = repo->commit,
				  .dirty = repo->dirty,
				  .profile_hook = m->spec->plan.profile_hook};
	measure_begin("write libraries");
	bool ok = link_libraries(m, &info);
	measure_end();
	measure_begin("write texts");
	ok = ok && write_texts(m, &info);
	measure_end();
	if (ok) {
		triw_sweep(m->link.arena, m->spec->out, m->spec->name, m->outputs.weights);
		link_record_save(m);
	}
	m->link.written = ok;
	measure_end();
}
