/* Loads and uses the code generator before the first build, which saves that build most of its time before compiling. This runs once, on a
 * thread of the lowest priority. The thread then ends, because it could not raise its priority again. */
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>
#include "base/buf.h"
#include "builder/build/session/generators.h"
#include "builder/build/load.h"
#include "builder/serve/server_state.h"
#include "scheduler/pool.h"

enum { LOWEST = 19 };

/* Opens a generator for each worker and each target of the models. */
static void open_generators(struct server *s, const struct project *p)
{
	struct buf ignored = {0};
	char *error = NULL;
	struct generators *g = session_generators(&s->session, &error);
	for (uint32_t i = 0; g && i < p->n_models; i++) {
		const struct model_job *m = &p->models[i];
		if (m->failed)
			continue;
		struct codegen_target target =
			codegen_target_for(m->platform.target, m->spec->plan.opt, m->spec->plan.size, m->spec->plan.profile_hook);
		for (uint32_t w = 0; w < pool_jobs(s->session.pool); w++) {
			struct codegen *c = generators_get(g, w, &target, &ignored);
			if (c)
				generators_api(g)->warm(c);
		}
	}
	buf_free(&ignored);
	free(error);
}

static void *warm(void *server)
{
	struct server *s = server;
	setpriority(PRIO_PROCESS, (id_t)gettid(), LOWEST);
	struct loaded_project l;
	enum status status = project_load(&l, s->options->prepare, LOAD_MANIFEST);
	if (status == STATUS_OK)
		open_generators(s, &l.project);
	project_unload(&l, status);
	session_warm_frontends(&s->session, s->options->prepare);
	s->warm = true;
	return NULL;
}

void warmup_start(struct server *s)
{
	if (session_start_pool(&s->session, s->options->prepare))
		s->warmup_runs = pthread_create(&s->warmup, NULL, warm, s) == 0;
	s->warm = !s->warmup_runs;
}

void warmup_join(struct server *s)
{
	if (s->warmup_runs)
		pthread_join(s->warmup, NULL);
	s->warmup_runs = false;
}
