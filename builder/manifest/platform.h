/* The platform and CPU that code is generated for. */
#ifndef TRIB_BUILDER_MANIFEST_PLATFORM_H
#define TRIB_BUILDER_MANIFEST_PLATFORM_H
#include <stdbool.h>
#include <stdint.h>
#include "base/hash.h"

struct arena;
struct target;
struct platform {
	const char *text; /* "x86_64-linux x86-64-v3", for people and the descriptor */
	const char *name; /* the cpu as written: "native", "x86-64-v3", … */
	const struct target *target;
	hash128 id; /* target_hash */
};

/* False: *error is the reason, *near the nearest known name or NULL. */
bool platform_resolve(struct arena *a, const char *target, const char *cpu, struct platform *out, const char **error, const char **near);
#endif
