/* A relocatable object: sections, symbols, relocations. Parsed from an ELF file of LLVM or the C compiler, or built in memory. */
#ifndef TRIB_BACKEND_LINK_ELF_OBJECT_H
#define TRIB_BACKEND_LINK_ELF_OBJECT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct buf;
struct diags;

/* WEIGHTS: its bytes are in the library already (link_request.weights). */
enum section_kind { SECTION_TEXT, SECTION_RODATA, SECTION_RELRO, SECTION_DATA, SECTION_BSS, SECTION_WEIGHTS };
struct obj_section {
	enum section_kind kind;
	const char *name;
	const void *bytes; /* NULL for BSS and WEIGHTS; not owned */
	uint64_t size;
	uint32_t align;
};
struct obj_symbol {
	const char *name;
	uint32_t section; /* OBJ_UNDEFINED: defined in another object */
	uint64_t value, size;
	bool global, function, weak;
};
enum obj_reloc_kind { RELOC_ABS64, RELOC_PC32, RELOC_PLT32, RELOC_GOTPC32 /* through a GOT entry */, RELOC_PC64, RELOC_ABS32S };
struct obj_reloc {
	uint32_t section, symbol;
	uint64_t offset;
	int64_t addend;
	enum obj_reloc_kind kind;
};
#define OBJ_UNDEFINED UINT32_MAX

struct object {
	struct arena *arena;
	const char *name;    /* for messages */
	const void *origins; /* a fragment's section SECTION_ORIGINS (backend/target/code_origins.h), or NULL; not owned */
	size_t n_origins;    /* its size */
	struct obj_section *sections;
	struct obj_symbol *symbols;
	struct obj_reloc *relocs;
	uint32_t n_sections, n_symbols, n_relocs;
	uint32_t cap_sections, cap_symbols, cap_relocs;
};

struct object *object_new(struct arena *a, const char *name);
/* Makes room for as many more, and little beyond: there may be a hundred thousand objects. */
void object_reserve(struct object *o, uint32_t sections, uint32_t symbols, uint32_t relocs);
uint32_t object_section(struct object *o, enum section_kind kind, const char *name, const void *bytes, uint64_t size, uint32_t align);
uint32_t object_symbol(struct object *o, const char *name, uint32_t section, uint64_t value, uint64_t size, bool global, bool function);
void object_reloc(struct object *o, uint32_t section, uint64_t offset, uint32_t symbol, enum obj_reloc_kind kind, int64_t addend);

/* Reads an ELF64 x86-64 ET_REL file, which is not trusted. `bytes` must outlive the object. Returns NULL with a message in *error, in `a`. */
struct object *object_parse(struct arena *a, const char *name, const void *bytes, size_t len, const char **error);
/* Appends the object as an ELF64 ET_REL file, for the system's linker. */
void object_write(const struct object *o, struct buf *out);
#endif
