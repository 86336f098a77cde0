#include "backend/link/elf/object.h"
#include "base/arena.h"
#include "base/bug.h"

struct object *object_new(struct arena *a, const char *name)
{
	struct object *o = ARENA_NEW(a, struct object);
	o->arena = a;
	o->name = arena_strdup(a, name);
	return o;
}

void object_reserve(struct object *o, uint32_t sections, uint32_t symbols, uint32_t relocs)
{
	o->sections = arena_grow(o->arena, o->sections, o->n_sections, &o->cap_sections, o->n_sections + sections, sizeof *o->sections);
	o->symbols = arena_grow(o->arena, o->symbols, o->n_symbols, &o->cap_symbols, o->n_symbols + symbols, sizeof *o->symbols);
	o->relocs = arena_grow(o->arena, o->relocs, o->n_relocs, &o->cap_relocs, o->n_relocs + relocs, sizeof *o->relocs);
}

uint32_t object_section(struct object *o, enum section_kind kind, const char *name, const void *bytes, uint64_t size, uint32_t align)
{
	BUG_ON(align == 0 || (align & (align - 1)));
	o->sections = arena_grow(o->arena, o->sections, o->n_sections, &o->cap_sections, o->n_sections + 1, sizeof *o->sections);
	o->sections[o->n_sections] = (struct obj_section){kind, name, bytes, size, align};
	return o->n_sections++;
}

uint32_t object_symbol(struct object *o, const char *name, uint32_t section, uint64_t value, uint64_t size, bool global, bool function)
{
	BUG_ON(section != OBJ_UNDEFINED && section >= o->n_sections);
	o->symbols = arena_grow(o->arena, o->symbols, o->n_symbols, &o->cap_symbols, o->n_symbols + 1, sizeof *o->symbols);
	o->symbols[o->n_symbols] = (struct obj_symbol){name, section, value, size, global, function, false};
	return o->n_symbols++;
}

void object_reloc(struct object *o, uint32_t section, uint64_t offset, uint32_t symbol, enum obj_reloc_kind kind, int64_t addend)
{
	BUG_ON(section >= o->n_sections || symbol >= o->n_symbols);
	o->relocs = arena_grow(o->arena, o->relocs, o->n_relocs, &o->cap_relocs, o->n_relocs + 1, sizeof *o->relocs);
	o->relocs[o->n_relocs++] = (struct obj_reloc){section, symbol, offset, addend, kind};
}
