/* What outlives a build: workers, code generators, fragments and front ends for the next one. A command that builds once has its own. */
#ifndef TRIB_BUILDER_BUILD_SESSION_H
#define TRIB_BUILDER_BUILD_SESSION_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/hash.h"
#include "base/source.h"
#include "builder/build/build.h"

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

/* ---- fragments.c: What the last build linked, objects parsed, in memory for the next build of the process. ---- */
struct fragments *fragments_new(void);
void fragments_free(struct fragments *f); /* NULL is accepted */
/* The fragment, valid until fragments_drop_unused. NULL: none. `f` may be NULL. */
const void *fragments_find(const struct fragments *f, hash128 key, size_t *len);
/* The same, parsed. Read only. */
struct object *fragments_object(const struct fragments *f, hash128 key);
/* Marks the fragment as used, and stores a copy if there is room. `name`: for the linker's messages. */
void fragments_use(struct fragments *f, hash128 key, const char *name, const void *bytes, size_t len, bool is_object);
/* Drops fragments that were not used since the last call. */
void fragments_drop_unused(struct fragments *f);

/* ---- warm.c: Front ends with their sources, which a build leaves to the next one: frontend_refresh makes them current. ---- */
struct warm *warm_new(void);
void warm_free(struct warm *w); /* NULL is accepted */
/* Before a build: the sources of all builds. The build adds its own. All is dropped here once it has grown too large. */
struct sources *warm_begin(struct warm *w);
/* Like sources_add_owned, but the same text at the same path is the same source as before. */
const struct source *warm_source(struct warm *w, const char *path, char *text, size_t len);
/* The front end of the model, now the caller's, with the digest of the list of its files. NULL: none. */
struct frontend *warm_take(struct warm *w, const char *model, hash128 *files);
/* Takes over the front end of a build without diagnostics. */
void warm_put(struct warm *w, const char *model, hash128 files, struct frontend *f);
#endif
