/* What outlives a build: workers, code generators, fragments and front ends for the next one. A command that builds once has its own. */
#ifndef TRIB_BUILDER_BUILD_SESSION_SESSION_H
#define TRIB_BUILDER_BUILD_SESSION_SESSION_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/hash.h"
#include "base/source.h"
#include "builder/build/session/status.h"

struct fragments;
struct frontend;
struct generators;
struct inputs;
struct jobserver;
struct object;
struct param_codes;
struct codegen_target;
struct pool;
struct pool_limits;
struct preload;
struct warm;

struct session {
	struct preload *preload;         /* NULL: the code generator is not being loaded */
	struct pool *pool;               /* NULL until the first build that needs one */
	double load;                     /* the pool's limit */
	struct jobserver *jobserver;     /* NULL: no make above us, and no command below us shares jobs */
	bool runs_commands;              /* the session starts commands, which share our jobs */
	struct generators *generators;   /* of the pool's workers; NULL until something is compiled */
	struct fragments *fragments;     /* owned; NULL: objects do not stay in memory */
	struct param_codes *param_codes; /* NULL until something is packed */
	struct warm *warm;               /* owned; NULL: front ends end with their build */
	hash128 compiler;                /* of the first build, zero before: the executable may be replaced while it runs */
	int64_t earlier_cpu_ns;          /* processor time of the process before this build that is no part of it */
	struct buf late_warnings;        /* of the stores, after a build was reported: the next build reports them */
	bool locked;                     /* the client of the session holds the project's lock */
	/* NULL, or called with the project locked, when there is work. True: another process has built, with status *s. */
	bool (*elsewhere)(void *ctx, int lock, enum status *s);
	/* NULL, or called while a build runs, and when it has failed. True: an input read so far has changed, so the build ends, and
	 * another will follow. */
	bool (*superseded)(void *ctx, const struct inputs *read, bool failed);
	void *ctx;
};

/* The pool with this many workers and these limits. NULL: no thread can be started. */
struct pool *session_pool(struct session *s, uint32_t jobs, const struct pool_limits *limits);
/* Something will probably be compiled for this target and level: loads the code generator and uses it once, on a thread, if the pool has
 * several workers. */
void session_expect_code(struct session *s, const struct codegen_target *target);
/* The code generators of the pool's workers. NULL: *error (malloc'd) says why there are none. */
struct generators *session_generators(struct session *s, char **error);
/* Not while a build runs. */
void session_free(struct session *s);
#endif
