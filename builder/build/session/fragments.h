/* What the last build linked, objects parsed, in memory for the next build of the process. */
#ifndef TRIB_BUILDER_BUILD_SESSION_FRAGMENTS_H
#define TRIB_BUILDER_BUILD_SESSION_FRAGMENTS_H
#include <stdbool.h>
#include <stddef.h>
#include "base/hash.h"

struct fragments;
struct object;

struct fragments *fragments_new(void);
void fragments_free(struct fragments *f); /* NULL is accepted */
/* The fragment, valid until fragments_drop_unused. NULL: none. `f` may be NULL. */
const void *fragments_find(const struct fragments *f, hash128 key, size_t *len);
/* The same, parsed. Read only. */
struct object *fragments_object(const struct fragments *f, hash128 key);
/* Marks the fragment as used, and stores a copy if there is room. `name`: for the linker's messages. */
void fragments_use(struct fragments *f, hash128 key, const char *name, const void *bytes, size_t len, bool is_object);
/* Drops fragments that were not used since the last call. */
void fragments_drop_unused(struct fragments *f);
#endif
