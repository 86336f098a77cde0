#include "builder/build/load.h"
#include "builder/build/model/model.h"
#include "builder/build/session/context.h"
#include "builder/build/session/status.h"
#include "builder/build/sources/params.h"
#include "builder/run/run.h"
#include <string.h>
#include "backend/interp/interp.h"
#include "backend/lower/lower.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/os.h"
#include "base/path.h"
#include "base/print.h"
#include "builder/manifest/options.h"
#include "frontend/frontend.h"
#include "frontend/hir/hir.h"

/* A file with a main block, and a model whose front end has loaded it. */
struct main_file {
	struct model_job *model;
	const char *path;
};

static bool contains_path(const struct main_file *list, uint32_t n, const char *path)
{
	for (uint32_t i = 0; i < n; i++)
		if (strcmp(list[i].path, path) == 0)
			return true;
	return false;
}

/* The files with main blocks, or only the file `only`. */
static uint32_t find_mains(struct loaded_project *project, const char *only, struct main_file **out)
{
	uint32_t n = 0, files = 0;
	for (uint32_t i = 0; i < project->project.n_models; i++)
		files += frontend_files(project->project.models[i].frontend);
	*out = ARENA_ARRAY(project->context.arena, struct main_file, files + 1);
	for (uint32_t i = 0; i < project->project.n_models; i++) {
		const struct frontend *f = project->project.models[i].frontend;
		for (uint32_t k = 0; k < frontend_files(f); k++) {
			const char *path = frontend_file_path(f, k);
			if (frontend_has_main(f, k) && (!only || strcmp(only, path) == 0) && !contains_path(*out, n, path))
				(*out)[n++] = (struct main_file){&project->project.models[i], path};
		}
	}
	return n;
}

static bool main_run_choose(struct loaded_project *project, const char *file, struct main_file *out)
{
	struct main_file *list;
	uint32_t n = find_mains(project, file, &list);
	*out = list[0];
	if (n == 1)
		return true;
	struct diag *g = NULL;
	if (n) {
		g = diag_add(project->context.diags, DIAG_NO_MAIN, SPAN_NONE, "%u files of the project have a main block", n);
		diag_help(project->context.diags, g, "name the one to run: `trib run --main %s`", list[0].path);
		for (uint32_t i = 1; i < n && i < 5; i++)
			diag_note(project->context.diags, g, "another is in `%s`", list[i].path);
	} else if (file) {
		g = diag_add(project->context.diags, DIAG_NO_MAIN, SPAN_NONE, "`%s` has no main block", file);
		diag_help(project->context.diags, g, "add one: `main { print(\"hello\") }`");
	} else {
		g = diag_add(project->context.diags, DIAG_NO_MAIN, SPAN_NONE, "no source of the project has a main block");
		diag_help(project->context.diags, g, "add one, or name a file: `trib run --main FILE.tri`");
	}
	return false;
}

static void report_error(struct diags *diags, const struct interp_error *error)
{
	struct diag *g = diag_add(diags, error->assertion ? DIAG_ASSERT_FAILED : DIAG_RUN_TIME, error->at, "%s", error->text);
	if (error->assertion)
		diag_label_primary(diags, g, "is false when it runs");
	for (uint32_t i = 0; i < error->n_path; i++)
		if (error->path[i].at.source != SPAN_NO_SOURCE)
			diag_secondary(diags, g, error->path[i].at, "in %s, called here", error->path[i].callee);
}

static void to_stdout(void *ctx, const char *text, size_t n)
{
	(void)ctx;
	print_data(stdout, text, n);
}

static enum status main_run_interpret(struct build_context *c, struct model_job *m)
{
	static const struct interp_sink sink = {to_stdout, NULL};
	const struct hir_entry *e = &m->program->entries[0];
	struct tensor *weights = ARENA_ARRAY(c->arena, struct tensor, e->unit->n_inputs + 1), none;
	struct interp_error error;
	const char *why = "";
	for (uint32_t i = 0; i < e->unit->n_inputs; i++)
		if (!params_load(&c->stores, m, c->arena, e->params[i], &weights[i], &why)) {
			const struct hir_param *p = &m->program->params[e->params[i]];
			diag_add(c->diags, DIAG_WEIGHTS_INIT, p->at, "the initial value of parameter `%s` cannot be computed: %s", p->name,
				 why);
			return STATUS_FAILED;
		}
	struct ir_fn *f = lower_unit(c->arena, e->unit, c->diags);
	if (!f)
		return STATUS_FAILED;
	if (interp_program(f, NULL, weights, NULL, &sink, c->arena, &none, &error))
		return STATUS_OK;
	if (os_interrupted()) {
		print(stderr, "trib: interrupted\n");
		return STATUS_INTERRUPTED;
	}
	report_error(c->diags, &error);
	return STATUS_FAILED;
}

static enum status main_run_block(struct loaded_project *project, const char *file)
{
	struct main_file f;
	if (!main_run_choose(project, file ? path_normal(project->context.arena, file) : NULL, &f))
		return STATUS_USAGE;
	struct elab_request request = {.main = f.path, .at = SPAN_NONE};
	f.model->program = frontend_elaborate(f.model->frontend, &request);
	if (!f.model->program || !params_bind_model(project->context.arena, &project->context.stores, project->context.diags, f.model))
		return STATUS_FAILED;
	return main_run_interpret(&project->context, f.model);
}

enum status main_run(const struct options *o)
{
	const char *file = o->n_operands && path_has_extension(o->operands[0], "tri") ? o->operands[0] : NULL;
	struct loaded_project l;
	enum status s = project_load(&l, o, file ? LOAD_FILES : LOAD_CHECKED);
	if (s == STATUS_OK)
		s = main_run_block(&l, file);
	return project_unload(&l, s);
}
