#include "backend/link/block.h"
#include <string.h>
#include "base/arena.h"
#include "base/bug.h"

struct block block_new(struct object *o, enum section_kind kind, const char *name, const char *global)
{
	struct block b = {.o = o};
	b.section = object_section(o, kind, name, NULL, 0, 64);
	b.symbol = object_symbol(o, global ? global : "", b.section, 0, 0, global != NULL, false);
	return b;
}

uint32_t block_end(struct block *b, size_t element)
{
	struct object *o = b->o;
	BUG_ON(b->bytes.len % element);
	o->sections[b->section].bytes = arena_strndup(o->arena, b->bytes.at ? b->bytes.at : "", b->bytes.len);
	o->sections[b->section].size = b->bytes.len;
	o->symbols[b->symbol].size = b->bytes.len;
	buf_free(&b->bytes);
	return b->symbol;
}

void block_address(struct block *b, uint32_t symbol, uint64_t offset)
{
	object_reloc(b->o, b->section, b->bytes.len, symbol, RELOC_ABS64, (int64_t)offset);
	buf_u64(&b->bytes, 0);
}

void block_null(struct block *b) { buf_u64(&b->bytes, 0); }

void block_string(struct block *b, struct block *strings, const char *s)
{
	s = s ? s : "";
	block_address(b, strings->symbol, strings->bytes.len);
	buf_put(&strings->bytes, s, strlen(s) + 1);
}
