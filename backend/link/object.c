#include "backend/link/object.h"
#include <string.h>
#include "base/arena.h"
#include "base/bug.h"

struct object *object_new(struct arena *a, const char *name)
{
	struct object *o = ARENA_NEW(a, struct object);
	o->arena = a;
	o->name = arena_strdup(a, name);
	return o;
}

/* Returns a copy of `at` with room for `cap` elements. */
static void *resized(struct arena *a, const void *at, uint32_t n, uint32_t cap, size_t size)
{
	void *to = arena_alloc(a, cap * size, 16);
	if (n)
		memcpy(to, at, n * size);
	return to;
}

/* Returns `at`, or a copy of it, with room for one more element. */
static void *grow(struct arena *a, void *at, uint32_t n, uint32_t *cap, size_t size)
{
	if (n < *cap)
		return at;
	BUG_ON(n > UINT32_MAX / 4);
	*cap = n ? 2 * n : 4;
	return resized(a, at, n, *cap, size);
}

static void *reserve(struct arena *a, void *at, uint32_t n, uint32_t *cap, uint32_t more, size_t size)
{
	if (more <= *cap - n)
		return at;
	BUG_ON(more > UINT32_MAX - n || n > UINT32_MAX / 4);
	*cap = more > n / 2 ? n + more : n + n / 2;
	return resized(a, at, n, *cap, size);
}

void object_reserve(struct object *o, uint32_t sections, uint32_t symbols, uint32_t relocs)
{
	o->sections = reserve(o->arena, o->sections, o->n_sections, &o->cap_sections, sections, sizeof *o->sections);
	o->symbols = reserve(o->arena, o->symbols, o->n_symbols, &o->cap_symbols, symbols, sizeof *o->symbols);
	o->relocs = reserve(o->arena, o->relocs, o->n_relocs, &o->cap_relocs, relocs, sizeof *o->relocs);
}

uint32_t object_section(struct object *o, enum section_kind kind, const char *name, const void *bytes, uint64_t size, uint32_t align)
{
	BUG_ON(align == 0 || (align & (align - 1)));
	o->sections = grow(o->arena, o->sections, o->n_sections, &o->cap_sections, sizeof *o->sections);
	o->sections[o->n_sections] = (struct obj_section){kind, name, bytes, size, align};
	return o->n_sections++;
}

uint32_t object_symbol(struct object *o, const char *name, uint32_t section, uint64_t value, uint64_t size, bool global, bool function)
{
	BUG_ON(section != OBJ_UNDEFINED && section >= o->n_sections);
	o->symbols = grow(o->arena, o->symbols, o->n_symbols, &o->cap_symbols, sizeof *o->symbols);
	o->symbols[o->n_symbols] = (struct obj_symbol){name, section, value, size, global, function, false};
	return o->n_symbols++;
}

void object_reloc(struct object *o, uint32_t section, uint64_t offset, uint32_t symbol, enum obj_reloc_kind kind, int64_t addend)
{
	BUG_ON(section >= o->n_sections || symbol >= o->n_symbols);
	o->relocs = grow(o->arena, o->relocs, o->n_relocs, &o->cap_relocs, sizeof *o->relocs);
	o->relocs[o->n_relocs++] = (struct obj_reloc){section, symbol, offset, addend, kind};
}
