/* A section under construction, in an object that is made in memory: bytes and addresses one after the other. Every array is a section of its own, so that
 * addresses in it are plain relocations against the other arrays' symbols. */
#ifndef TRIB_BACKEND_LINK_BLOCK_H
#define TRIB_BACKEND_LINK_BLOCK_H
#include <stddef.h>
#include <stdint.h>
#include "backend/link/object.h"
#include "base/buf.h"

struct block {
	struct object *o;
	struct buf bytes;
	uint32_t section, symbol;
};
/* `global`: the name of its symbol; NULL: it has none. */
struct block block_new(struct object *o, enum section_kind kind, const char *name, const char *global);
/* Gives the section its bytes, in the object's arena, and returns its symbol. The structs in it, of `element` bytes, must come out as large as the compiler makes
 * them. */
uint32_t block_end(struct block *b, size_t element);
void block_address(struct block *b, uint32_t symbol, uint64_t offset);
void block_null(struct block *b);
/* The address of a copy of s among `strings`; NULL is "". */
void block_string(struct block *b, struct block *strings, const char *s);
#endif
