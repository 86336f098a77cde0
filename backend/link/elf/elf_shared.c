/* Writes an ELF64 shared object for x86-64. File offsets equal addresses. Each segment starts on a page:
 *   R   headers .weights .hash .dynsym .dynstr .rela.dyn .rodata
 *   RX  .text .plt
 *   RW  .data.rel.ro .dynamic .got | .data .bss        (before the bar: read-only after relocation, PT_GNU_RELRO)
 * Not loaded: .debug_* .symtab .strtab .shstrtab and the section headers. There is no lazy binding: calls of imported functions go through stubs
 * `jmp *slot(%rip)` over GOT entries that the loader fills when it loads the library. Our own symbols bind inside the library. The hash
 * table is that of System V, which every loader knows; there are few exports. Weights come first, so that their place is known before anything
 * is compiled. They fill whole pages; this file writes only the bytes around them. */
#include "backend/link/elf/link.h"
#include <stdlib.h>
#include <string.h>
#include "backend/link/elf/dwarf.h"
#include "backend/link/elf/elf_x86_64.h"
#include "backend/link/elf/link_state.h"
#include "backend/link/elf/linked_code.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/bug.h"

/* clang-format off */
enum out_section {
	OUT_NULL, OUT_WEIGHTS, OUT_HASH, OUT_DYNSYM, OUT_DYNSTR, OUT_RELA, OUT_RODATA, OUT_TEXT, OUT_PLT, OUT_RELRO, OUT_DYNAMIC, OUT_GOT, OUT_DATA, OUT_BSS,
	OUT_DEBUG_ABBREV, OUT_DEBUG_ARANGES, OUT_DEBUG_INFO, OUT_DEBUG_LINE, OUT_SYMTAB, OUT_STRTAB, OUT_SHSTRTAB, OUT_COUNT
};
/* clang-format on */
enum { N_SEGMENTS = 6, STUB = 8, MAX_DYNAMIC = 16 };

