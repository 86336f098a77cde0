/* Reads ELF64 x86-64 relocatable files (System V ABI, AMD64 supplement). The file is not trusted: every offset, size, index and string
 * is checked, and integers are copied, because tables may be unaligned. Sections that a loaded library does not need (unwind tables,
 * notes, debug information) are skipped. Constructors and thread-local data are errors. */
#include <string.h>
#include "backend/link/elf/elf_x86_64.h"
#include "backend/link/elf/object.h"
#include "backend/target/code_origins.h"
#include "base/arena.h"

#define NO_SECTION UINT32_MAX /* the section is skipped */
#define NO_SYMBOL UINT32_MAX  /* a symbol of a skipped section, of a file, or absolute */
#define MAX_ALIGN (1u << 20)
#define MAX_SIZE (1ull << 40)

struct elf_reader {
	struct arena *a;
	const char *name;
	const unsigned char *bytes;
	uint64_t len;
	Elf64_Ehdr head;
	uint32_t n_sections, names; /* names: the section name table */
	uint32_t *sections;         /* file index -> object section or NO_SECTION */
	uint32_t *symbols;          /* file index -> object symbol or NO_SYMBOL */
	uint32_t n_symbols;
	struct object *o;
	const char **error;
};

static bool object_elf_fail(struct elf_reader *r, const char *what)
{
	*r->error = arena_printf(r->a, "%s: cannot use the object file: %s", r->name, what);
	return false;
}

static Elf64_Shdr header_at(const struct elf_reader *r, uint32_t i)
{
	Elf64_Shdr h;
	memcpy(&h, r->bytes + r->head.e_shoff + (uint64_t)i * sizeof h, sizeof h);
	return h;
}

/* A NUL-terminated string of a string table section, or NULL. */
static const char *string_at(const struct elf_reader *r, const Elf64_Shdr *table, uint64_t offset)
{
	if (table->sh_type != SHT_STRTAB || !elf_in(table->sh_offset, table->sh_size, r->len) || offset >= table->sh_size)
		return NULL;
	const char *s = (const char *)r->bytes + table->sh_offset + offset;
	return memchr(s, 0, (size_t)(table->sh_size - offset)) ? s : NULL;
}

static bool object_elf_read_head(struct elf_reader *r)
{
	if (r->len < sizeof r->head)
		return object_elf_fail(r, "it is too short");
	memcpy(&r->head, r->bytes, sizeof r->head);
	const Elf64_Ehdr *h = &r->head;
	if (memcmp(h->e_ident, ELFMAG, SELFMAG) || h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_ident[EI_DATA] != ELFDATA2LSB)
		return object_elf_fail(r, "it is not a 64-bit little-endian ELF file");
	if (h->e_type != ET_REL || h->e_machine != EM_X86_64)
		return object_elf_fail(r, "it is not a relocatable file for x86-64");
	if (h->e_shentsize != sizeof(Elf64_Shdr) || !elf_in(h->e_shoff, sizeof(Elf64_Shdr), r->len))
		return object_elf_fail(r, "bad section header table");
	uint64_t n = h->e_shnum ? h->e_shnum : header_at(r, 0).sh_size; /* header 0 has large counts */
	if (n > (r->len - h->e_shoff) / sizeof(Elf64_Shdr) || n >= NO_SECTION)
		return object_elf_fail(r, "bad section count");
	r->n_sections = (uint32_t)n;
	r->names = h->e_shstrndx == SHN_XINDEX ? header_at(r, 0).sh_link : h->e_shstrndx;
	return r->names < n || object_elf_fail(r, "bad section name table");
}

static bool object_elf_starts_with(const char *s, const char *with) { return strncmp(s, with, strlen(with)) == 0; }

static bool is_loaded(const Elf64_Shdr *h, const char *name)
{
	return (h->sh_flags & SHF_ALLOC) && h->sh_type != SHT_X86_64_UNWIND && h->sh_type != SHT_NOTE && strcmp(name, ".eh_frame") != 0 &&
	       !object_elf_starts_with(name, ".note");
}

static enum section_kind object_elf_kind_of(const Elf64_Shdr *h, const char *name)
{
	if (h->sh_type == SHT_NOBITS)
		return SECTION_BSS;
	if (h->sh_flags & SHF_EXECINSTR)
		return SECTION_TEXT;
	if (h->sh_flags & SHF_WRITE)
		return object_elf_starts_with(name, ".data.rel.ro") ? SECTION_RELRO : SECTION_DATA;
	return SECTION_RODATA;
}

