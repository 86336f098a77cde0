#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/diag.h"
#include "base/path.h"
#include "builder/build/state.h"
#include "builder/build/timing.h"
#include "builder/build/warm.h"
#include "builder/manifest/glob.h"
#include "builder/manifest/manifest.h"
#include "builder/manifest/options.h"
#include "builder/manifest/single_file.h"
#include "frontend/hir/hir.h"

#define MANIFEST "tri.build"

/* NULL: errno says why. */
const struct source *build_load(void *build, const char *path)
{
	struct build *b = build;
	hash128 key = map_key_str(path);
	uint64_t id;
	char *text;
	size_t len;
	if (map_get(&b->loaded, key, &id)) {
		errno = 0;
		if (!id)
			(void)!access(path, R_OK); /* for errno */
		return id ? sources_get(b->sources, (uint32_t)(id - 1)) : NULL;
	}
	const struct source *s = NULL;
	int why = 0;
	errno = 0;
	if (!inputs_read(b->inputs, path, &text, &len)) {
		why = errno;
	} else if (len < INT32_MAX) {
		s = b->warm ? warm_source(b->warm, path, text, len) : sources_take(b->sources, path, text, len);
	} else {
		free(text);
		why = EFBIG;
	}
	map_put(&b->loaded, key, s ? s->id + 1u : 0);
	errno = why;
	return s;
}

static bool resolve_target(struct build *b, struct model_job *m)
{
	const char *error, *near = NULL;
	if (platform_resolve(b->session, m->spec->target, m->spec->cpu, &m->platform, &error, &near))
		return true;
	struct diag *g = diag_add(b->diags, DIAG_MANIFEST_TARGET, m->spec->target_at, "%s", error);
	if (near)
		diag_help(b->diags, g, "did you mean `%s`?", near);
	return false;
}

static struct frontend *new_frontend(struct build *b)
{
	struct frontend *f = frontend_new(b->sources, (struct frontend_host){build_load, b}, b->diags);
	frontend_set_dependencies(f, b->dependencies.visible, b->dependencies.n_visible);
	if (b->warm)
		frontend_enable_refresh(f);
	else if (b->project)
		frontend_record_reads(f);
	return f;
}

static bool make_spec(struct build *b, const struct manifest *m)
{
	struct options o = *b->options;
	if (b->single) {
		o.models = NULL;
		o.n_models = 0;
		o.out = single_file_folder(b->session, b->options);
	}
	return build_spec_make(b->session, m, &o, &b->spec, b->diags);
}

static const char *output_path(struct build *b, const struct model_spec *s)
{
	const char *library = b->single ? single_file_library(b->options) : NULL;
	return library ? library : path_normal(b->session, arena_printf(b->session, "%s/lib%s.so", s->out, s->name));
}

bool build_read_manifest(struct build *b)
{
	const struct manifest *m = b->single ? single_file_manifest(b->session, b->options, b->diags)
					     : manifest_read(b->session, (struct frontend_host){build_load, b}, MANIFEST, b->diags);
	if (!m || diags_errors(b->diags) || !make_spec(b, m) || !build_find_dependencies(b, m, DEPENDENCY_BUILD))
		return false;
	b->n_models = b->spec.n_models;
	b->models = ARENA_ARRAY(b->session, struct model_job, b->n_models + 1);
	for (uint32_t i = 0; i < b->n_models; i++) {
		struct model_job *j = &b->models[i];
		const struct model_spec *s = &b->spec.models[i];
		*j = (struct model_job){.build = b, .spec = s, .index = i};
		j->frontend = b->warm ? warm_take(b->warm, s->name, &j->files) : NULL;
		j->kept = j->frontend;
		if (!j->kept)
			j->frontend = new_frontend(b);
		j->arena = arena_new(0);
		j->diags = diags_new(0);
		if (s->emit >> EMIT_LIBRARY & 1)
			j->library = output_path(b, s);
		if (s->emit >> EMIT_HEADER & 1)
			j->header = arena_printf(b->session, "%s/%s.h", s->out, s->name);
		if (s->emit >> EMIT_LIVE & 1)
			j->live = arena_printf(b->session, "%s/tri_live.h", s->out);
		if (s->emit >> EMIT_OPENCL & 1)
			j->opencl = arena_printf(b->session, "%s/lib%s_opencl.so", s->out, s->name);
		j->failed = !resolve_target(b, j);
	}
	return build_may_go_on(b);
}

