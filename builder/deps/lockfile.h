/* tri.lock: which commit each dependency of a project is. Written by trib, committed by people. */
#ifndef TRIB_BUILDER_DEPS_LOCKFILE_H
#define TRIB_BUILDER_DEPS_LOCKFILE_H
#include <stdbool.h>
#include <stdint.h>
#include "base/source.h"
#include "builder/git/git.h"

struct arena;
struct buf;
struct diags;

struct lockfile_entry {
	const char *name, *git;
	enum git_ref kind;
	const char *ref;    /* of `rev`, `tag` or `branch`; "" for GIT_REF_HEAD */
	const char *commit; /* 40 hex digits */
	span at;            /* of the name */
};
struct lockfile {
	struct lockfile_entry *entries; /* as in the file */
	uint32_t n;
};

/* Everything in `a`. NULL: errors were reported. */
struct lockfile *lockfile_read(struct arena *a, const struct source *s, struct diags *diags);
const struct lockfile_entry *lockfile_find(const struct lockfile *l, const char *name); /* NULL: none */
/* In the order given. */
void lockfile_print(const struct lockfile_entry *entries, uint32_t n, struct buf *out);
const char *git_ref_text(enum git_ref kind); /* "tag"; "" for GIT_REF_HEAD */
#endif
