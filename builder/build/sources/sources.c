#include "builder/build/sources/sources.h"
#include "backend/link/backend.h"
#include "backend/target/target.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/diag.h"
#include "base/measure.h"
#include "base/os.h"
#include "base/path.h"
#include "base/vec.h"
#include "builder/build/model/model.h"
#include "builder/build/model/project.h"
#include "builder/build/model/unit_entries.h"
#include "builder/build/session/context.h"
#include "builder/build/sources/checks.h"
#include "builder/build/sources/param_names.h"
#include "builder/build/timing/timing.h"
#include "builder/manifest/build_spec.h"
#include "builder/manifest/glob.h"
#include "builder/manifest/manifest.h"
#include "builder/manifest/options.h"
#include "builder/manifest/single_file.h"
#include "builder/store/inputs.h"
#include "frontend/frontend.h"
#include "frontend/hir/hir.h"

/* Reports a word of `sources` without a file. `why`: errno of reading it. */
static void report_no_file(struct arena *arena, struct diags *diags, bool single, const struct model_spec *s, const char *word, int why)
{
	bool is_pattern = !single && glob_is_pattern(word);
	const char *path = is_pattern ? glob_folder(arena, word) : word;
	if (is_pattern)
		why = path && access(path, R_OK | X_OK) != 0 ? errno : 0;
	if (single) {
		diag_add(diags, DIAG_FILE_READ, SPAN_NONE, "cannot read `%s`: %s", word, os_read_error(why ? why : EISDIR));
	} else if (why && why != ENOENT && why != ENOTDIR) {
		diag_add(diags, DIAG_FILE_READ, s->sources->at, "cannot read `%s`: %s", path, os_read_error(why));
	} else {
		struct diag *g = diag_add(diags, DIAG_MANIFEST_SOURCES, s->sources->at, "no file matches `%s`", word);
		diag_help(diags, g, "paths are relative to the manifest's folder; `*` matches a part of a name, `**/` any folders");
	}
}

/* The files that a model's `sources` name. NULL: a word without a file was reported. */
static const char *const *sources_source_files(struct build_context *c, const struct model_spec *s, uint32_t *n)
{
	VEC(const char *) files = {0};
	bool ok = true;
	for (uint32_t i = 0; i < s->sources->n_words; i++) {
		const char *word = s->sources->words[i], *const *list = &word;
		uint32_t found = 1;
		errno = 0;
		if (!c->request.single && glob_is_pattern(word))
			list = inputs_glob(c->inputs, word, &found);
		else if (!context_load(c, word))
			found = 0;
		if (!found)
			report_no_file(c->arena, c->diags, c->request.single, s, word, errno);
		ok &= found > 0;
		for (uint32_t k = 0; k < found; k++)
			vec_push(&files, list[k]);
	}
	const char **copy = ARENA_ARRAY(c->arena, const char *, files.len + 1);
	if (files.len)
		memcpy(copy, files.at, files.len * sizeof *copy);
	*n = files.len;
	vec_free(&files);
	return ok ? copy : NULL;
}

/* Reports errors in what parses, beside the syntax errors. */
static void check_what_parsed(const struct options *options, struct model_job *m)
{
	enum stop_stage stop = options->stop;
	if (stop != STOP_LEX && stop != STOP_PARSE)
		frontend_check(m->frontend);
}

/* Makes the warm front end current, or replaces it. */
static void refresh_frontend(struct build_context *c, const struct project *p, struct model_job *m, const char *const *files, uint32_t n)
{
	struct hasher *h = hasher_new();
	for (uint32_t i = 0; files && i < n; i++)
		hasher_add_str(h, files[i]);
	hash128 list = hasher_finish(h);
	bool same = hash_eq(list, m->files);
	m->files = list;
	if (!m->is_warm || (same && p->dependencies.n_visible == 0 && frontend_refresh(m->frontend, context_host(c), c->diags)))
		return;
	frontend_free(m->frontend);
	m->frontend = project_new_frontend(c, p);
}

static void load_model(struct build_context *c, struct project *p, struct model_job *m)
{
	uint32_t n;
	phase_begin(PHASE_LOAD, NULL);
	measure_begin("find files");
	const char *const *files = sources_source_files(c, m->spec, &n);
	measure_end();
	m->failed = !files;
	refresh_frontend(c, p, m, files, n);
	measure_end();
	for (uint32_t k = 0; files && k < n; k++)
		m->failed |= !frontend_add_file(m->frontend, files[k]);
	if (c->request.single && files && !m->failed)
		m->failed = !single_file_choose_entry(c->arena, m->frontend, &p->spec.models[0], c->diags);
	if (files && m->failed)
		check_what_parsed(c->request.options, m);
}

bool sources_load(struct build_context *c, struct project *p)
{
	for (uint32_t i = 0; i < p->n_models; i++)
		if (!p->models[i].failed)
			load_model(c, p, &p->models[i]);
	return project_may_go_on(c, p);
}

