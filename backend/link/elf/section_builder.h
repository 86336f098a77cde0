/* Builds one section of an object: bytes and addresses, one after the other. Every array is a section of its own, so that an address in
 * it is a relocation against the symbol of another array. */
#ifndef TRIB_BACKEND_LINK_ELF_SECTION_BUILDER_H
#define TRIB_BACKEND_LINK_ELF_SECTION_BUILDER_H
#include <stddef.h>
#include <stdint.h>
#include "backend/link/elf/object.h"
#include "base/buf.h"
#include "frontend/hir/dim.h"

struct map;

struct section_builder {
	struct object *o;
	struct buf bytes;
	uint32_t section, symbol;
};
/* Adds an empty section. `global`: the name of its global symbol; NULL: the symbol is local and has no name. */
struct section_builder section_begin(struct object *o, enum section_kind kind, const char *name, const char *global);
/* Finishes the section and returns its symbol. Aborts unless its size is a multiple of `element`, the size of the structure that was
 * written. */
uint32_t section_end(struct section_builder *b, size_t element);
void section_put_address(struct section_builder *b, uint32_t symbol, uint64_t offset);
void section_put_null(struct section_builder *b);
/* Appends the tri_dim_desc of x to b, and its steps to `steps`, unless `seen` has equal ones. `seen`: from steps to their offset; NULL:
 * always appends. */
void section_put_dim(struct section_builder *b, struct section_builder *steps, struct map *seen, const struct dims *d, dim x);
/* Appends s to `strings` and its address to b. NULL is "". */
void section_put_string(struct section_builder *b, struct section_builder *strings, const char *s);
#endif