/* Why a word of `sources` finds nothing: errno of its file, or of the folder that its pattern lists. 0: there is none such. */
static int unreadable(struct build *b, const char *word, int why)
{
	const char *folder = glob_is_pattern(word) ? glob_folder(b->session, word) : NULL;
	if (glob_is_pattern(word))
		why = folder && access(folder, R_OK | X_OK) != 0 ? errno : 0;
	return why == ENOENT || why == ENOTDIR ? 0 : why;
}

/* The files that a model's `sources` name. */
static const char *const *source_files(struct build *b, const struct model_spec *s, uint32_t *n)
{
	VEC(const char *) files = {0};
	bool ok = true;
	errno = 0;
	for (uint32_t i = 0; i < s->sources->n_words; i++) {
		const char *word = s->sources->words[i];
		uint32_t found = 1;
		const char *const *list = &word;
		if (!b->single && glob_is_pattern(word))
			list = inputs_glob(b->inputs, word, &found);
		else if (!build_load(b, word))
			found = 0;
		int why = found ? 0 : errno;
		for (uint32_t k = 0; k < found; k++)
			vec_push(&files, list[k]);
		if (!found && b->single) {
			diag_add(b->diags, DIAG_FILE_READ, SPAN_NONE, "cannot read `%s`: %s", word, strerror(errno ? errno : EISDIR));
			ok = false;
		} else if (!found && (why = unreadable(b, word, why))) {
			diag_add(b->diags, DIAG_FILE_READ, s->sources->at, "cannot read `%s`: %s",
				 glob_is_pattern(word) ? glob_folder(b->session, word) : word, strerror(why));
			ok = false;
		} else if (!found) {
			struct diag *g = diag_add(b->diags, DIAG_MANIFEST_SOURCES, s->sources->at, "no file matches `%s`", word);
			diag_help(b->diags, g,
				  "paths start at the manifest's folder; `*` stands for a part of a name, `**/` for any folders");
			ok = false;
		}
	}
	const char **copy = ARENA_ARRAY(b->session, const char *, files.len + 1);
	if (files.len)
		memcpy(copy, files.at, files.len * sizeof *copy);
	*n = files.len;
	vec_free(&files);
	return ok ? copy : NULL;
}

/* Syntax errors do not hide the errors in what they leave whole. */
static void check_what_was_read(struct model_job *m)
{
	enum stop_stage stop = m->build->options->stop;
	if (stop != STOP_LEX && stop != STOP_PARSE)
		frontend_check(m->frontend);
}

/* The front end that an earlier build left, made current, or a new one in its place. */
static void refresh(struct build *b, struct model_job *m, const char *const *files, uint32_t n)
{
	struct hasher *h = hasher_new();
	for (uint32_t i = 0; files && i < n; i++)
		hasher_add_str(h, files[i]);
	hash128 list = hasher_finish(h);
	bool same = hash_eq(list, m->files);
	m->files = list;
	if (!m->kept ||
	    (same && b->dependencies.n_visible == 0 && frontend_refresh(m->frontend, (struct frontend_host){build_load, b}, b->diags)))
		return;
	frontend_free(m->frontend);
	m->frontend = new_frontend(b);
}

bool build_load_sources(struct build *b)
{
	struct tick t = timing_tick();
	for (uint32_t i = 0; i < b->n_models; i++) {
		struct model_job *m = &b->models[i];
		uint32_t n;
		if (m->failed)
			continue;
		const char *const *files = source_files(b, m->spec, &n);
		m->failed = !files;
		refresh(b, m, files, n);
		for (uint32_t k = 0; files && k < n; k++)
			m->failed |= !frontend_add_file(m->frontend, files[k]);
		if (b->single && files && !m->failed)
			m->failed = !single_file_choose_entry(b->session, m->frontend, &b->spec.models[0], b->diags);
		if (files && m->failed)
			check_what_was_read(m);
	}
	timing_event(b->timing, PHASE_PARSE, 0, "read, lex and parse", t);
	return build_may_go_on(b);
}

/* Files alone may import what a manifest beside them names; else it does not matter. */
static bool find_dependencies_of_files(struct build *b)
{
	struct diags *quiet = diags_new(0);
	const struct manifest *m = manifest_read(b->session, (struct frontend_host){build_load, b}, MANIFEST, quiet);
	diags_free(quiet);
	return build_find_dependencies(b, m, DEPENDENCY_BUILD);
}

