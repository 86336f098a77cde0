#include "builder/build/model/model.h"
#include <errno.h>
#include <string.h>
#include "backend/target/target.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/path.h"
#include "builder/manifest/backends.h"
#include "builder/build/session/context.h"
#include "builder/build/session/folders.h"
#include "builder/build/session/session.h"
#include "builder/build/session/warm.h"
#include "builder/manifest/build_spec.h"
#include "builder/manifest/options.h"
#include "builder/store/fragment_log.h"
#include "builder/store/history.h"
#include "builder/weights/packed.h"
#include "builder/weights/triw.h"
#include "frontend/frontend.h"
#include "frontend/hir/hir.h"
#include "frontend/index/index.h"

void model_init(struct model_job *m) { *m = (struct model_job){.diags = diags_new(0), .link.arena = arena_new(0)}; }

/* `weights.packing`; small code has small weights. */
static bool has_dense_trits(const struct model_spec *s)
{
	return s->packing == PACKING_1_6 || (s->packing == PACKING_AUTO && s->plan.size);
}

static hash128 variant_id(const struct backend *b, const struct target *t)
{
	return hash_combine(target_hash(t), hash_bytes(b->name, strlen(b->name)));
}

static bool can_make_objects(const struct backend *b) { return b->library && b->library->emits_objects; }

static bool add_variant(struct arena *arena, struct diags *diags, const struct options *options, struct model_job *m, enum emit e)
{
	struct variant *v = &m->variants[m->n_variants];
	const struct backend *b = emit_backend(e);
	const char *why = NULL;
	const struct target *t = b->target(arena, m->platform.target, has_dense_trits(m->spec), &why);
	if (!t) {
		diag_add(diags, DIAG_MANIFEST_TARGET, m->spec->target_at, "%s", why);
		return false;
	}
	*v = (struct variant){.model = m,
			      .backend = b,
			      .emit = e,
			      .target = t,
			      .target_id = variant_id(b, t),
			      .is_lazy = can_make_objects(b) && options->lazy,
			      .pack.arena = arena_new(0)};
	pthread_mutex_init(&v->units.plan_lock, NULL);
	m->n_variants++;
	return true;
}

bool model_add_variants(struct arena *arena, struct diags *diags, const struct options *options, struct model_job *m)
{
	bool ok = true, wants_fallback = false;
	for (enum emit e = 0; e < EMIT_COUNT; e++) {
		const struct backend *b = emit_backend(e);
		if (!m->outputs.emitted[e][0] || b->stage == BACKEND_HIR)
			continue;
		ok = add_variant(arena, diags, options, m, e) && ok;
		wants_fallback |= emit_has_devices(e);
	}
	wants_fallback = wants_fallback && m->spec->has_fallback && !options->lazy;
	if (ok && (!m->n_variants || (wants_fallback && !m->outputs.emitted[EMIT_LIBRARY][0])))
		ok = add_variant(arena, diags, options, m, EMIT_LIBRARY);
	for (uint32_t i = 0; i < m->n_variants; i++)
		m->variants[i].is_fallback = wants_fallback && m->variants[i].emit == EMIT_LIBRARY;
	return ok;
}

struct variant *model_fallback(struct model_job *m)
{
	for (uint32_t i = 0; i < m->n_variants; i++)
		if (m->variants[i].is_fallback)
			return &m->variants[i];
	return NULL;
}

struct backend_output model_new_output(struct model_job *m, enum emit e)
{
	struct backend_output o = {.files = ARENA_ARRAY(m->link.arena, struct backend_file, emit_files(e)), .n_files = emit_files(e)};
	for (uint32_t k = 0; k < o.n_files; k++)
		o.files[k].name = m->outputs.emitted[e][k] ? path_base(m->outputs.emitted[e][k]) : "";
	return o;
}

void model_free_output(struct backend_output *output)
{
	for (uint32_t k = 0; k < output->n_files; k++)
		buf_free(&output->files[k].text);
}