/* Files may import the dependencies of the manifest beside them, if there is one. */
static bool find_dependencies_of_files(struct build_context *c, struct project *p)
{
	struct diags *ignored = diags_new(0);
	const struct manifest *m = manifest_read(c->arena, context_host(c), MANIFEST_FILE, ignored);
	diags_free(ignored);
	return project_find_dependencies(c, m, DEPENDENCY_BUILD, &p->dependencies);
}

bool sources_load_files(struct build_context *c, struct project *p)
{
	const struct options *o = c->request.options;
	struct model_job *m = ARENA_NEW(c->arena, struct model_job);
	model_init(m);
	p->models = m;
	p->n_models = 1;
	m->frontend = frontend_new(c->sources, context_host(c), c->diags);
	if (context_load(c, MANIFEST_FILE) && !find_dependencies_of_files(c, p))
		return false;
	frontend_set_dependencies(m->frontend, p->dependencies.visible, p->dependencies.n_visible);
	for (uint32_t i = 0; i < o->n_operands; i++) {
		const char *path = path_normal(c->arena, o->operands[i]);
		errno = 0;
		if (context_load(c, path))
			m->failed |= !frontend_add_file(m->frontend, path);
		else
			diag_add(c->diags, DIAG_FILE_READ, SPAN_NONE, "cannot read `%s`: %s", path, os_read_error(errno ? errno : EISDIR));
	}
	if (m->failed)
		check_what_parsed(c->request.options, m);
	return true;
}

bool sources_check(struct build_context *c, struct project *p)
{
	phase_begin(PHASE_TYPECHECK, NULL);
	bool try_layers = c->request.check && c->request.options->n_operands;
	for (uint32_t i = 0; i < p->n_models; i++) {
		struct model_job *m = &p->models[i];
		if (m->failed)
			continue;
		measure_begin("load checks");
		checks_load(c, m);
		measure_end();
		m->failed = !frontend_check(m->frontend) || (try_layers && !frontend_try_layers(m->frontend));
	}
	measure_end();
	return project_may_go_on(c, p);
}

void sources_verify_edits(struct diags *diags, const struct project *p)
{
	for (uint32_t i = 0; i < p->n_models; i++)
		if (p->models[i].frontend)
			frontend_verify_edits(p->models[i].frontend, diags);
}

bool sources_elaborate_mains(struct build_context *c, struct project *p)
{
	for (uint32_t i = 0; i < p->n_models; i++) {
		struct frontend *f = p->models[i].frontend;
		for (uint32_t k = 0; k < frontend_files(f) && !p->models[i].failed; k++) {
			struct elab_request req = {.main = frontend_file_path(f, k), .at = SPAN_NONE};
			if (frontend_has_main(f, k))
				p->models[i].failed = !frontend_elaborate(f, &req);
		}
	}
	return project_may_go_on(c, p);
}

static void elaborate_model(struct arena *arena, struct diags *diags, const struct options *options, struct model_job *m)
{
	const struct model_spec *s = m->spec;
	uint32_t n_file;
	const struct elab_input *in_file = weights_tensors(arena, m->params.file, &n_file);
	const char **names = ARENA_ARRAY(arena, const char *, n_file + s->n_weight_names + 1);
	params_warn_prefixes(arena, diags, m, in_file, n_file);
	for (uint32_t k = 0; k < n_file; k++)
		names[k] = in_file[k].name;
	for (uint32_t k = 0; k < s->n_weight_names; k++)
		names[n_file + k] = s->weight_names[k];
	struct elab_request req = {.entries = s->entries,
				   .n_entries = s->n_entries,
				   .inputs = s->inputs,
				   .n_inputs = s->n_inputs,
				   .weight_names = names,
				   .n_weight_names = n_file + s->n_weight_names,
				   .weights = in_file,
				   .n_weights = n_file,
				   .at = s->entry_at};
	m->program = frontend_elaborate(m->frontend, &req);
	m->failed = !m->program;
	if (m->program && options->unit_entries)
		m->program = unit_entries_make(arena, m->program, options->unit_entries - 1);
	for (uint32_t i = 0; m->program && i < m->n_variants; i++) {
		const struct variant *v = &m->variants[i];
		if (s->plan.profile_hook && !v->target->calls_hook && !v->backend->library)
			diag_add(diags, DIAG_NO_PROFILE, s->at, "model `%s` has `profile = true`, but its %s source measures nothing",
				 s->name, v->backend->title);
	}
}

bool sources_elaborate(struct build_context *c, struct project *p)
{
	phase_begin(PHASE_ELABORATE, NULL);
	for (uint32_t i = 0; i < p->n_models; i++)
		if (!p->models[i].failed && !p->models[i].params.unknown)
			elaborate_model(c->arena, c->diags, c->request.options, &p->models[i]);
	measure_end();
	return project_may_go_on(c, p);
}
