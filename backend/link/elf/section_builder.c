#include "backend/link/elf/section_builder.h"
#include <string.h>
#include "backend/runtime/abi/tri.h"
#include "base/arena.h"
#include "base/bug.h"
#include "base/map.h"

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

_Static_assert((int)TRI_DIM_CONST == (int)DIM_PUSH_CONST && (int)TRI_DIM_SYM == (int)DIM_PUSH_SYM && (int)TRI_DIM_ADD == (int)DIM_OP_ADD &&
		       (int)TRI_DIM_MUL == (int)DIM_OP_MUL && (int)TRI_DIM_FLOORDIV == (int)DIM_OP_FLOORDIV &&
		       (int)TRI_DIM_MOD == (int)DIM_OP_MOD,
	       "dimension programs are copied");

void section_put_dim(struct section_builder *b, struct section_builder *steps, struct map *seen, const struct dims *d, dim x)
{
	uint32_t n = dim_program(d, x, NULL, 0);
	struct dim_step *program = ARENA_ARRAY(b->o->arena, struct dim_step, n);
	uint64_t at = steps->bytes.len, earlier;
	dim_program(d, x, program, n);
	for (uint32_t i = 0; i < n; i++) {
		buf_u32(&steps->bytes, (uint32_t)program[i].op);
		buf_u32(&steps->bytes, 0);
		buf_u64(&steps->bytes, (uint64_t)program[i].value);
	}
	hash128 key = hash_bytes(steps->bytes.at + at, steps->bytes.len - at);
	if (seen && map_get(seen, key, &earlier)) {
		steps->bytes.len = at;
		at = earlier;
	} else if (seen) {
		map_put(seen, key, at);
	}
	section_put_address(b, steps->symbol, at);
	buf_u32(&b->bytes, n);
	buf_u32(&b->bytes, 0);
}
