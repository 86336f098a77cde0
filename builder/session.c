#include "builder/session.h"
#include <stddef.h>
#include "builder/generators.h"
#include "scheduler/jobserver.h"
#include "scheduler/pool.h"

static void stop_workers(struct session *s)
{
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
	if (!s->generators)
		s->generators = generators_new(pool_jobs(s->pool), error);
	return s->generators;
}
