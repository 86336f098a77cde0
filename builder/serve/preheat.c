/* What a build in a process of its own spends most of its time on before it compiles anything: loading the code generator, first uses, memory that was
 * never touched. Done once, when nobody waits for it, at the lowest priority; then the thread ends, for a thread cannot raise its priority again. */
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>
#include "base/buf.h"
#include "builder/build/generators.h"
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
		for (uint32_t w = 0; !m->failed && w < pool_jobs(s->session.pool); w++) {
			struct codegen *c = generators_get(g, w, &m->platform, m->spec->plan.opt, m->spec->plan.size, &ignored);
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
	enum status status = project_load(&l, s->o->prepare, LOAD_MANIFEST);
	if (status == STATUS_OK)
		open_generators(s, &l.project);
	project_unload(&l, status);
	session_warm_frontends(&s->session, s->o->prepare);
	s->warm = true;
	return NULL;
}

void preheat_begin(struct server *s)
{
	if (session_start_pool(&s->session, s->o->prepare))
		s->warming = pthread_create(&s->warmer, NULL, warm, s) == 0;
	s->warm = !s->warming;
}

void preheat_end(struct server *s)
{
	if (s->warming)
		pthread_join(s->warmer, NULL);
	s->warming = false;
}
