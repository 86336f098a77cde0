/* Makes the fragment of one unit, on a worker. */
#ifndef TRIB_BUILDER_BUILD_PLAN_COMPILE_H
#define TRIB_BUILDER_BUILD_PLAN_COMPILE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/hash.h"
#include "builder/store/history.h"

struct generators;
struct stores;
struct unit_job;

/* One fragment to link. Units of several models may share it. */
struct compile {
	hash128 key;
	struct unit_job *job; /* the first unit that needs it */
	const char *label;
	struct why why;     /* text NULL: it is not compiled */
	bool is_object;     /* it is an object; otherwise serialized loops */
	const void *object; /* NULL: to be made */
	size_t len;
	bool is_made, has_failed; /* in this build */
	struct buf uncached;      /* the object, if no cache holds it */
	struct buf error;
};

/* False: f->error says why. */
bool compile_unit(struct generators *generators, const struct stores *stores, struct compile *f, uint32_t worker);
#endif
