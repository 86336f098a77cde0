/* What a build in a process of its own spends most of its time on before it compiles anything: loading the code generator, first uses, memory that was
 * never touched. Done once, when nobody waits for it, at the lowest priority; then the thread ends, for a thread cannot raise its priority again. */
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>
#include "base/buf.h"
#include "builder/build/generators.h"
#include "builder/build/state.h"
#include "builder/serve/server_state.h"
#include "scheduler/pool.h"

enum { LOWEST = 19 };

/* For each worker, as the models of the project are compiled. */
static enum status open_generators(struct build *b, void *server)
{
	struct server *s = server;
	struct buf ignored = {0};
	char *error = NULL;
	struct generators *g = session_generators(&s->lasting, &error);
	for (uint32_t i = 0; g && i < b->n_models; i++) {
		const struct model_job *m = &b->models[i];
		for (uint32_t w = 0; !m->failed && w < pool_jobs(s->lasting.pool); w++) {
			struct codegen *c = generators_get(g, w, &m->platform, m->spec->plan.opt, m->spec->plan.size, &ignored);
			if (c)
				generators_api(g)->warm(c);
		}
	}
	buf_free(&ignored);
	free(error);
	return STATUS_OK;
}

static void *warm(void *server)
{
	struct server *s = server;
	setpriority(PRIO_PROCESS, (id_t)gettid(), LOWEST);
	build_visit_manifest(s->o->prepare, open_generators, s);
	build_start_frontends(&s->lasting, s->o->prepare);
	s->warm = true;
	return NULL;
}

void preheat_begin(struct server *s)
{
	if (build_start_pool(&s->lasting, s->o->prepare))
		s->warming = pthread_create(&s->warmer, NULL, warm, s) == 0;
	s->warm = !s->warming;
}

void preheat_end(struct server *s)
{
	if (s->warming)
		pthread_join(s->warmer, NULL);
	s->warming = false;
}
