/* The object of a lazy library that replaces the fragments: for each unit a stub that jumps through a slot, and the data for its first call
 * (runtime/abi/lazy.h). See LAZY.md. */
#ifndef TRIB_BACKEND_LINK_LAZY_LAZY_H
#define TRIB_BACKEND_LINK_LAZY_LAZY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/hash.h"

struct arena;
struct object;

struct lazy_unit {
	const char *name, *symbol;
	const void *loops; /* written by loops_serialize; must outlive the object */
	size_t n_loops;
	hash128 key; /* of the fragment */
	uint8_t opt;
	bool size, profile_hook;
};
struct lazy_info {
	const char *libtrib; /* the path of libtrib.so */
	const char *cpu, *features;
	uint32_t vector_bytes;
	hash128 build, generator; /* digests of trib and of its code generator's file: no other may compile the units */
};
/* Returns the object, or NULL with a message in *error, in `a`. */
struct object *lazy_object(struct arena *a, const struct lazy_unit *units, uint32_t n, const struct lazy_info *info, const char **error);
#endif
