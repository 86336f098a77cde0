/* Relies on what elf_shared.c writes: file offsets equal addresses, and a library without imports has only R_X86_64_RELATIVE
 * relocations. Memory is never writable and executable at the same time. */
#include "backend/link/elf/load.h"
#include <string.h>
#include <sys/mman.h>
#include "backend/link/elf/elf_x86_64.h"
#include "base/bug.h"

struct dynamic {
	const Elf64_Sym *symbols;
	const char *strings;
	const Elf64_Word *hash;
	const Elf64_Rela *relocs;
	size_t n_relocs;
};

static const Elf64_Phdr *headers(const char *base, uint32_t *n)
{
	const Elf64_Ehdr *e = (const void *)base;
	*n = e->e_phnum;
	return (const void *)(base + e->e_phoff);
}

static struct dynamic find_dynamic(const char *base)
{
	struct dynamic d = {0};
	uint32_t n;
	const Elf64_Phdr *h = headers(base, &n);
	while (h->p_type != PT_DYNAMIC)
		h++;
	for (const Elf64_Dyn *t = (const void *)(base + h->p_vaddr); t->d_tag != DT_NULL; t++) {
		const char *at = base + t->d_un.d_ptr;
		switch (t->d_tag) {
		case DT_SYMTAB: d.symbols = (const void *)at; break;
		case DT_STRTAB: d.strings = at; break;
		case DT_HASH: d.hash = (const void *)at; break;
		case DT_RELA: d.relocs = (const void *)at; break;
		case DT_RELASZ: d.n_relocs = t->d_un.d_val / sizeof(Elf64_Rela); break;
		}
	}
	return d;
}

static void relocate(char *base)
{
	struct dynamic d = find_dynamic(base);
	for (size_t i = 0; i < d.n_relocs; i++) {
		BUG_ON(ELF64_R_TYPE(d.relocs[i].r_info) != R_X86_64_RELATIVE);
		const char *to = base + d.relocs[i].r_addend;
		memcpy(base + d.relocs[i].r_offset, &to, sizeof to);
	}
}

static bool protect(char *base)
{
	uint32_t n;
	const Elf64_Phdr *h = headers(base, &n);
	for (uint32_t i = 0; i < n; i++) {
		int flags = PROT_READ | (h[i].p_flags & PF_X ? PROT_EXEC : 0) | (h[i].p_flags & PF_W ? PROT_WRITE : 0);
		uint64_t from = h[i].p_vaddr / ELF_PAGE * ELF_PAGE, to = elf_align(h[i].p_vaddr + h[i].p_memsz, ELF_PAGE);
		if (h[i].p_type == PT_LOAD && mprotect(base + from, to - from, flags) != 0)
			return false;
	}
	return true;
}

const char *load_image(const void *bytes, size_t len)
{
	uint32_t n;
	uint64_t size = len;
	const Elf64_Phdr *h = headers(bytes, &n);
	for (uint32_t i = 0; i < n; i++)
		if (h[i].p_type == PT_LOAD && h[i].p_vaddr + h[i].p_memsz > size)
			size = h[i].p_vaddr + h[i].p_memsz;
	size = elf_align(size, ELF_PAGE);
	char *base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (base == MAP_FAILED)
		return NULL;
	memcpy(base, bytes, len);
	relocate(base);
	if (protect(base))
		return base;
	munmap(base, size);
	return NULL;
}

const void *load_symbol(const char *base, const char *name)
{
	struct dynamic d = find_dynamic(base);
	for (Elf64_Word i = 1; i < d.hash[1]; i++) /* as many as chains */
		if (strcmp(d.strings + d.symbols[i].st_name, name) == 0)
			return base + d.symbols[i].st_value;
	return NULL;
}

void load_functions(const void *image, size_t len, load_function *f, void *ctx)
{
	const char *file = image;
	const Elf64_Ehdr *e = image;
	const Elf64_Shdr *sections = (const void *)(file + e->e_shoff);
	for (uint32_t i = 0; i < e->e_shnum; i++) {
		if (sections[i].sh_type != SHT_SYMTAB)
			continue;
		const Elf64_Sym *symbols = (const void *)(file + sections[i].sh_offset);
		const char *names = file + sections[sections[i].sh_link].sh_offset;
		BUG_ON(sections[i].sh_offset + sections[i].sh_size > len);
		for (uint64_t k = 0; k < sections[i].sh_size / sizeof *symbols; k++)
			if (ELF64_ST_TYPE(symbols[k].st_info) == STT_FUNC && ELF64_ST_BIND(symbols[k].st_info) == STB_LOCAL)
				f(ctx, names + symbols[k].st_name, symbols[k].st_value, symbols[k].st_size);
	}
}