bool build_load_files(struct build *b)
{
	struct frontend_host host = {build_load, b};
	struct model_job *m = ARENA_NEW(b->session, struct model_job);
	*m = (struct model_job){.build = b, .arena = arena_new(0)};
	b->models = m;
	b->n_models = 1;
	m->frontend = frontend_new(b->sources, host, b->diags);
	if (build_load(b, MANIFEST) && !find_dependencies_of_files(b))
		return false;
	frontend_set_dependencies(m->frontend, b->dependencies.visible, b->dependencies.n_visible);
	for (uint32_t i = 0; i < b->options->n_models; i++) {
		const char *path = path_normal(b->session, b->options->models[i]);
		errno = 0;
		if (build_load(b, path))
			m->failed |= !frontend_add_file(m->frontend, path);
		else
			diag_add(b->diags, DIAG_FILE_READ, SPAN_NONE, "cannot read `%s`: %s", path, strerror(errno ? errno : EISDIR));
	}
	if (m->failed)
		check_what_was_read(m);
	return true;
}

bool build_check(struct build *b)
{
	struct tick t = timing_tick();
	bool files = b->check && b->options->n_models;
	for (uint32_t i = 0; i < b->n_models; i++)
		if (!b->models[i].failed) {
			build_load_checks(b, &b->models[i]);
			b->models[i].failed =
				!frontend_check(b->models[i].frontend) || (files && !frontend_try_layers(b->models[i].frontend));
		}
	timing_event(b->timing, PHASE_TYPECHECK, 0, "check types", t);
	return build_may_go_on(b);
}

/* Print and assert are left out of OpenCL code: the first one is told. */
static void warn_effects(struct build *b, const struct hir_program *p)
{
	for (uint32_t i = 0; i < p->n_units; i++)
		for (uint32_t k = 0; k < p->units[i]->n_nodes; k++) {
			const struct hir_node *n = &p->units[i]->nodes[k];
			if (n->kind != HIR_PRINT && n->kind != HIR_ASSERT)
				continue;
			diag_add(b->diags, DIAG_DEVICE_EFFECT, n->at, "the OpenCL library leaves this %s out",
				 n->kind == HIR_PRINT ? "print" : "assertion");
			return;
		}
}

bool build_elaborate_mains(struct build *b)
{
	for (uint32_t i = 0; i < b->n_models; i++) {
		struct frontend *f = b->models[i].frontend;
		for (uint32_t k = 0; k < frontend_files(f) && !b->models[i].failed; k++) {
			struct elab_request req = {.main = frontend_file_path(f, k), .at = SPAN_NONE};
			if (frontend_has_main(f, k))
				b->models[i].failed = !frontend_elaborate(f, &req);
		}
	}
	return build_may_go_on(b);
}

bool build_elaborate(struct build *b)
{
	struct tick t = timing_tick();
	for (uint32_t i = 0; i < b->n_models; i++) {
		struct model_job *m = &b->models[i];
		if (m->failed || m->unknown_params)
			continue;
		uint32_t n_file;
		const struct elab_input *in_file = weights_tensors(b->session, m->weights, &n_file);
		const char **names = ARENA_ARRAY(b->session, const char *, n_file + m->spec->n_weight_names + 1);
		build_warn_prefixes(m, in_file, n_file);
		for (uint32_t k = 0; k < n_file; k++)
			names[k] = in_file[k].name;
		for (uint32_t k = 0; k < m->spec->n_weight_names; k++)
			names[n_file + k] = m->spec->weight_names[k];
		struct elab_request req = {.entries = m->spec->entries,
					   .n_entries = m->spec->n_entries,
					   .inputs = m->spec->inputs,
					   .n_inputs = m->spec->n_inputs,
					   .weight_names = names,
					   .n_weight_names = n_file + m->spec->n_weight_names,
					   .weights = in_file,
					   .n_weights = n_file,
					   .at = m->spec->entry_at};
		m->program = frontend_elaborate(m->frontend, &req);
		m->failed = !m->program;
		if (m->program && m->opencl)
			warn_effects(b, m->program);
	}
	timing_event(b->timing, PHASE_ELABORATE, 0, "elaborate", t);
	return build_may_go_on(b);
}