static const struct {
	const char *name;
	Elf64_Word type;
	Elf64_Xword flags, entsize;
	Elf64_Word link;
} out_table[OUT_COUNT] = {
	[OUT_NULL] = {"", SHT_NULL, 0, 0, 0},
	[OUT_WEIGHTS] = {".weights", SHT_PROGBITS, SHF_ALLOC, 0, 0},
	[OUT_HASH] = {".hash", SHT_HASH, SHF_ALLOC, 4, OUT_DYNSYM},
	[OUT_DYNSYM] = {".dynsym", SHT_DYNSYM, SHF_ALLOC, sizeof(Elf64_Sym), OUT_DYNSTR},
	[OUT_DYNSTR] = {".dynstr", SHT_STRTAB, SHF_ALLOC, 0, 0},
	[OUT_RELA] = {".rela.dyn", SHT_RELA, SHF_ALLOC, sizeof(Elf64_Rela), OUT_DYNSYM},
	[OUT_RODATA] = {".rodata", SHT_PROGBITS, SHF_ALLOC, 0, 0},
	[OUT_TEXT] = {".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0, 0},
	[OUT_PLT] = {".plt", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, STUB, 0},
	[OUT_RELRO] = {".data.rel.ro", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 0, 0},
	[OUT_DYNAMIC] = {".dynamic", SHT_DYNAMIC, SHF_ALLOC | SHF_WRITE, sizeof(Elf64_Dyn), OUT_DYNSTR},
	[OUT_GOT] = {".got", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 8, 0},
	[OUT_DATA] = {".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 0, 0},
	[OUT_BSS] = {".bss", SHT_NOBITS, SHF_ALLOC | SHF_WRITE, 0, 0},
	[OUT_DEBUG_ABBREV] = {".debug_abbrev", SHT_PROGBITS, 0, 0, 0},
	[OUT_DEBUG_ARANGES] = {".debug_aranges", SHT_PROGBITS, 0, 0, 0},
	[OUT_DEBUG_INFO] = {".debug_info", SHT_PROGBITS, 0, 0, 0},
	[OUT_DEBUG_LINE] = {".debug_line", SHT_PROGBITS, 0, 0, 0},
	[OUT_SYMTAB] = {".symtab", SHT_SYMTAB, 0, sizeof(Elf64_Sym), OUT_STRTAB},
	[OUT_STRTAB] = {".strtab", SHT_STRTAB, 0, 0, 0},
	[OUT_SHSTRTAB] = {".shstrtab", SHT_STRTAB, 0, 0, 0},
};
static const enum out_section out_of[] = {
	[SECTION_TEXT] = OUT_TEXT, [SECTION_RODATA] = OUT_RODATA, [SECTION_RELRO] = OUT_RELRO,
	[SECTION_DATA] = OUT_DATA, [SECTION_BSS] = OUT_BSS,       [SECTION_WEIGHTS] = OUT_WEIGHTS,
};

struct extent {
	uint64_t at, size, align;
};
struct image {
	struct link *l;
	struct extent out[OUT_COUNT];
	uint64_t relro_end, memory_end; /* of the RW segment */
	uint64_t gap;                   /* bytes of the weights, which are left out */
	uint64_t total;
	struct buf dynstr, symtab, strtab, shstrtab, debug[DWARF_SECTIONS];
	VEC(Elf64_Dyn) needed;
	uint32_t n_local;    /* local symbols in .symtab, with the null symbol */
	uint32_t *dynstr_of; /* name offsets of imports, then exports */
	unsigned char *file; /* without the gap */
};

static unsigned char *file_at(const struct image *im, uint64_t at) { return im->file + (at < LINK_WEIGHTS_AT ? at : at - im->gap); }

static uint32_t elf_shared_put_name(struct buf *b, const char *s)
{
	uint32_t at = (uint32_t)b->len;
	buf_put(b, s, strlen(s) + 1);
	return at;
}

static void name_dynamic(struct image *im)
{
	const struct link_request *r = im->l->request;
	buf_u8(&im->dynstr, 0);
	im->dynstr_of = ARENA_ARRAY(im->l->a, uint32_t, im->l->n_imports + r->n_exports);
	for (uint32_t i = 0; i < im->l->n_imports; i++)
		im->dynstr_of[i] = elf_shared_put_name(&im->dynstr, im->l->imports[i]);
	for (uint32_t i = 0; i < r->n_exports; i++)
		im->dynstr_of[im->l->n_imports + i] = elf_shared_put_name(&im->dynstr, r->exports[i]);
	for (uint32_t i = 0; i < r->n_needed; i++)
		vec_push(&im->needed, ((Elf64_Dyn){.d_tag = DT_NEEDED, .d_un.d_val = elf_shared_put_name(&im->dynstr, r->needed[i])}));
	if (r->soname)
		vec_push(&im->needed, ((Elf64_Dyn){.d_tag = DT_SONAME, .d_un.d_val = elf_shared_put_name(&im->dynstr, r->soname)}));
}

static uint32_t n_dynsyms(const struct image *im) { return 1 + im->l->n_imports + im->l->request->n_exports; }

/* ---- layout ---- */

static void extent_set(struct image *im, enum out_section s, uint64_t *at, uint64_t align, uint64_t size)
{
	*at = elf_align(*at, align);
	im->out[s] = (struct extent){*at, size, align};
	*at += size;
}

/* Lays out the live input sections of one kind, in order. */
static bool lay_out_kind(struct image *im, enum section_kind kind, uint64_t *at)
{
	uint64_t align = 1;
	struct link *l = im->l;
	for (uint32_t i = 0; i < l->n_sections; i++)
		if (l->sections[i].live && l->sections[i].kind == kind && l->sections[i].from->align > align)
			align = l->sections[i].from->align;
	*at = elf_align(*at, align);
	uint64_t start = *at;
	for (uint32_t i = 0; i < l->n_sections; i++) {
		struct link_section *s = &l->sections[i];
		if (!s->live || s->kind != kind)
			continue;
		*at = elf_align(*at, s->from->align);
		s->address = *at;
		if (s->from->size > (1ull << 40) - *at)
			return false;
		*at += s->from->size;
	}
	im->out[out_of[kind]] = (struct extent){start, *at - start, align};
	return true;
}

static bool lay_out(struct image *im)
{
	const struct link *l = im->l;
	uint64_t at = sizeof(Elf64_Ehdr) + N_SEGMENTS * sizeof(Elf64_Phdr);
	uint32_t n = n_dynsyms(im);
	bool fits = true;
	im->gap = elf_align(l->request->weights, LINK_WEIGHTS_AT);
	if (im->gap) {
		at = LINK_WEIGHTS_AT;
		fits &= lay_out_kind(im, SECTION_WEIGHTS, &at);
		at = LINK_WEIGHTS_AT + im->gap;
	}
	extent_set(im, OUT_HASH, &at, 8, 4 * (2 + (uint64_t)n + n));
	extent_set(im, OUT_DYNSYM, &at, 8, n * sizeof(Elf64_Sym));
	extent_set(im, OUT_DYNSTR, &at, 1, im->dynstr.len);
	extent_set(im, OUT_RELA, &at, 8, ((uint64_t)l->n_relative + l->n_symbolic) * sizeof(Elf64_Rela));
	fits &= lay_out_kind(im, SECTION_RODATA, &at);
	at = elf_align(at, ELF_PAGE);
	fits &= lay_out_kind(im, SECTION_TEXT, &at);
	extent_set(im, OUT_PLT, &at, 16, (uint64_t)l->n_stubs * STUB);
	at = elf_align(at, ELF_PAGE);
	fits &= lay_out_kind(im, SECTION_RELRO, &at);
	extent_set(im, OUT_DYNAMIC, &at, 8, ((uint64_t)im->needed.len + MAX_DYNAMIC) * sizeof(Elf64_Dyn));
	extent_set(im, OUT_GOT, &at, 8, (uint64_t)l->n_got * 8);
	im->relro_end = elf_align(at, ELF_PAGE);
	at = im->relro_end;
	fits &= lay_out_kind(im, SECTION_DATA, &at);
	uint64_t file_end = at;
	fits &= lay_out_kind(im, SECTION_BSS, &at);
	im->memory_end = at;
	at = file_end;
	im->total = at;
	return fits;
}

/* ---- contents, in ascending order; seek zeroes the gaps ---- */

struct cursor {
	unsigned char *file;
	uint64_t at, gap;
};
static unsigned char *seek(struct cursor *c, uint64_t address, uint64_t size)
{
	uint64_t at = address - c->gap;
	BUG_ON(at < c->at);
	memset(c->file + c->at, 0, at - c->at);
	c->at = at + size;
	return c->file + at;
}
static void write_kind(struct image *im, enum section_kind kind, struct cursor *c)
{
	for (uint32_t i = 0; i < im->l->n_sections; i++) {
		const struct link_section *s = &im->l->sections[i];
		if (s->live && s->kind == kind && s->from->size)
			memcpy(seek(c, s->address, s->from->size), s->from->bytes, s->from->size);
	}
}
static void write_zeros(const struct image *im, enum out_section s, struct cursor *c)
{
	memset(seek(c, im->out[s].at, im->out[s].size), 0, im->out[s].size);
}

static void write_contents(struct image *im)
{
	struct cursor c = {im->file, 0, im->gap};
	write_kind(im, SECTION_RODATA, &c);
	write_kind(im, SECTION_TEXT, &c);
	write_zeros(im, OUT_PLT, &c);
	write_kind(im, SECTION_RELRO, &c);
	write_zeros(im, OUT_DYNAMIC, &c);
	write_zeros(im, OUT_GOT, &c);
	write_kind(im, SECTION_DATA, &c);
	seek(&c, im->total, 0);
}

/* ---- dynamic symbols ---- */

static uint64_t elf_shared_address_of(const struct link *l, uint32_t symbol)
{
	return link_section_of(l, symbol)->address + l->symbols[symbol]->value;
}

static Elf64_Sym symbol_entry(const struct image *im, uint32_t symbol, uint32_t name, int bind)
{
	const struct obj_symbol *s = im->l->symbols[symbol];
	Elf64_Sym e = {.st_name = name, .st_value = elf_shared_address_of(im->l, symbol), .st_size = s->size};
	e.st_info = ELF64_ST_INFO(bind, s->function ? STT_FUNC : STT_OBJECT);
	e.st_shndx = (Elf64_Section)out_of[link_section_of(im->l, symbol)->kind];
	return e;
}

static uint32_t hash_name(const char *s)
{
	uint32_t h = 0;
	for (; *s; s++) {
		h = (h << 4) + (unsigned char)*s;
		h = (h ^ (h >> 24 & 0xf0)) & 0x0fffffff;
	}
	return h;
}

static void write_dynsym(struct image *im)
{
	const struct link *l = im->l;
	uint32_t n = n_dynsyms(im);
	uint32_t *hash = ARENA_ARRAY(l->a, uint32_t, 2 + 2 * (size_t)n);
	Elf64_Sym *syms = ARENA_ARRAY(l->a, Elf64_Sym, n);
	hash[0] = hash[1] = n;
	for (uint32_t i = 1; i < n; i++) {
		uint32_t k = i - 1 - l->n_imports;
		bool import = i <= l->n_imports;
		if (import)
			syms[i] = (Elf64_Sym){.st_name = im->dynstr_of[i - 1], .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE)};
		else
			syms[i] = symbol_entry(im, l->exports[k], im->dynstr_of[i - 1], STB_GLOBAL);
		uint32_t *bucket = &hash[2 + hash_name(import ? l->imports[i - 1] : l->request->exports[k]) % n];
		hash[2 + n + i] = *bucket;
		*bucket = i;
	}
	memcpy(file_at(im, im->out[OUT_HASH].at), hash, im->out[OUT_HASH].size);
	memcpy(file_at(im, im->out[OUT_DYNSYM].at), syms, im->out[OUT_DYNSYM].size);
	memcpy(file_at(im, im->out[OUT_DYNSTR].at), im->dynstr.at, im->dynstr.len);
}

/* ---- relocations ---- */

struct rela_out {
	Elf64_Rela *relative, *symbolic;
};

static void dynamic_reloc(const struct link *l, struct rela_out *out, uint64_t at, uint32_t target, int64_t addend, uint32_t import_type)
{
	if (link_is_import(l, target))
		*out->symbolic++ = (Elf64_Rela){at, ELF64_R_INFO((uint64_t)(target - l->n_symbols + 1), import_type), addend};
	else
		*out->relative++ = (Elf64_Rela){at, ELF64_R_INFO(0, R_X86_64_RELATIVE),
						(int64_t)(elf_shared_address_of(l, target) + (uint64_t)addend)};
}

static void write_got(struct image *im, struct rela_out *out)
{
	const struct link *l = im->l;
	for (uint32_t i = 0; i < l->n_got; i++)
		if (l->got_targets[i] != TARGET_ZERO)
			dynamic_reloc(l, out, im->out[OUT_GOT].at + 8 * (uint64_t)i, l->got_targets[i], 0, R_X86_64_GLOB_DAT);
	for (uint32_t i = 0; i < l->n_stubs; i++) { /* jmp *got(%rip); xchg %ax,%ax */
		uint64_t at = im->out[OUT_PLT].at + (uint64_t)i * STUB;
		uint64_t got = im->out[OUT_GOT].at + 8 * (uint64_t)(l->got[link_entry(l, l->stub_targets[i])] - 1);
		unsigned char code[STUB] = {0xff, 0x25, 0, 0, 0, 0, 0x66, 0x90};
		int32_t rel = (int32_t)(got - (at + 6));
		memcpy(code + 2, &rel, 4);
		memcpy(file_at(im, at), code, STUB);
	}
}

static bool apply_reloc(struct image *im, const struct link_section *s, const struct obj_reloc *r, struct rela_out *out)
{
	const struct link *l = im->l;
	uint32_t target = l->target[l->first_symbol[s->object] + r->symbol];
	uint64_t at = s->address + r->offset, to;
	if (r->kind == RELOC_ABS64) {
		if (target == TARGET_ZERO)
			memcpy(file_at(im, at), &r->addend, 8);
		else
			dynamic_reloc(l, out, at, target, r->addend, R_X86_64_64);
		return true;
	}
	if (r->kind == RELOC_GOTPC32)
		to = im->out[OUT_GOT].at + 8 * (uint64_t)(l->got[link_entry(l, target)] - 1);
	else if (target >= l->n_symbols)
		to = im->out[OUT_PLT].at + (uint64_t)(l->stub[link_entry(l, target)] - 1) * STUB;
	else
		to = elf_shared_address_of(l, target);
	int64_t value = (int64_t)(to + (uint64_t)r->addend - at);
	if (r->kind == RELOC_PC64) {
		memcpy(file_at(im, at), &value, 8);
		return true;
	}
	int32_t narrow = (int32_t)value;
	memcpy(file_at(im, at), &narrow, 4);
	if (narrow == value)
		return true;
	*l->error = arena_printf(l->a, "%s: a reference in section %s spans more than 2 GiB", l->request->objects[s->object]->name,
				 s->from->name);
	return false;
}

static bool apply_relocs(struct image *im)
{
	const struct link *l = im->l;
	Elf64_Rela *rela = ARENA_ARRAY(l->a, Elf64_Rela, (size_t)l->n_relative + l->n_symbolic);
	struct rela_out out = {rela, rela + l->n_relative};
	write_got(im, &out);
	for (uint32_t i = 0; i < l->n_sections; i++) {
		const struct link_section *s = &l->sections[i];
		for (uint32_t k = 0; s->live && k < s->n_relocs; k++)
			if (!apply_reloc(im, s, l->relocs[s->relocs + k], &out))
				return false;
	}
	BUG_ON(out.relative != rela + l->n_relative || out.symbolic != out.relative + l->n_symbolic);
	if (im->out[OUT_RELA].size)
		memcpy(file_at(im, im->out[OUT_RELA].at), rela, im->out[OUT_RELA].size);
	return true;
}

/* ---- headers ---- */

static void write_dynamic(struct image *im)
{
	const struct extent *o = im->out;
	const Elf64_Dyn rest[] = {
		{DT_HASH, {o[OUT_HASH].at}},     {DT_STRTAB, {o[OUT_DYNSTR].at}},    {DT_SYMTAB, {o[OUT_DYNSYM].at}},
		{DT_STRSZ, {im->dynstr.len}},    {DT_SYMENT, {sizeof(Elf64_Sym)}},   {DT_RELA, {o[OUT_RELA].at}},
		{DT_RELASZ, {o[OUT_RELA].size}}, {DT_RELAENT, {sizeof(Elf64_Rela)}}, {DT_RELACOUNT, {im->l->n_relative}},
		{DT_FLAGS, {DF_BIND_NOW}},       {DT_FLAGS_1, {DF_1_NOW}},           {DT_NULL, {0}},
	};
	_Static_assert(sizeof rest <= MAX_DYNAMIC * sizeof *rest, "the dynamic section has room");
	unsigned char *at = file_at(im, o[OUT_DYNAMIC].at);
	if (im->needed.len)
		memcpy(at, im->needed.at, im->needed.len * sizeof *rest);
	memcpy(at + im->needed.len * sizeof *rest, rest, sizeof rest);
}

static Elf64_Phdr elf_shared_load(uint64_t from, uint64_t file_end, uint64_t end, uint32_t flags)
{
	return (Elf64_Phdr){.p_type = PT_LOAD,
			    .p_flags = flags,
			    .p_offset = from,
			    .p_vaddr = from,
			    .p_paddr = from,
			    .p_filesz = file_end - from,
			    .p_memsz = end - from,
			    .p_align = ELF_PAGE};
}

static void write_head(struct image *im, uint64_t section_headers)
{
	const struct extent *o = im->out;
	uint64_t ro_end = o[OUT_RODATA].at + o[OUT_RODATA].size, text_end = o[OUT_PLT].at + o[OUT_PLT].size;
	uint64_t text = elf_align(ro_end, ELF_PAGE), relro = elf_align(text_end, ELF_PAGE);
	Elf64_Phdr p[N_SEGMENTS] = {
		elf_shared_load(0, ro_end, ro_end, PF_R),
		elf_shared_load(text, text_end, text_end, PF_R | PF_X),
		elf_shared_load(relro, im->total, im->memory_end, PF_R | PF_W),
		elf_shared_load(o[OUT_DYNAMIC].at, o[OUT_DYNAMIC].at + o[OUT_DYNAMIC].size, o[OUT_DYNAMIC].at + o[OUT_DYNAMIC].size,
				PF_R | PF_W),
		elf_shared_load(relro, im->relro_end, im->relro_end, PF_R),
		{.p_type = PT_GNU_STACK, .p_flags = PF_R | PF_W, .p_align = 16},
	};
	p[3].p_type = PT_DYNAMIC;
	p[3].p_align = 8;
	p[4].p_type = PT_GNU_RELRO;
	p[4].p_align = 1;
	if (text == relro) /* without code: loaders do not expect an empty segment at the address of the next */
		p[1] = (Elf64_Phdr){.p_type = PT_NULL};
	Elf64_Ehdr e = {.e_type = ET_DYN,
			.e_machine = EM_X86_64,
			.e_version = EV_CURRENT,
			.e_phoff = sizeof e,
			.e_shoff = section_headers,
			.e_ehsize = sizeof e,
			.e_phentsize = sizeof *p,
			.e_phnum = N_SEGMENTS,
			.e_shentsize = sizeof(Elf64_Shdr),
			.e_shnum = OUT_COUNT,
			.e_shstrndx = OUT_SHSTRTAB};
	memcpy(e.e_ident, ELFMAG "\2\1\1", 7);
	memcpy(im->file, &e, sizeof e);
	memcpy(im->file + sizeof e, p, sizeof p);
}

/* Returns the name of a function for people. Static functions of the runtime, such as "block", get the name of their file. */
static const char *name_of_function(const struct link *l, const struct linked_code *c, const struct obj_symbol *s)
{
	if (c->n && s->section == c->section)
		return linked_code_name(l->a, c, s);
	return s->global || !*c->o->name ? s->name : arena_printf(l->a, "%s: %s", s->name, c->o->name);
}

/* Makes the symbol table, for debuggers and profilers. */
static void make_symtab(struct image *im, const struct linked_code *codes)
{
	const struct link *l = im->l;
	Elf64_Sym none = {0};
	buf_put(&im->symtab, &none, sizeof none);
	buf_u8(&im->strtab, 0);
	im->n_local = 1;
	for (uint32_t i = 0; i < l->n_symbols; i++) {
		const struct obj_symbol *s = l->symbols[i];
		if (!s->function || !s->name[0] || s->section == OBJ_UNDEFINED || !link_section_of(l, i)->live)
			continue;
		const char *name = name_of_function(l, &codes[l->symbol_object[i]], s);
		Elf64_Sym e = symbol_entry(im, i, elf_shared_put_name(&im->strtab, name), STB_LOCAL);
		buf_put(&im->symtab, &e, sizeof e);
		im->n_local++;
	}
	for (uint32_t i = 0; i < l->request->n_exports; i++) {
		Elf64_Sym e = symbol_entry(im, l->exports[i], elf_shared_put_name(&im->strtab, l->request->exports[i]), STB_GLOBAL);
		buf_put(&im->symtab, &e, sizeof e);
	}
}

static void put_unloaded(struct image *im, struct buf *out, size_t start, enum out_section s, const struct buf *bytes, uint64_t align)
{
	while ((out->len - start) % align)
		buf_u8(out, 0);
	im->out[s] = (struct extent){out->len - start + im->gap, bytes->len, align};
	buf_put(out, bytes->at, bytes->len);
}

static uint64_t put_sections(struct image *im, struct buf *out, size_t start)
{
	Elf64_Shdr h[OUT_COUNT] = {{0}};
	for (int i = 0; i < OUT_COUNT; i++) {
		h[i].sh_name = elf_shared_put_name(&im->shstrtab, out_table[i].name);
		h[i].sh_type = out_table[i].type;
		h[i].sh_flags = out_table[i].flags;
		h[i].sh_entsize = out_table[i].entsize;
		h[i].sh_link = out_table[i].link;
	}
	for (int i = 0; i < DWARF_SECTIONS; i++)
		put_unloaded(im, out, start, OUT_DEBUG_ABBREV + i, &im->debug[i], 1);
	put_unloaded(im, out, start, OUT_SYMTAB, &im->symtab, 8);
	put_unloaded(im, out, start, OUT_STRTAB, &im->strtab, 1);
	put_unloaded(im, out, start, OUT_SHSTRTAB, &im->shstrtab, 1);
	for (int i = 1; i < OUT_COUNT; i++) {
		h[i].sh_addr = h[i].sh_flags & SHF_ALLOC ? im->out[i].at : 0;
		h[i].sh_offset = im->out[i].at;
		h[i].sh_size = im->out[i].size;
		h[i].sh_addralign = im->out[i].align;
	}
	h[OUT_BSS].sh_offset = im->total;
	h[OUT_DYNSYM].sh_info = 1; /* first global */
	h[OUT_SYMTAB].sh_info = im->n_local;
	while ((out->len - start) % 8)
		buf_u8(out, 0);
	uint64_t at = out->len - start + im->gap;
	buf_put(out, h, sizeof h);
	return at;
}

/* Appends `n` bytes without writing them. */
static void elf_shared_extend(struct buf *b, size_t n)
{
	if (b->cap - b->len <= n) {
		b->cap = b->len + n + n / 8 + 65536;
		b->at = realloc(b->at, b->cap);
		BUG_ON(!b->at);
	}
	b->len += n;
	b->at[b->len] = 0;
}

static bool write_image(struct image *im, struct buf *out)
{
	size_t start = out->len;
	elf_shared_extend(out, im->total - im->gap);
	im->file = (unsigned char *)out->at + start;
	write_contents(im);
	write_dynsym(im);
	write_dynamic(im);
	if (!apply_relocs(im)) {
		out->len = start;
		return false;
	}
	const struct linked_code *codes = linked_code_find(im->l);
	make_symtab(im, codes);
	dwarf_write(im->l, codes, im->out[OUT_TEXT].at, im->out[OUT_TEXT].size, im->debug);
	uint64_t headers = put_sections(im, out, start);
	im->file = (unsigned char *)out->at + start;
	write_head(im, headers);
	return true;
}

bool link_shared(struct arena *scratch, const struct link_request *r, struct buf *out, const char **error)
{
	struct link l = {.a = scratch, .request = r, .error = error};
	struct image im = {.l = &l};
	bool ok = link_resolve(&l);
	if (ok) {
		name_dynamic(&im);
		ok = lay_out(&im);
		if (!ok)
			*error = "the library is larger than 1 TiB";
	}
	ok = ok && write_image(&im, out);
	map_free(&l.globals);
	vec_free(&im.needed);
	buf_free(&im.dynstr);
	buf_free(&im.symtab);
	buf_free(&im.strtab);
	buf_free(&im.shstrtab);
	for (int i = 0; i < DWARF_SECTIONS; i++)
		buf_free(&im.debug[i]);
	return ok;
}
