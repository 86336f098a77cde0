/* Private to the linker: symbols and sections, which resolve.c resolves and elf_shared.c lays out. */
#ifndef TRIB_BACKEND_LINK_ELF_LINK_STATE_H
#define TRIB_BACKEND_LINK_ELF_LINK_STATE_H
#include <stdbool.h>
#include <stdint.h>
#include "backend/link/elf/link.h"
#include "backend/link/elf/object.h"
#include "base/map.h"
#include "base/vec.h"

/* The sections of all objects have consecutive numbers. So have the symbols of all objects, followed by the imports. */
#define TARGET_NONE UINT32_MAX       /* not resolved yet */
#define TARGET_ZERO (UINT32_MAX - 1) /* a weak symbol that is not defined */

struct link_section {
	const struct obj_section *from;
	uint32_t object;
	uint32_t relocs, n_relocs; /* in link.relocs */
	enum section_kind kind;    /* read-only data that holds addresses becomes RELRO */
	bool live;
	uint64_t address;
};
struct link {
	struct arena *a;
	const struct link_request *request;
	const char **error;
	uint32_t *first_section, *first_symbol; /* for each object */
	struct link_section *sections;
	uint32_t n_sections, n_symbols;
	const struct obj_symbol **symbols;
	uint32_t *symbol_object;
	uint32_t *target;                /* for each symbol: the defining symbol, n_symbols + import, TARGET_ZERO or TARGET_NONE */
	const struct obj_reloc **relocs; /* grouped by section */
	struct map globals;              /* from name to defining symbol */
	const char **imports;
	uint32_t n_imports, cap_imports;
	uint32_t *exports;    /* defining symbols of the request's exports */
	uint32_t *got, *stub; /* for each target, and for TARGET_ZERO: entry number + 1, or 0 */
	uint32_t *got_targets, n_got;
	uint32_t *stub_targets, n_stubs;
	uint32_t n_relative, n_symbolic; /* dynamic relocations */
};

/* Finds definitions, live sections, imports, GOT entries and stubs; sets no addresses. Returns false with a message in *error. */
bool link_resolve(struct link *l);
static inline bool link_is_import(const struct link *l, uint32_t target) { return target >= l->n_symbols && target < TARGET_ZERO; }
/* Returns the index of a target in got and stub. */
static inline uint32_t link_entry(const struct link *l, uint32_t target)
{
	return target == TARGET_ZERO ? l->n_symbols + l->n_imports : target;
}
static inline struct link_section *link_section_of(const struct link *l, uint32_t symbol)
{
	return &l->sections[l->first_section[l->symbol_object[symbol]] + l->symbols[symbol]->section];
}
#endif
