#include "builder/build/load.h"
#include <stdio.h>
#include "base/diag.h"
#include "builder/build/model/model.h"
#include "builder/build/model/project.h"
#include "builder/build/session/context.h"
#include "builder/build/session/session.h"
#include "builder/build/session/status.h"
#include "builder/build/session/stores.h"
#include "builder/build/session/workers.h"
#include "builder/build/sources/params.h"
#include "builder/build/sources/sources.h"
#include "builder/build/timing/progress.h"
#include "builder/manifest/options.h"
#include "frontend/frontend.h"
#include "frontend/index/index.h"

static bool start_indexes(struct build_context *c, struct project *p)
{
	stores_open_existing(c);
	for (uint32_t i = 0; i < p->n_models; i++) {
		p->models[i].index_of_names = index_new();
		frontend_set_index(p->models[i].frontend, p->models[i].index_of_names);
	}
	return true;
}

static bool finish_indexes(struct project *p)
{
	for (uint32_t i = 0; i < p->n_models; i++) {
		frontend_set_index(p->models[i].frontend, NULL);
		index_finish(p->models[i].index_of_names);
	}
	return true;
}

static bool load_checked(struct build_context *c, struct project *p)
{
	return context_next(c, sources_load(c, p)) && context_next(c, sources_check(c, p));
}

static bool load_elaborated(struct build_context *c, struct project *p)
{
	return load_checked(c, p) && context_next(c, params_open_files(c, p)) && context_next(c, sources_elaborate(c, p));
}

static bool load_run_steps(struct build_context *c, struct project *p, enum load_depth depth)
{
	if (depth == LOAD_DEPENDENCIES)
		return project_update_dependencies(c, &p->dependencies);
	if (depth == LOAD_FILES)
		return context_next(c, sources_load_files(c, p)) && sources_check(c, p);
	if (!context_next(c, project_read_manifest(c, p)))
		return false;
	switch (depth) {
	case LOAD_CHECKED: return load_checked(c, p);
	case LOAD_ELABORATED: return load_elaborated(c, p);
	case LOAD_PARAMS:
		return load_checked(c, p) && context_next(c, params_open_files_if_there(c, p)) && context_next(c, sources_elaborate(c, p));
	case LOAD_INDEXED: return context_next(c, start_indexes(c, p)) && load_elaborated(c, p) && finish_indexes(p);
	case LOAD_BOUND: return load_elaborated(c, p) && params_bind(c, p);
	default: return true;
	}
}

static struct build_request request_to_load(const struct options *o)
{
	return (struct build_request){.options = o, .out = stdout, .err = stderr};
}

enum status project_load(struct loaded_project *l, const struct options *o, enum load_depth depth)
{
	l->session = (struct session){0};
	l->project = (struct project){0};
	l->context = context_new(&l->session, request_to_load(o));
	l->context.outcome.done = load_run_steps(&l->context, &l->project, depth);
	return context_status(&l->context);
}

enum status project_unload(struct loaded_project *l, enum status s)
{
	struct build_context *c = &l->context;
	fflush(stdout);
	diags_sort(c->diags);
	if (diags_count(c->diags))
		diags_print(c->diags, c->sources, stderr, terminal_has_color(2, c->request.options->color));
	stores_close_project(&c->stores);
	project_free(c, &l->project);
	context_free(c);
	session_free(&l->session);
	return s;
}

/* Runs the steps of a build up to the workers, or those of the front end. */
static bool prepare_session(struct session *s, const struct options *o, bool frontends)
{
	struct build_context c = context_new(s, request_to_load(o));
	struct project p = {0};
	struct progress *progress = NULL;
	c.outcome.done = context_next(&c, project_read_manifest(&c, &p)) &&
			 (frontends ? load_elaborated(&c, &p) : workers_start(&c, &p.spec, &progress));
	enum status status = context_status(&c);
	progress_free(progress);
	project_free(&c, &p);
	context_free(&c);
	return status == STATUS_OK;
}

bool session_start_pool(struct session *s, const struct options *o) { return prepare_session(s, o, false); }
bool session_warm_frontends(struct session *s, const struct options *o) { return prepare_session(s, o, true); }
