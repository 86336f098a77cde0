/* tri.lock: the commit of each dependency of a project. Written by trib, committed by users. */
#ifndef TRIB_BUILDER_DEPS_LOCKFILE_H
#define TRIB_BUILDER_DEPS_LOCKFILE_H
#include <stdbool.h>
#include <stdint.h>
#include "base/source.h"
#include "builder/git/git.h"

struct arena;
struct buf;
struct diags;

/* What a `dependency` block asks for: a repository and one of its references. */
struct git_source {
	const char *git;
	enum git_ref kind;
	const char *ref; /* of `rev`, `tag` or `branch`; "" for GIT_REF_HEAD */
};
bool git_source_equal(const struct git_source *a, const struct git_source *b);

struct lockfile_entry {
	const char *name;
	struct git_source source;
	const char *commit; /* 40 hex digits */
	span at;            /* of the name */
};
struct lockfile {
	struct lockfile_entry *entries; /* in the file's order */
	uint32_t n;
};

/* Everything in `a`. NULL: errors were reported. */
struct lockfile *lockfile_read(struct arena *a, const struct source *s, struct diags *diags);
const struct lockfile_entry *lockfile_find(const struct lockfile *l, const char *name); /* `l` may be NULL; NULL: none */
/* Appends the text of a lock file with these entries. */
void lockfile_print(const struct lockfile_entry *entries, uint32_t n, struct buf *out);
const char *git_ref_text(enum git_ref kind); /* "tag"; "" for GIT_REF_HEAD */
#endif
