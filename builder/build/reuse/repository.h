/* The git repository around a project: the commit that libraries name. */
#ifndef TRIB_BUILDER_BUILD_REUSE_REPOSITORY_H
#define TRIB_BUILDER_BUILD_REUSE_REPOSITORY_H
#include <stdbool.h>
#include "base/hash.h"

struct arena;
struct inputs;

struct repository {
	bool found;
	hash128 head; /* digest of the files that name the commit */
	bool is_described;
	char commit[41]; /* "": unknown */
	bool dirty;      /* an input differs from the commit */
};

/* Step: finds the repository, and records the files that name the commit as inputs. */
void repository_find(struct repository *r, struct arena *a, struct inputs *in);
/* Asks the git module for commit and dirty. On a worker. */
void repository_describe(struct repository *r, const struct inputs *in);
#endif
