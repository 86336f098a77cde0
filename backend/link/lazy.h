/* What stands in a lazy library where the units' fragments would be: for each unit a stub that jumps through a slot, and what its first call needs
 * (runtime/lazy.h). */
#ifndef TRIB_BACKEND_LINK_LAZY_H
#define TRIB_BACKEND_LINK_LAZY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/hash.h"

struct arena;
struct object;

struct lazy_unit {
	const char *name, *symbol;
	const void *loops; /* loops_write's; must outlive the object */
	size_t n_loops;
	hash128 key; /* of the fragment */
	uint8_t opt;
	bool size;
};
struct lazy_info {
	const char *libtrib; /* where it is now */
	const char *cpu, *features;
	uint32_t vector_bytes;
	hash128 build, generator; /* of trib, and of its code generator's file: no other may compile the units */
};
/* Link it beside the model's object in place of the fragments. NULL: *error, in `a`. */
struct object *lazy_object(struct arena *a, const struct lazy_unit *units, uint32_t n, const struct lazy_info *info, const char **error);
#endif
