#include "backend/link/thunk_x86_64.h"
#include <string.h>
#include "backend/link/object.h"
#include "base/arena.h"

/* Code that ends in `jmp rel32` to target. */
static uint32_t finish(struct object *o, const char *name, const unsigned char *code, uint32_t len, uint32_t target, uint32_t *section)
{
	*section = object_section(o, SECTION_TEXT, arena_printf(o->arena, ".text.%s", name), arena_strndup(o->arena, (const char *)code, len), len, 16);
	object_reloc(o, *section, len - 4, target, RELOC_PLT32, -4);
	return object_symbol(o, name, *section, 0, len, true, true);
}

uint32_t thunk_open(struct object *o, const char *name, uint32_t target, uint32_t desc)
{
	static const unsigned char code[] = {0x48, 0x8d, 0x15, 0, 0, 0, 0, /* lea desc(%rip), %rdx */
	                                     0xe9, 0, 0, 0, 0};
	uint32_t section, symbol = finish(o, name, code, sizeof code, target, &section);
	object_reloc(o, section, 3, desc, RELOC_PC32, -4);
	return symbol;
}

uint32_t thunk_run(struct object *o, const char *name, uint32_t target, uint32_t entry)
{
	unsigned char code[] = {0x48, 0x89, 0xd1,       /* mov %rdx, %rcx */
	                        0x48, 0x89, 0xf2,       /* mov %rsi, %rdx */
	                        0xbe, 0, 0, 0, 0,       /* mov $entry, %esi */
	                        0xe9, 0, 0, 0, 0};
	uint32_t section;
	memcpy(code + 7, &entry, 4);
	return finish(o, name, code, sizeof code, target, &section);
}

uint32_t thunk_jump(struct object *o, const char *name, uint32_t target)
{
	static const unsigned char code[] = {0xe9, 0, 0, 0, 0};
	uint32_t section;
	return finish(o, name, code, sizeof code, target, &section);
}