static bool read_section(struct elf_reader *r, uint32_t i)
{
	Elf64_Shdr h = header_at(r, i), names = header_at(r, r->names);
	r->sections[i] = NO_SECTION;
	if (h.sh_type == SHT_NULL)
		return true;
	const char *name = string_at(r, &names, h.sh_name);
	if (!name)
		return object_elf_fail(r, "bad section name");
	if (strcmp(name, SECTION_ORIGINS) == 0 && elf_in(h.sh_offset, h.sh_size, r->len)) {
		r->o->origins = r->bytes + h.sh_offset;
		r->o->n_origins = (size_t)h.sh_size;
		return true;
	}
	if (!is_loaded(&h, name))
		return true;
	if (h.sh_type == SHT_INIT_ARRAY || h.sh_type == SHT_FINI_ARRAY || h.sh_type == SHT_PREINIT_ARRAY ||
	    object_elf_starts_with(name, ".ctors") || object_elf_starts_with(name, ".dtors") || strcmp(name, ".init") == 0 ||
	    strcmp(name, ".fini") == 0)
		return object_elf_fail(r, "it has constructors or destructors");
	if (h.sh_flags & SHF_TLS)
		return object_elf_fail(r, "it has thread-local data");
	if (h.sh_type != SHT_PROGBITS && h.sh_type != SHT_NOBITS)
		return object_elf_fail(r, "a loaded section of unknown type");
	uint64_t align = h.sh_addralign ? h.sh_addralign : 1;
	if (align & (align - 1) || align > MAX_ALIGN)
		return object_elf_fail(r, "bad section alignment");
	if (h.sh_type == SHT_NOBITS ? h.sh_size > MAX_SIZE : !elf_in(h.sh_offset, h.sh_size, r->len))
		return object_elf_fail(r, "a section is outside the file");
	r->sections[i] = object_section(r->o, object_elf_kind_of(&h, name), name, h.sh_type == SHT_NOBITS ? NULL : r->bytes + h.sh_offset,
					h.sh_size, (uint32_t)align);
	return true;
}

/* Stores the object's symbol, or NO_SYMBOL, in *out. */
static bool object_elf_read_symbol(struct elf_reader *r, const Elf64_Sym *s, uint32_t shndx, const char *name, uint32_t *out)
{
	int bind = ELF64_ST_BIND(s->st_info), type = ELF64_ST_TYPE(s->st_info);
	bool global = bind == STB_GLOBAL || bind == STB_WEAK, weak = bind == STB_WEAK;
	uint32_t section = OBJ_UNDEFINED;
	uint64_t value = s->st_value;
	*out = NO_SYMBOL;
	if (bind != STB_LOCAL && !global)
		return object_elf_fail(r, "unknown symbol binding");
	if (type == STT_FILE || shndx == SHN_ABS)
		return true;
	if (type == STT_TLS || type == STT_GNU_IFUNC)
		return object_elf_fail(r, "thread-local or indirect symbol");
	if (shndx == SHN_COMMON) {
		uint64_t align = s->st_value ? s->st_value : 1;
		if (align & (align - 1) || align > MAX_ALIGN || s->st_size > MAX_SIZE)
			return object_elf_fail(r, "bad common symbol");
		section = object_section(r->o, SECTION_BSS, ".bss", NULL, s->st_size, (uint32_t)align);
		value = 0;
		weak = true; /* may be defined several times */
	} else if (shndx != SHN_UNDEF) {
		if (shndx >= r->n_sections)
			return object_elf_fail(r, "a symbol has no section");
		section = r->sections[shndx];
		if (section == NO_SECTION)
			return true;
		if (value > r->o->sections[section].size)
			return object_elf_fail(r, "a symbol is outside its section");
	} else if (!global) {
		return true;
	}
	*out = object_symbol(r->o, name, section, value, s->st_size, global, type == STT_FUNC);
	r->o->symbols[*out].weak = weak;
	return true;
}

/* Returns the header of the extended section indices of symbol table `table`, or an empty header. */
static Elf64_Shdr find_shndx(const struct elf_reader *r, uint32_t table)
{
	for (uint32_t i = 0; i < r->n_sections; i++) {
		Elf64_Shdr h = header_at(r, i);
		if (h.sh_type == SHT_SYMTAB_SHNDX && h.sh_link == table && elf_in(h.sh_offset, h.sh_size, r->len))
			return h;
	}
	return (Elf64_Shdr){0};
}

static bool read_symbols(struct elf_reader *r, uint32_t table)
{
	Elf64_Shdr h = header_at(r, table), wide = {0};
	if (h.sh_entsize != sizeof(Elf64_Sym) || !elf_in(h.sh_offset, h.sh_size, r->len) || h.sh_link >= r->n_sections)
		return object_elf_fail(r, "bad symbol table");
	Elf64_Shdr names = header_at(r, h.sh_link);
	uint64_t n = h.sh_size / sizeof(Elf64_Sym);
	if (n >= NO_SYMBOL)
		return object_elf_fail(r, "too many symbols");
	r->symbols = ARENA_ARRAY(r->a, uint32_t, n);
	r->n_symbols = (uint32_t)n;
	object_reserve(r->o, 0, (uint32_t)n, 0);
	for (uint32_t i = 0; i < n; i++) {
		Elf64_Sym s;
		memcpy(&s, r->bytes + h.sh_offset + (uint64_t)i * sizeof s, sizeof s);
		uint32_t shndx = s.st_shndx;
		if (shndx == SHN_XINDEX) {
			wide = wide.sh_size ? wide : find_shndx(r, table);
			if (!elf_in((uint64_t)i * 4, 4, wide.sh_size))
				return object_elf_fail(r, "bad extended section index");
			memcpy(&shndx, r->bytes + wide.sh_offset + (uint64_t)i * 4, 4);
			if (shndx >= SHN_LORESERVE && shndx >= r->n_sections)
				return object_elf_fail(r, "bad extended section index");
		} else if (shndx >= SHN_LORESERVE && shndx != SHN_ABS && shndx != SHN_COMMON) {
			return object_elf_fail(r, "symbol of an unknown special section");
		}
		const char *name = string_at(r, &names, s.st_name);
		if (!name)
			return object_elf_fail(r, "bad symbol name");
		if (!object_elf_read_symbol(r, &s, shndx, name, &r->symbols[i]))
			return false;
	}
	return true;
}

