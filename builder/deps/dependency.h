/* The git repositories that a project imports sources from: `dependency` blocks, tri.lock, and the links in .trib/deps. The links give
 * the files the same paths on every machine. */
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
	DEPENDENCY_BUILD,     /* fetches and links what is missing, and updates the lock file */
	DEPENDENCY_LOCKED,    /* the same, but an out-of-date lock file is an error */
	DEPENDENCY_UPDATE,    /* resolves references again */
	DEPENDENCY_AT_COMMIT, /* for the manifest of another commit: follows that commit's lock file; links nothing */
	DEPENDENCY_LINKED     /* uses the existing links; writes and fetches nothing */
};
struct dependency {
	/* from its block */
	const char *name;
	struct git_source source;
	const char *path; /* the folder in the repository, "" for its top */
	const char *base; /* the repository whose manifest has the block, "" for the project */
	span at;          /* the block's name */
	/* resolved */
	const char *commit, *old_commit;   /* 40 digits; commit: "" if linked; old_commit: of the lock file as it was read, or NULL */
	const struct manifest *manifest;   /* its own, or NULL */
	const char *root, *folder, *files; /* .trib/deps/NAME; with the path; the checked-out files, NULL if linked */
};
struct dependency_options {
	struct arena *arena;
	struct sources *sources;
	struct frontend_host host; /* loads the project's files, and below DEPENDENCY_FOLDER those of dependencies */
	const struct manifest *manifest;
	enum dependency_mode mode;
	const char *top;          /* DEPENDENCY_LINKED: the project's folder */
	const char *const *names; /* DEPENDENCY_UPDATE: the dependencies to update; none: all */
	uint32_t n_names;
	struct checkouts *checkouts; /* not used if linked */
	struct diags *diags;
	void (*found)(void *ctx, const struct dependency *d); /* DEPENDENCY_AT_COMMIT: called before a file of it is loaded */
	void *ctx;
};
struct dependencies {
	const struct frontend_dependency *visible; /* for the front end */
	uint32_t n_visible;
	const struct dependency *at;
	uint32_t n;
};

/* Resolves all dependencies of the manifest. False: errors were reported. Without dependencies nothing is read or written. */
bool dependencies_resolve(const struct dependency_options *o, struct dependencies *out);
#endif
