#include "builder/build/model/project.h"
#include <string.h>
#include "base/arena.h"
#include "base/diag.h"
#include "base/os.h"
#include "base/path.h"
#include "base/print.h"
#include "builder/build/model/model.h"
#include "builder/build/session/context.h"
#include "builder/build/session/session.h"
#include "builder/build/session/warm.h"
#include "builder/manifest/build_spec.h"
#include "builder/deps/checkout.h"
#include "builder/manifest/manifest.h"
#include "builder/manifest/options.h"
#include "builder/manifest/outputs.h"
#include "builder/manifest/single_file.h"
#include "builder/store/inputs.h"
#include "frontend/frontend.h"

static void print_progress(void *context, const char *what, const char *of)
{
	const struct build_context *c = context;
	if (request_is_chatty(&c->request))
		print(c->request.err, "trib: %s %s\n", what, of);
}

bool project_find_dependencies(struct build_context *c, const struct manifest *m, enum dependency_mode mode, struct dependencies *out)
{
	struct checkouts checkouts;
	const struct options *o = c->request.options;
	struct dependency_options r = {.arena = c->arena,
				       .sources = c->sources,
				       .host = context_host(c),
				       .manifest = m,
				       .mode = mode,
				       .checkouts = &checkouts,
				       .diags = c->diags};
	if (!manifest_find(m, BLOCK_DEPENDENCY, NULL))
		return true;
	if (!checkouts_open(&checkouts, c->arena, c->sources, m, o, c->diags))
		return false;
	checkouts.report = print_progress;
	checkouts.ctx = c;
	if (mode == DEPENDENCY_UPDATE) {
		r.names = o->operands;
		r.n_names = o->n_operands;
	} else if (o->locked) {
		r.mode = DEPENDENCY_LOCKED;
	}
	bool ok = dependencies_resolve(&r, out);
	inputs_note(c->inputs, LOCK_FILE, NULL); /* it may have been written */
	for (uint32_t i = 0; i < diags_count(c->diags); i++)
		c->outcome.environment |= diags_at(c->diags, i)->code == DIAG_FETCH;
	return ok;
}

bool project_update_dependencies(struct build_context *c, struct dependencies *out)
{
	const struct manifest *m = manifest_read(c->arena, context_host(c), MANIFEST_FILE, c->diags);
	return diags_errors(c->diags) == 0 && project_find_dependencies(c, m, DEPENDENCY_UPDATE, out);
}

static bool resolve_target(struct arena *arena, struct diags *diags, struct model_job *m)
{
	const char *error, *near = NULL;
	if (platform_resolve(arena, m->spec->target, m->spec->cpu, &m->platform, &error, &near))
		return true;
	struct diag *g = diag_add(diags, DIAG_MANIFEST_TARGET, m->spec->target_at, "%s", error);
	if (near)
		diag_help(diags, g, "did you mean `%s`?", near);
	return false;
}

static bool make_spec(struct arena *arena, struct diags *diags, const struct build_request *request, const struct manifest *m,
		      struct build_spec *spec)
{
	struct options o = *request->options;
	if (request->single) {
		o.n_operands = 0;
		o.out = single_file_folder(arena, request->options);
	}
	return build_spec_make(arena, m, &o, spec, diags);
}

static const char *library_path(struct arena *arena, const struct build_request *request, const struct model_spec *s)
{
	const char *named = request->single ? single_file_library(request->options) : NULL;
	return named ? named : path_normal(arena, emit_path(arena, EMIT_LIBRARY, 0, s));
}

static struct model_outputs model_outputs(struct arena *arena, const struct build_request *request, const struct model_spec *s)
{
	struct model_outputs o = {0};
	for (enum emit e = 0; e < EMIT_COUNT; e++)
		for (uint32_t k = 0; s->emit >> e & 1 && k < emit_files(e); k++)
			o.emitted[e][k] = e == EMIT_LIBRARY ? library_path(arena, request, s) : emit_path(arena, e, k, s);
	return o;
}

struct frontend *project_new_frontend(struct build_context *c, const struct project *p)
{
	struct frontend *f = frontend_new(c->sources, context_host(c), c->diags);
	frontend_set_dependencies(f, p->dependencies.visible, p->dependencies.n_visible);
	if (c->session->warm)
		frontend_enable_refresh(f);
	else if (c->stores.project)
		frontend_record_reads(f);
	return f;
}

static void project_start_model(struct build_context *c, struct project *p, uint32_t i)
{
	struct model_job *m = &p->models[i];
	const struct model_spec *s = &p->spec.models[i];
	model_init(m);
	m->spec = s;
	m->index = i;
	m->outputs = model_outputs(c->arena, &c->request, s);
	m->frontend = c->session->warm ? warm_take(c->session->warm, s->name, &m->files) : NULL;
	m->is_warm = m->frontend;
	if (c->session->warm)
		lookups_count(&c->lookups[LOOKUPS_MEMORY], m->is_warm);
	if (!m->is_warm)
		m->frontend = project_new_frontend(c, p);
	m->failed = !resolve_target(c->arena, c->diags, m) || !model_add_variants(c->arena, c->diags, c->request.options, m);
}

bool project_read_manifest(struct build_context *c, struct project *p)
{
	const struct manifest *m = c->request.single ? single_file_manifest(c->arena, c->request.options, c->diags)
						     : manifest_read(c->arena, context_host(c), MANIFEST_FILE, c->diags);
	if (!m || diags_errors(c->diags) || !make_spec(c->arena, c->diags, &c->request, m, &p->spec) ||
	    !project_find_dependencies(c, m, DEPENDENCY_BUILD, &p->dependencies))
		return false;
	p->models = ARENA_ARRAY(c->arena, struct model_job, p->spec.n_models + 1);
	for (; p->n_models < p->spec.n_models; p->n_models++)
		project_start_model(c, p, p->n_models);
	return project_may_go_on(c, p);
}

bool project_may_go_on(const struct build_context *c, const struct project *p)
{
	uint32_t failed = 0;
	for (uint32_t i = 0; i < p->n_models; i++)
		failed += p->models[i].failed;
	if (c->outcome.interrupted || (failed == 0 && diags_errors(c->diags)))
		return false;
	uint32_t most = c->request.check ? 0 : p->spec.most_failures; /* a check reports all errors */
	return failed == 0 || (failed < p->n_models && (most == 0 || failed < most));
}

void project_sweep(const struct project *p)
{
	for (uint32_t i = 0; i < p->n_models; i++)
		if (i == 0 || strcmp(p->models[i].spec->out, p->models[i - 1].spec->out) != 0)
			os_remove_temporaries(p->models[i].spec->out);
}

void project_free(struct build_context *c, struct project *p)
{
	for (uint32_t i = 0; i < p->n_models; i++)
		model_free(c, &p->models[i]);
	*p = (struct project){0};
}
