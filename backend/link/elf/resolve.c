/* Resolves symbols and finds the sections that the exports reach. Everything is visited in the order of the request, so the result is
 * deterministic. */
#include "backend/link/elf/link_state.h"
#include <string.h>
#include "backend/link/elf/elf_x86_64.h"
#include "base/arena.h"

static bool resolve_fail(struct link *l, const char *text)
{
	*l->error = text;
	return false;
}
static const char *object_name(const struct link *l, uint32_t object) { return l->request->objects[object]->name; }

bool link_may_import(const char *name)
{
	static const char *const names[] = {
#define IMPORT(library, symbol) #symbol,
#include "backend/link/elf/imports.def"
#undef IMPORT
	};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(names[i], name) == 0)
			return true;
#ifdef TRIB_SANITIZE_LIBRARIES
	return strncmp(name, "__asan_", 7) == 0 || strncmp(name, "__ubsan_", 8) == 0 || strncmp(name, "__tsan_", 7) == 0;
#else
	return false;
#endif
}

static void resolve_allocate(struct link *l)
{
	uint32_t n = l->request->n_objects, n_relocs = 0;
	l->first_section = ARENA_ARRAY(l->a, uint32_t, n + 1);
	l->first_symbol = ARENA_ARRAY(l->a, uint32_t, n + 1);
	for (uint32_t i = 0; i < n; i++) {
		l->first_section[i + 1] = l->first_section[i] + l->request->objects[i]->n_sections;
		l->first_symbol[i + 1] = l->first_symbol[i] + l->request->objects[i]->n_symbols;
		n_relocs += l->request->objects[i]->n_relocs;
	}
	l->n_sections = l->first_section[n];
	l->n_symbols = l->first_symbol[n];
	l->sections = ARENA_ARRAY(l->a, struct link_section, l->n_sections);
	l->symbols = ARENA_ARRAY(l->a, const struct obj_symbol *, l->n_symbols);
	l->symbol_object = ARENA_ARRAY(l->a, uint32_t, l->n_symbols);
	l->target = ARENA_ARRAY(l->a, uint32_t, l->n_symbols);
	l->relocs = ARENA_ARRAY(l->a, const struct obj_reloc *, n_relocs);
}

/* Appends the sections and symbols of an object to the arrays of all objects, and its relocations grouped by section. */
static void add_object(struct link *l, uint32_t object, uint32_t *next_reloc)
{
	const struct object *o = l->request->objects[object];
	struct link_section *sections = l->sections + l->first_section[object];
	for (uint32_t i = 0; i < o->n_sections; i++)
		sections[i] = (struct link_section){.from = &o->sections[i], .object = object, .kind = o->sections[i].kind};
	for (uint32_t i = 0; i < o->n_symbols; i++) {
		l->symbols[l->first_symbol[object] + i] = &o->symbols[i];
		l->symbol_object[l->first_symbol[object] + i] = object;
		l->target[l->first_symbol[object] + i] = TARGET_NONE;
	}
	for (uint32_t i = 0; i < o->n_relocs; i++)
		sections[o->relocs[i].section].n_relocs++;
	for (uint32_t i = 0; i < o->n_sections; i++) {
		sections[i].relocs = *next_reloc;
		*next_reloc += sections[i].n_relocs;
		sections[i].n_relocs = 0;
	}
	for (uint32_t i = 0; i < o->n_relocs; i++) {
		struct link_section *s = &sections[o->relocs[i].section];
		l->relocs[s->relocs + s->n_relocs++] = &o->relocs[i];
	}
}

static bool resolve_define(struct link *l, uint32_t symbol)
{
	const struct obj_symbol *s = l->symbols[symbol];
	uint64_t before;
	if (!s->global || s->section == OBJ_UNDEFINED)
		return true;
	hash128 key = map_key_str(s->name);
	if (map_get(&l->globals, key, &before)) {
		if (s->weak)
			return true;
		if (!l->symbols[before]->weak)
			return resolve_fail(l, arena_printf(l->a, "symbol %s is defined twice: in %s and in %s", s->name,
							    object_name(l, l->symbol_object[before]),
							    object_name(l, l->symbol_object[symbol])));
	}
	map_put(&l->globals, key, symbol);
	return true;
}

static uint32_t add_import(struct link *l, const char *name)
{
	for (uint32_t i = 0; i < l->n_imports; i++)
		if (strcmp(l->imports[i], name) == 0)
			return l->n_symbols + i;
	l->imports = arena_grow(l->a, l->imports, l->n_imports, &l->cap_imports, l->n_imports + 1, sizeof *l->imports);
	l->imports[l->n_imports] = name;
	return l->n_symbols + l->n_imports++;
}

/* Finds the target of a symbol that a live section refers to. */
static bool resolve_resolve(struct link *l, uint32_t symbol)
{
	const struct obj_symbol *s = l->symbols[symbol];
	uint64_t found;
	if (l->target[symbol] != TARGET_NONE)
		return true;
	if (!s->global && s->section != OBJ_UNDEFINED)
		l->target[symbol] = symbol;
	else if (map_get(&l->globals, map_key_str(s->name), &found))
		l->target[symbol] = (uint32_t)found;
	else if (l->request->n_needed && link_may_import(s->name))
		l->target[symbol] = add_import(l, s->name);
	else if (s->weak)
		l->target[symbol] = TARGET_ZERO;
	else
		return resolve_fail(
			l, arena_printf(l->a, "undefined symbol %s, referred to by %s", s->name, object_name(l, l->symbol_object[symbol])));
	return true;
}

