/* Writes an object as an ELF64 x86-64 relocatable file. Layout: header, section contents, symbol table with local symbols first,
 * strings, relocation tables, section headers. */
#include <string.h>
#include "backend/link/elf/elf_x86_64.h"
#include "backend/link/elf/object.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/vec.h"

struct elf_writer {
	const struct object *o;
	struct buf *out, names, strings;
	size_t start; /* of the file in out */
	VEC(Elf64_Shdr) headers;
	uint32_t *order; /* object symbol -> symbol table index */
};

static uint32_t object_write_add_header(struct elf_writer *w, const char *prefix, const char *name, Elf64_Shdr h)
{
	h.sh_name = (Elf64_Word)w->names.len;
	buf_puts(&w->names, prefix);
	buf_put(&w->names, name, strlen(name) + 1);
	vec_push(&w->headers, h);
	return w->headers.len - 1;
}

static uint64_t flags_of(enum section_kind k)
{
	return SHF_ALLOC | (k == SECTION_TEXT ? SHF_EXECINSTR : k == SECTION_RODATA ? 0 : SHF_WRITE);
}

static uint64_t align_output(const struct elf_writer *w, size_t align)
{
	while ((w->out->len - w->start) % align)
		buf_u8(w->out, 0);
	return w->out->len - w->start;
}

static void put_section(struct elf_writer *w, const struct obj_section *s)
{
	Elf64_Shdr h = {.sh_type = s->kind == SECTION_BSS ? SHT_NOBITS : SHT_PROGBITS, .sh_flags = flags_of(s->kind), .sh_size = s->size};
	h.sh_addralign = s->align;
	h.sh_offset = align_output(w, s->align);
	if (s->kind != SECTION_BSS)
		buf_put(w->out, s->bytes, s->size);
	object_write_add_header(w, "", s->name, h);
}

static void object_write_put_symbols(struct elf_writer *w, uint32_t strtab)
{
	Elf64_Shdr h = {.sh_type = SHT_SYMTAB, .sh_link = strtab, .sh_entsize = sizeof(Elf64_Sym), .sh_addralign = 8};
	Elf64_Sym none = {0};
	uint32_t n = 1;
	h.sh_offset = align_output(w, 8);
	buf_put(w->out, &none, sizeof none);
	for (int global = 0; global < 2; global++) {
		if (global)
			h.sh_info = n;
		for (uint32_t i = 0; i < w->o->n_symbols; i++) {
			const struct obj_symbol *s = &w->o->symbols[i];
			if (s->global != global)
				continue;
			Elf64_Sym sym = {.st_name = (Elf64_Word)w->strings.len, .st_value = s->value, .st_size = s->size};
			sym.st_info = ELF64_ST_INFO(!global   ? STB_LOCAL
						    : s->weak ? STB_WEAK
							      : STB_GLOBAL,
						    s->function ? STT_FUNC : STT_NOTYPE);
			sym.st_shndx = s->section == OBJ_UNDEFINED ? SHN_UNDEF : (Elf64_Section)(s->section + 1);
			if (!s->name[0])
				sym.st_name = 0;
			else
				buf_put(&w->strings, s->name, strlen(s->name) + 1);
			buf_put(w->out, &sym, sizeof sym);
			w->order[i] = n++;
		}
	}
	h.sh_size = n * sizeof(Elf64_Sym);
	object_write_add_header(w, "", ".symtab", h);
}

static void put_relocs(struct elf_writer *w, uint32_t section, uint32_t symtab)
{
	static const uint32_t types[] = {R_X86_64_64, R_X86_64_PC32, R_X86_64_PLT32, R_X86_64_GOTPCREL, R_X86_64_PC64, R_X86_64_32S};
	Elf64_Shdr h = {.sh_type = SHT_RELA, .sh_flags = SHF_INFO_LINK, .sh_link = symtab, .sh_info = section + 1};
	h.sh_entsize = sizeof(Elf64_Rela);
	h.sh_addralign = 8;
	h.sh_offset = align_output(w, 8);
	for (uint32_t i = 0; i < w->o->n_relocs; i++) {
		const struct obj_reloc *r = &w->o->relocs[i];
		if (r->section != section)
			continue;
		Elf64_Rela rela = {r->offset, ELF64_R_INFO((uint64_t)w->order[r->symbol], types[r->kind]), r->addend};
		buf_put(w->out, &rela, sizeof rela);
		h.sh_size += sizeof rela;
	}
	if (h.sh_size)
		object_write_add_header(w, ".rela", w->o->sections[section].name, h);
}

static uint32_t put_strings(struct elf_writer *w, const char *name, struct buf *text)
{
	uint32_t i = object_write_add_header(w, "", name, (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_addralign = 1});
	w->headers.at[i].sh_offset = align_output(w, 1);
	w->headers.at[i].sh_size = text->len; /* after add_header, which may append to it */
	buf_put(w->out, text->at, text->len);
	return i;
}

void object_write(const struct object *o, struct buf *out)
{
	struct elf_writer w = {.o = o, .out = out, .start = out->len};
	struct arena *scratch = arena_new(0);
	Elf64_Ehdr e = {
		.e_type = ET_REL, .e_machine = EM_X86_64, .e_version = EV_CURRENT, .e_ehsize = sizeof e, .e_shentsize = sizeof(Elf64_Shdr)};
	memcpy(e.e_ident, ELFMAG "\2\1\1", 7);
	w.order = ARENA_ARRAY(scratch, uint32_t, o->n_symbols);
	buf_put(out, &e, sizeof e);
	vec_push(&w.headers, ((Elf64_Shdr){0}));
	buf_u8(&w.names, 0);
	buf_u8(&w.strings, 0);
	for (uint32_t i = 0; i < o->n_sections; i++)
		put_section(&w, &o->sections[i]);
	object_write_add_header(&w, "", ".note.GNU-stack", (Elf64_Shdr){.sh_type = SHT_PROGBITS, .sh_addralign = 1});
	uint32_t symtab = w.headers.len;
	object_write_put_symbols(&w, symtab + 1);
	put_strings(&w, ".strtab", &w.strings);
	for (uint32_t i = 0; i < o->n_sections; i++)
		put_relocs(&w, i, symtab);
	e.e_shstrndx = (Elf64_Half)put_strings(&w, ".shstrtab", &w.names);
	e.e_shnum = (Elf64_Half)w.headers.len;
	e.e_shoff = align_output(&w, 8);
	buf_put(out, w.headers.at, w.headers.len * sizeof *w.headers.at);
	memcpy(out->at + w.start, &e, sizeof e);
	vec_free(&w.headers);
	buf_free(&w.names);
	buf_free(&w.strings);
	arena_free(scratch);
}