static void free_variant(struct variant *v)
{
	fragment_log_close(v->log);
	for (uint32_t k = 0; v->units.jobs && k < v->model->program->n_units; k++) {
		arena_free(v->units.jobs[k].arena);
		diags_free(v->units.jobs[k].diags);
	}
	ir_program_free(v->program);
	map_free(&v->units.by_identity);
	pthread_mutex_destroy(&v->units.plan_lock);
	triw_close(v->pack.triw);
	packed_close(v->pack.packed);
	arena_free(v->pack.arena);
}

/* Only the front end of a clean model stays warm: diagnostics would have to be reported again. */
static void free_frontend(struct diags *diags, const struct build_outcome *outcome, struct session *session, struct model_job *m)
{
	struct warm *w = session->warm;
	if (w && outcome->done && !outcome->interrupted && !m->failed && diags_count(diags) == 0 && m->frontend)
		warm_put(w, m->spec->name, m->files, m->frontend);
	else
		frontend_free(m->frontend);
}

void model_free(struct build_context *c, struct model_job *m)
{
	for (uint32_t i = 0; i < m->n_variants; i++)
		free_variant(&m->variants[i]);
	history_free(m->history);
	weights_close(m->params.file);
	free_frontend(c->diags, &c->outcome, c->session, m);
	index_free(m->index_of_names);
	for (enum emit e = 0; e < EMIT_COUNT; e++)
		model_free_output(&m->link.texts[e]);
	arena_free(m->link.arena);
	diags_free(m->diags);
}

uint32_t model_list_outputs(const struct model_outputs *o, const char *paths[MOST_OUTPUTS])
{
	uint32_t n = 0;
	for (enum emit e = 0; e < EMIT_COUNT; e++)
		for (uint32_t k = 0; k < EMIT_FILES; k++)
			if (o->emitted[e][k])
				paths[n++] = o->emitted[e][k];
	for (enum emit e = 0; e < EMIT_COUNT; e++)
		if (o->weights[e])
			paths[n++] = o->weights[e];
	return n;
}

struct unit_job *variant_find_unit(struct variant *v, hash128 identity)
{
	uint64_t i;
	return map_get(&v->units.by_identity, identity, &i) ? &v->units.jobs[i] : NULL;
}

const char *variant_output(const struct variant *v) { return v->model->outputs.emitted[v->emit][0]; }

bool variant_is_linked(const struct variant *v) { return v->is_fallback || variant_output(v); }

const char *model_output(const struct model_job *m) { return m->n_variants ? variant_output(&m->variants[0]) : NULL; }

bool variant_makes_objects(const struct variant *v) { return can_make_objects(v->backend) && !v->is_lazy; }

bool variant_is_for(const struct variant *v, const char *backend) { return strcmp(v->backend->name, backend) == 0; }

struct fragment_log *variant_log(struct store *store, struct variant *v)
{
	const struct model_spec *s = v->model->spec;
	if (v->log || !store)
		return v->log;
	struct hasher *h = hasher_new();
	hasher_add_str(h, s->name);
	hasher_add_str(h, v->backend->name);
	hasher_add_hash(h, v->target_id);
	hasher_add_u64(h, (uint64_t)s->plan.opt << 3 | (uint64_t)s->plan.size << 2 | (uint64_t)s->plan.profile_hook << 1 | v->is_lazy);
	v->log = fragment_log_open(PROJECT_FRAGMENTS, hasher_finish(h));
	return v->log;
}

const char *variant_label(struct arena *a, const struct variant *v, const char *name)
{
	return v->model->n_variants > 1 ? arena_printf(a, "%s for %s", name, v->backend->title) : name;
}

bool model_link_failed(struct model_job *m, const char *error)
{
	diag_add(m->diags, DIAG_LINK, m->spec->at, "model `%s` cannot be linked: %s", m->spec->name, error ? error : "no reason given");
	return false;
}

void model_write_failed(struct build_outcome *outcome, struct model_job *m, const char *path)
{
	struct diag *g = diag_add(m->diags, DIAG_FILE_WRITE, SPAN_NONE, "cannot write `%s`: %s", path, strerror(errno));
	diag_note(m->diags, g, "the previous file, if any, is unchanged");
	outcome->environment = true;
}