static bool find_reloc_kind(uint32_t type, enum obj_reloc_kind *kind, uint64_t *width)
{
	*width = type == R_X86_64_64 || type == R_X86_64_PC64 ? 8 : 4;
	switch (type) {
	case R_X86_64_64: *kind = RELOC_ABS64; return true;
	case R_X86_64_PC32: *kind = RELOC_PC32; return true;
	case R_X86_64_PLT32: *kind = RELOC_PLT32; return true;
	case R_X86_64_GOTPCREL:
	case R_X86_64_GOTPCRELX:
	case R_X86_64_REX_GOTPCRELX: *kind = RELOC_GOTPC32; return true;
	case R_X86_64_PC64: *kind = RELOC_PC64; return true;
	case R_X86_64_32S: *kind = RELOC_ABS32S; return true;
	default: return false;
	}
}

static bool read_relocs(struct elf_reader *r, const Elf64_Shdr *h)
{
	if (h->sh_info >= r->n_sections)
		return object_elf_fail(r, "relocations have no section");
	uint32_t section = r->sections[h->sh_info];
	if (section == NO_SECTION)
		return true;
	if (h->sh_type == SHT_REL)
		return object_elf_fail(r, "relocations without addends");
	if (h->sh_entsize != sizeof(Elf64_Rela) || !elf_in(h->sh_offset, h->sh_size, r->len))
		return object_elf_fail(r, "bad relocation table");
	object_reserve(r->o, 0, 0, (uint32_t)(h->sh_size / sizeof(Elf64_Rela)));
	for (uint64_t i = 0; i < h->sh_size / sizeof(Elf64_Rela); i++) {
		Elf64_Rela rela;
		enum obj_reloc_kind kind;
		uint64_t width;
		memcpy(&rela, r->bytes + h->sh_offset + i * sizeof rela, sizeof rela);
		if (ELF64_R_TYPE(rela.r_info) == R_X86_64_NONE)
			continue;
		if (!find_reloc_kind((uint32_t)ELF64_R_TYPE(rela.r_info), &kind, &width))
			return object_elf_fail(r, arena_printf(r->a, "relocation type %u in section %s",
							       (unsigned)ELF64_R_TYPE(rela.r_info), r->o->sections[section].name));
		if (!r->o->sections[section].bytes || !elf_in(rela.r_offset, width, r->o->sections[section].size))
			return object_elf_fail(r, "a relocation is outside its section");
		if (ELF64_R_SYM(rela.r_info) >= r->n_symbols || r->symbols[ELF64_R_SYM(rela.r_info)] == NO_SYMBOL)
			return object_elf_fail(r, "a relocation has no usable symbol");
		object_reloc(r->o, section, rela.r_offset, r->symbols[ELF64_R_SYM(rela.r_info)], kind, rela.r_addend);
	}
	return true;
}

static bool object_elf_read_all(struct elf_reader *r)
{
	uint32_t table = 0;
	if (!object_elf_read_head(r))
		return false;
	r->sections = ARENA_ARRAY(r->a, uint32_t, r->n_sections);
	for (uint32_t i = 0; i < r->n_sections; i++) {
		if (!read_section(r, i))
			return false;
		if (header_at(r, i).sh_type == SHT_SYMTAB) {
			if (table)
				return object_elf_fail(r, "two symbol tables");
			table = i;
		}
	}
	if (table && !read_symbols(r, table))
		return false;
	for (uint32_t i = 0; i < r->n_sections; i++) {
		Elf64_Shdr h = header_at(r, i);
		if (h.sh_type != SHT_RELA && h.sh_type != SHT_REL)
			continue;
		if (h.sh_link != table && h.sh_info < r->n_sections && r->sections[h.sh_info] != NO_SECTION)
			return object_elf_fail(r, "relocations use another symbol table");
		if (!read_relocs(r, &h))
			return false;
	}
	return true;
}

struct object *object_parse(struct arena *a, const char *name, const void *bytes, size_t len, const char **error)
{
	struct elf_reader r = {.a = a, .name = name, .bytes = bytes, .len = len, .error = error};
	r.o = object_new(a, name);
	return object_elf_read_all(&r) ? r.o : NULL;
}