struct worklist {
	VEC(uint32_t) sections; /* live and not yet scanned */
};

static void resolve_mark_live(struct link *l, struct worklist *m, uint32_t symbol)
{
	struct link_section *s = link_section_of(l, symbol);
	if (s->live)
		return;
	s->live = true;
	vec_push(&m->sections, (uint32_t)(s - l->sections));
}

static bool resolve_scan(struct link *l, struct worklist *m, const struct link_section *s)
{
	for (uint32_t i = 0; i < s->n_relocs; i++) {
		uint32_t symbol = l->first_symbol[s->object] + l->relocs[s->relocs + i]->symbol;
		if (!resolve_resolve(l, symbol))
			return false;
		if (l->target[symbol] < l->n_symbols)
			resolve_mark_live(l, m, l->target[symbol]);
	}
	return true;
}

static bool find_live(struct link *l)
{
	struct worklist m = {{0}};
	bool ok = true;
	l->exports = ARENA_ARRAY(l->a, uint32_t, l->request->n_exports);
	for (uint32_t i = 0; i < l->request->n_exports && ok; i++) {
		uint64_t symbol;
		if (!map_get(&l->globals, map_key_str(l->request->exports[i]), &symbol)) {
			ok = resolve_fail(l, arena_printf(l->a, "exported symbol %s is not defined in any object", l->request->exports[i]));
			break;
		}
		l->exports[i] = (uint32_t)symbol;
		resolve_mark_live(l, &m, (uint32_t)symbol);
	}
	while (ok && m.sections.len)
		ok = resolve_scan(l, &m, &l->sections[m.sections.at[--m.sections.len]]);
	vec_free(&m.sections);
	return ok;
}

static void need_got(struct link *l, uint32_t target)
{
	uint32_t *entry = &l->got[link_entry(l, target)];
	if (*entry)
		return;
	l->got_targets[l->n_got] = target;
	*entry = ++l->n_got;
	if (link_is_import(l, target))
		l->n_symbolic++;
	else if (target != TARGET_ZERO)
		l->n_relative++;
}

/* A jump to an imported or missing function goes through a stub. */
static void need_stub(struct link *l, uint32_t target)
{
	if (target < l->n_symbols || l->stub[link_entry(l, target)])
		return;
	need_got(l, target);
	l->stub_targets[l->n_stubs] = target;
	l->stub[link_entry(l, target)] = ++l->n_stubs;
}

static bool resolve_refuse(struct link *l, const struct link_section *s, const struct obj_symbol *to, const char *why)
{
	return resolve_fail(l,
			    arena_printf(l->a, "%s: section %s refers to %s %s", object_name(l, s->object), s->from->name, to->name, why));
}

/* Notes what a relocation needs: a GOT entry, a stub, a dynamic relocation. */
static bool plan_reloc(struct link *l, struct link_section *s, const struct obj_reloc *r)
{
	uint32_t symbol = l->first_symbol[s->object] + r->symbol, target = l->target[symbol];
	switch (r->kind) {
	case RELOC_ABS64:
		if (target == TARGET_ZERO)
			return true;
		if (s->kind == SECTION_TEXT)
			return resolve_refuse(l, s, l->symbols[symbol], "by its absolute address, from code");
		if (s->kind == SECTION_RODATA)
			s->kind = SECTION_RELRO;
		if (link_is_import(l, target))
			l->n_symbolic++;
		else
			l->n_relative++;
		return true;
	case RELOC_GOTPC32: need_got(l, target); return true;
	case RELOC_PC32:
	case RELOC_PC64:
		if (target == TARGET_ZERO)
			return resolve_refuse(l, s, l->symbols[symbol], "which is weak and not defined");
		need_stub(l, target);
		return true;
	case RELOC_PLT32: /* a call; of a weak undefined symbol it is never executed */ need_stub(l, target); return true;
	default: return resolve_refuse(l, s, l->symbols[symbol], "by a 32-bit address: compile it with -fPIC");
	}
}

static bool plan_relocs(struct link *l)
{
	uint32_t n = l->n_symbols + l->n_imports + 1;
	l->got = ARENA_ARRAY(l->a, uint32_t, n);
	l->stub = ARENA_ARRAY(l->a, uint32_t, n);
	l->got_targets = ARENA_ARRAY(l->a, uint32_t, n);
	l->stub_targets = ARENA_ARRAY(l->a, uint32_t, n);
	for (uint32_t i = 0; i < l->n_sections; i++) {
		struct link_section *s = &l->sections[i];
		if (s->live && s->from->align > ELF_PAGE)
			return resolve_fail(l, arena_printf(l->a, "%s: section %s is aligned to more than a page",
							    object_name(l, s->object), s->from->name));
		for (uint32_t k = 0; s->live && k < s->n_relocs; k++)
			if (!plan_reloc(l, s, l->relocs[s->relocs + k]))
				return false;
	}
	return true;
}

bool link_resolve(struct link *l)
{
	uint32_t next_reloc = 0;
	resolve_allocate(l);
	for (uint32_t i = 0; i < l->request->n_objects; i++)
		add_object(l, i, &next_reloc);
	for (uint32_t i = 0; i < l->n_symbols; i++)
		if (!resolve_define(l, i))
			return false;
	return find_live(l) && plan_relocs(l);
}
