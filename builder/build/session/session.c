#include "builder/build/session/session.h"
#include <pthread.h>
#include <stdlib.h>
#include "base/arena.h"
#include "builder/build/session/fragments.h"
#include "builder/build/session/generators.h"
#include "builder/build/session/param_code.h"
#include "builder/build/session/warm.h"
#include "scheduler/jobserver.h"
#include "scheduler/pool.h"

/* A thread that loads the code generator and uses it once. */
struct preload {
	pthread_t thread;
	struct arena *memory; /* of the target: the build that asked for it may end before */
	struct codegen_target target;
	uint32_t workers;
	struct generators *generators; /* the result; NULL: the module cannot be opened */
	_Atomic bool cancelled;        /* nothing will be compiled */
};

static void *preload_main(void *arg)
{
	struct preload *a = arg;
	char *error = NULL;
	a->generators = a->cancelled ? NULL : generators_new(a->workers, &error);
	if (a->generators && !a->cancelled)
		generators_prepare(a->generators, &a->target);
	if (a->generators && !a->cancelled)
		generators_warm(a->generators);
	free(error); /* session_generators reports it */
	return NULL;
}

static void free_preload(struct preload *a)
{
	arena_free(a->memory);
	free(a);
}

void session_expect_code(struct session *s, const struct codegen_target *target)
{
	if (s->generators || s->preload || pool_jobs(s->pool) < 2)
		return;
	struct preload *a = calloc(1, sizeof *a);
	if (!a)
		return;
	a->memory = arena_new(1024);
	a->target = *target;
	a->target.cpu = arena_strdup(a->memory, target->cpu);
	a->target.features = arena_strdup(a->memory, target->features);
	a->workers = pool_jobs(s->pool);
	if (pthread_create(&a->thread, NULL, preload_main, a) == 0)
		s->preload = a;
	else
		free_preload(a);
}

static void join_preload(struct session *s)
{
	if (!s->preload)
		return;
	pthread_join(s->preload->thread, NULL);
	s->generators = s->preload->generators;
	free_preload(s->preload);
	s->preload = NULL;
}

static void stop_workers(struct session *s)
{
	if (s->preload)
		s->preload->cancelled = true;
	join_preload(s);
	generators_free(s->generators);
	pool_free(s->pool);
	s->generators = NULL;
	s->pool = NULL;
}

void session_free(struct session *s)
{
	stop_workers(s);
	jobserver_close(s->jobserver);
	fragments_free(s->fragments);
	warm_free(s->warm);
	param_codes_free(s->param_codes);
	buf_free(&s->late_warnings);
}

struct pool *session_pool(struct session *s, uint32_t jobs, const struct pool_limits *limits)
{
	if (s->pool && (pool_jobs(s->pool) != jobs || s->load != limits->load))
		stop_workers(s);
	s->load = limits->load;
	if (s->pool)
		pool_set_memory(s->pool, limits->memory);
	else
		s->pool = pool_new(jobs, limits);
	return s->pool;
}

struct generators *session_generators(struct session *s, char **error)
{
	join_preload(s);
	if (!s->generators)
		s->generators = generators_new(pool_jobs(s->pool), error);
	return s->generators;
}
