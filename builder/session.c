#include "builder/session.h"
#include <pthread.h>
#include <stdlib.h>
#include "builder/generators.h"
#include "scheduler/jobserver.h"
#include "builder/platform.h"
#include "scheduler/pool.h"

/* Generators in the making. */
struct ahead {
	pthread_t thread;
	uint32_t workers;
	struct platform target;
	uint8_t opt;
	bool size;
	struct generators *made;
	char *error;
};

static void *open_ahead(void *arg)
{
	struct ahead *a = arg;
	struct buf ignored = {0};
	a->made = generators_new(a->workers, &a->error);
	struct codegen *c = a->made ? generators_get(a->made, 0, &a->target, a->opt, a->size, &ignored) : NULL;
	if (c)
		generators_api(a->made)->warm(c);
	buf_free(&ignored);
	return NULL;
}

void session_expect_code(struct session *s, uint32_t jobs, const struct platform *target, uint8_t opt, bool size)
{
	if (s->generators || s->ahead || jobs < 2)
		return;
	struct ahead *a = calloc(1, sizeof *a);
	if (!a)
		return;
	*a = (struct ahead){.workers = jobs, .target = *target, .opt = opt, .size = size};
	if (pthread_create(&a->thread, NULL, open_ahead, a) == 0)
		s->ahead = a;
	else
		free(a);
}

/* The generators that were opened ahead, if they are for as many workers. */
static void take_ahead(struct session *s, uint32_t workers, char **error)
{
	struct ahead *a = s->ahead;
	if (!a)
		return;
	pthread_join(a->thread, NULL);
	s->ahead = NULL;
	if (a->workers == workers) {
		s->generators = a->made;
		*error = a->error;
	} else {
		generators_free(a->made);
		free(a->error);
	}
	free(a);
}

static void stop_workers(struct session *s)
{
	char *error;
	take_ahead(s, 0, &error);
	generators_free(s->generators);
	pool_free(s->pool);
	s->generators = NULL;
	s->pool = NULL;
}

void session_free(struct session *s)
{
	stop_workers(s);
	jobserver_close(s->jobserver);
	buf_free(&s->late);
}

struct pool *session_pool(struct session *s, uint32_t jobs, const struct pool_limits *limits)
{
	if (s->pool && pool_jobs(s->pool) != jobs)
		stop_workers(s);
	if (!s->pool)
		s->pool = pool_new(jobs, limits);
	return s->pool;
}

struct generators *session_generators(struct session *s, char **error)
{
	*error = NULL;
	take_ahead(s, pool_jobs(s->pool), error);
	if (!s->generators && !*error)
		s->generators = generators_new(pool_jobs(s->pool), error);
	return s->generators;
}
