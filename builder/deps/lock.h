/* tri.lock: which commit each dependency of a project is. Written by trib, committed by people. */
#ifndef TRIB_BUILDER_DEPS_LOCK_H
#define TRIB_BUILDER_DEPS_LOCK_H
#include <stdbool.h>
#include <stdint.h>
#include "base/source.h"
#include "builder/git/git.h"

struct arena;
struct buf;
struct diags;

struct lock_entry {
	const char *name, *git;
	enum git_ref kind;
	const char *ref;    /* of `rev`, `tag` or `branch`; "" for GIT_REF_HEAD */
	const char *commit; /* 40 hex digits */
	span at;            /* of the name */
};
struct lock {
	struct lock_entry *entries; /* as in the file */
	uint32_t n;
};

/* Everything in `a`. NULL: errors were reported. */
struct lock *lock_read(struct arena *a, const struct source *s, struct diags *diags);
const struct lock_entry *lock_find(const struct lock *l, const char *name); /* NULL: none */
/* In the order given. */
void lock_print(const struct lock_entry *entries, uint32_t n, struct buf *out);
const char *git_ref_text(enum git_ref kind); /* "tag"; "" for GIT_REF_HEAD */
#endif
