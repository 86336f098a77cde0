#include "builder/build/session.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include "base/arena.h"
#include "builder/build/fragments.h"
#include "builder/build/generators.h"
#include "builder/build/warm.h"
#include "builder/manifest/platform.h"
#include "scheduler/jobserver.h"
#include "scheduler/pool.h"

/* The code generator's module being opened, and used once, on a thread of its own. */
struct ahead {
	pthread_t thread;
	struct arena *memory; /* of the target: the build that asked for it may end first */
	struct platform target;
	uint8_t opt;
	bool size;
	uint32_t workers;
	struct generators *generators; /* what it makes; NULL: it cannot be opened */
	_Atomic bool in_vain;          /* nothing will be compiled: no more than has begun */
};

static void *open_ahead(void *arg)
{
	struct ahead *a = arg;
	char *error = NULL;
	a->generators = a->in_vain ? NULL : generators_new(a->workers, &error);
	if (a->generators && !a->in_vain)
		generators_prepare(a->generators, &a->target, a->opt, a->size);
	if (a->generators && !a->in_vain)
		generators_warm(a->generators);
	free(error); /* who compiles something will be told */
	return NULL;
}

static void free_ahead(struct ahead *a)
{
	arena_free(a->memory);
	free(a);
}

void session_expect_code(struct session *s, const struct platform *target, uint8_t opt, bool size)
{
	if (s->generators || s->ahead || pool_jobs(s->pool) < 2)
		return;
	struct ahead *a = calloc(1, sizeof *a);
	if (!a)
		return;
	a->memory = arena_new(1024);
	a->target = platform_copy(a->memory, target);
	a->opt = opt;
	a->size = size;
	a->workers = pool_jobs(s->pool);
	if (pthread_create(&a->thread, NULL, open_ahead, a) == 0)
		s->ahead = a;
	else
		free_ahead(a);
}

static void join_ahead(struct session *s)
{
	if (!s->ahead)
		return;
	pthread_join(s->ahead->thread, NULL);
	s->generators = s->ahead->generators;
	free_ahead(s->ahead);
	s->ahead = NULL;
}

static void stop_workers(struct session *s)
{
	if (s->ahead)
		s->ahead->in_vain = true;
	join_ahead(s);
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
	join_ahead(s);
	if (!s->generators)
		s->generators = generators_new(pool_jobs(s->pool), error);
	return s->generators;
}
