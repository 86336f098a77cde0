#include "backend/link/section_builder.h"
#include <string.h>
#include "base/arena.h"
#include "base/bug.h"

struct section_builder section_begin(struct object *o, enum section_kind kind, const char *name, const char *global)
{
	struct section_builder b = {.o = o};
	b.section = object_section(o, kind, name, NULL, 0, 64);
	b.symbol = object_symbol(o, global ? global : "", b.section, 0, 0, global != NULL, false);
	return b;
}

uint32_t section_end(struct section_builder *b, size_t element)
{
	struct object *o = b->o;
	BUG_ON(b->bytes.len % element);
	o->sections[b->section].bytes = arena_strndup(o->arena, b->bytes.at ? b->bytes.at : "", b->bytes.len);
	o->sections[b->section].size = b->bytes.len;
	o->symbols[b->symbol].size = b->bytes.len;
	buf_free(&b->bytes);
	return b->symbol;
}

void section_put_address(struct section_builder *b, uint32_t symbol, uint64_t offset)
{
	object_reloc(b->o, b->section, b->bytes.len, symbol, RELOC_ABS64, (int64_t)offset);
	buf_u64(&b->bytes, 0);
}

void section_put_null(struct section_builder *b) { buf_u64(&b->bytes, 0); }

void section_put_string(struct section_builder *b, struct section_builder *strings, const char *s)
{
	s = s ? s : "";
	section_put_address(b, strings->symbol, strings->bytes.len);
	buf_put(&strings->bytes, s, strlen(s) + 1);
}
