#include "builder/build/model.h"
#include <errno.h>
#include <string.h>
#include "base/arena.h"
#include "base/diag.h"
#include "builder/build/context.h"
#include "builder/build/session.h"
#include "builder/manifest/build_spec.h"
#include "builder/store/history.h"
#include "builder/weights/triw.h"
#include "frontend/frontend.h"
#include "frontend/hir/hir.h"
#include "frontend/index/index.h"

void model_init(struct model_job *m, struct build_context *c)
{
	*m = (struct model_job){.context = c, .diags = diags_new(0), .link.arena = arena_new(0)};
	pthread_mutex_init(&m->units.plan_lock, NULL);
}

/* Only the front end of a clean model stays warm: diagnostics would have to be reported again. */
static void free_frontend(struct model_job *m)
{
	const struct build_context *c = m->context;
	struct warm *w = c->session->warm;
	if (w && c->done && !c->interrupted && !m->failed && diags_count(c->diags) == 0 && m->frontend)
		warm_put(w, m->spec->name, m->files, m->frontend);
	else
		frontend_free(m->frontend);
}

void model_free(struct model_job *m)
{
	for (uint32_t k = 0; m->units.jobs && k < m->program->n_units; k++) {
		arena_free(m->units.jobs[k].arena);
		diags_free(m->units.jobs[k].diags);
	}
	map_free(&m->units.by_identity);
	history_free(m->units.history);
	pthread_mutex_destroy(&m->units.plan_lock);
	weights_close(m->params.file);
	triw_close(m->link.triw);
	free_frontend(m);
	index_free(m->index_of_names);
	arena_free(m->link.arena);
	diags_free(m->diags);
}

uint32_t model_list_outputs(const struct model_outputs *o, const char *paths[MOST_OUTPUTS])
{
	const char *const all[MOST_OUTPUTS] = {o->library, o->header, o->live, o->opencl, o->weights};
	uint32_t n = 0;
	for (uint32_t i = 0; i < MOST_OUTPUTS; i++)
		if (all[i])
			paths[n++] = all[i];
	return n;
}

struct unit_job *model_find_unit(struct model_job *m, hash128 identity)
{
	uint64_t i;
	return map_get(&m->units.by_identity, identity, &i) ? &m->units.jobs[i] : NULL;
}

bool model_link_failed(struct model_job *m, const char *error)
{
	diag_add(m->diags, DIAG_LINK, m->spec->at, "model `%s` cannot be linked: %s", m->spec->name, error ? error : "no reason given");
	return false;
}

void model_write_failed(struct model_job *m, const char *path)
{
	struct diag *g = diag_add(m->diags, DIAG_FILE_WRITE, SPAN_NONE, "cannot write `%s`: %s", path, strerror(errno));
	diag_note(m->diags, g, "the previous file, if any, is unchanged");
	m->context->environment = true;
}
