/* The repositories that a project's sources come from besides its own: `dependency` blocks, tri.lock, and the links below .trib/deps through which a build
 * sees their files, by the same paths on every machine. */
#ifndef TRIB_BUILDER_DEPS_DEPENDENCY_H
#define TRIB_BUILDER_DEPS_DEPENDENCY_H
#include <stdbool.h>
#include <stdint.h>
#include "base/source.h"
#include "builder/deps/lockfile.h"
#include "builder/manifest/manifest.h"
#include "frontend/frontend.h"

struct arena;
struct checkouts;
struct diags;

#define DEPENDENCY_FOLDER ".trib/deps"
#define LOCK_FILE "tri.lock"

enum dependency_mode {
	DEPENDENCY_BUILD,     /* fetched and linked where they are not yet; the lock file is kept up to date */
	DEPENDENCY_LOCKED,    /* the same, but a lock file that is not up to date is an error */
	DEPENDENCY_UPDATE,    /* the commits are asked for anew */
	DEPENDENCY_AT_COMMIT, /* of another commit of the project: only as its lock file says, and not linked */
	DEPENDENCY_LINKED     /* whatever is linked now; nothing is written or fetched */
};
struct dependency {
	const char *name, *git;
	enum git_ref kind;
	const char *ref;                   /* "" for GIT_REF_HEAD */
	const char *path;                  /* the folder in the repository, "" for its top */
	const char *base;                  /* the repository that names it, "" for the project */
	span at;                           /* the block's name */
	const char *commit, *old_commit;   /* 40 digits; "" if linked. old_commit: of the lock file as it was read, NULL: not there */
	const struct manifest *manifest;   /* its own; NULL: it has none */
	const char *root, *folder, *files; /* .trib/deps/NAME; with the path; where the files really are, NULL if linked */
};
struct dependency_options {
	struct arena *arena;
	struct sources *sources;
	struct frontend_host host; /* of the project's files and, below DEPENDENCY_FOLDER, of those of dependencies */
	const struct manifest *manifest;
	enum dependency_mode mode;
	const char *top;          /* DEPENDENCY_LINKED: the project's folder */
	const char *const *names; /* DEPENDENCY_UPDATE: which, all if there are none */
	uint32_t n_names;
	struct checkouts *checkouts; /* not used if linked */
	struct diags *diags;
	void (*found)(void *ctx, const struct dependency *d); /* DEPENDENCY_AT_COMMIT: before a file of it is asked for */
	void *ctx;
};
struct dependencies {
	const struct frontend_dependency *visible; /* for the front end */
	uint32_t n_visible;
	const struct dependency *at;
	uint32_t n;
};

/* False: errors were reported. Where the manifest has no dependencies, nothing is read or written. */
bool dependencies_resolve(const struct dependency_options *r, struct dependencies *out);
#endif
