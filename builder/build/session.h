/* What outlives a build: workers and code generators, warm for the next one. A command that builds once has one for itself. */
#ifndef TRIB_BUILDER_BUILD_SESSION_H
#define TRIB_BUILDER_BUILD_SESSION_H
#include <stdbool.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/hash.h"
#include "builder/build/build.h"

struct ahead;
struct fragments;
struct generators;
struct inputs;
struct jobserver;
struct platform;
struct pool;
struct pool_limits;
struct warm;

struct session {
	struct ahead *ahead;           /* NULL: the code generator is not being opened ahead */
	struct pool *pool;             /* NULL until the first build that needs one */
	double load;                   /* the pool's limit */
	struct jobserver *jobserver;   /* NULL: make runs none, and no command shares our jobs */
	bool commands;                 /* commands are started that may share them */
	struct generators *generators; /* NULL until something is compiled; for as many workers as the pool has */
	struct fragments *fragments;   /* optional: what was compiled is kept in memory, too; the session's */
	struct warm *warm;             /* optional: front ends are kept; the session's */
	hash128 compiler;              /* zero until the first build; the executable may be replaced while it runs */
	struct buf late_warnings;      /* of the stores, after a build was reported: the next build reports them */
	bool locked;                   /* whoever asks for builds holds the project's lock */
	/* Optional, asked once there is work, with the project locked: has another process done it? Then *s is what came of it. */
	bool (*elsewhere)(void *ctx, int lock, enum status *s);
	/* Optional, asked while a build runs, and when it has failed: is what it has read so far no longer so? Then the build ends, and nothing is told of it: another
	 * will take its place. */
	bool (*superseded)(void *ctx, const struct inputs *read, bool failed);
	void *ctx;
};

/* The pool, with that many workers and these limits. NULL: no thread can be started. */
struct pool *session_pool(struct session *s, uint32_t jobs, const struct pool_limits *limits);
/* Something will probably be compiled, for that target and level: opens the code generator meanwhile on a thread of its own, if the pool has several. What it
 * takes at its first use is then done. */
void session_expect_code(struct session *s, const struct platform *target, uint8_t opt, bool size);
/* For the pool's workers. NULL: *error (malloc'd) says why there is no code generator. */
struct generators *session_generators(struct session *s, char **error);
/* Between builds. */
void session_free(struct session *s);
#endif
