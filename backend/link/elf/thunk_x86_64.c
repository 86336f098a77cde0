#include "backend/link/elf/thunk_x86_64.h"
#include <string.h>
#include "backend/link/elf/object.h"
#include "base/arena.h"

/* Adds code that ends in `jmp rel32` to target. */
static uint32_t add_jump(struct object *o, const char *name, const unsigned char *code, uint32_t len, uint32_t target, uint32_t *section)
{
	*section = object_section(o, SECTION_TEXT, arena_printf(o->arena, ".text.%s", name),
				  arena_strndup(o->arena, (const char *)code, len), len, 16);
	object_reloc(o, *section, len - 4, target, RELOC_PLT32, -4);
	return object_symbol(o, name, *section, 0, len, true, true);
}

uint32_t thunk_open(struct object *o, const char *name, uint32_t target, uint32_t desc)
{
	static const unsigned char code[] = {0x48, 0x8d, 0x15, 0, 0, 0, 0, /* lea desc(%rip), %rdx */
					     0xe9, 0,    0,    0, 0};
	uint32_t section, symbol = add_jump(o, name, code, sizeof code, target, &section);
	object_reloc(o, section, 3, desc, RELOC_PC32, -4);
	return symbol;
}

uint32_t thunk_run(struct object *o, const char *name, uint32_t target, uint32_t entry)
{
	unsigned char code[] = {0x4d, 0x89, 0xc1,       /* mov %r8, %r9 */
				0x49, 0x89, 0xc8,       /* mov %rcx, %r8 */
				0x48, 0x89, 0xd1,       /* mov %rdx, %rcx */
				0x48, 0x89, 0xf2,       /* mov %rsi, %rdx */
				0xbe, 0,    0,    0, 0, /* mov $entry, %esi */
				0xe9, 0,    0,    0, 0};
	uint32_t section;
	memcpy(code + 13, &entry, 4);
	return add_jump(o, name, code, sizeof code, target, &section);
}

uint32_t thunk_jump(struct object *o, const char *name, uint32_t target)
{
	static const unsigned char code[] = {0xe9, 0, 0, 0, 0};
	uint32_t section;
	return add_jump(o, name, code, sizeof code, target, &section);
}

uint32_t thunk_slot(struct object *o, const char *name, uint32_t slots, uint64_t offset)
{
	static const unsigned char code[] = {0xff, 0x25, 0, 0, 0, 0}; /* jmp *slot(%rip) */
	uint32_t len = sizeof code;
	uint32_t section = object_section(o, SECTION_TEXT, arena_printf(o->arena, ".text.%s", name), code, len, 8);
	object_reloc(o, section, 2, slots, RELOC_PC32, (int64_t)offset - 4);
	return object_symbol(o, name, section, 0, len, true, true);
}

/* lea units + offset(%rip), register; jmp target */
static uint32_t add_call_of_unit(struct object *o, const char *name, const unsigned char lea[3], uint32_t target, uint32_t units,
				 uint64_t offset)
{
	unsigned char code[] = {lea[0], lea[1], lea[2], 0, 0, 0, 0, 0xe9, 0, 0, 0, 0};
	uint32_t section, symbol = add_jump(o, name, code, sizeof code, target, &section);
	object_reloc(o, section, 3, units, RELOC_PC32, (int64_t)offset - 4);
	return symbol;
}

uint32_t thunk_first_run(struct object *o, const char *name, uint32_t target, uint32_t units, uint64_t offset)
{
	static const unsigned char lea_r9[] = {0x4c, 0x8d, 0x0d};
	return add_call_of_unit(o, name, lea_r9, target, units, offset);
}

uint32_t thunk_first_scratch(struct object *o, const char *name, uint32_t target, uint32_t units, uint64_t offset)
{
	static const unsigned char lea_rsi[] = {0x48, 0x8d, 0x35};
	return add_call_of_unit(o, name, lea_rsi, target, units, offset);
}

uint32_t thunk_profile(struct object *o, const char *name, uint32_t target, uint32_t units, uint64_t offset)
{
	static const unsigned char lea_rcx[] = {0x48, 0x8d, 0x0d};
	return add_call_of_unit(o, name, lea_rcx, target, units, offset);
}

uint32_t thunk_far(struct object *o, const char *name, const void *address, bool through)
{
	unsigned char code[] = {0x48, 0xb8,
				0,    0,
				0,    0,
				0,    0,
				0,    0,                      /* movabs $address, %rax */
				0xff, through ? 0x20 : 0xe0}; /* jmp *(%rax), jmp *%rax */
	uint32_t len = sizeof code;
	memcpy(code + 2, &address, sizeof address);
	const void *bytes = arena_strndup(o->arena, (const char *)code, len);
	return object_symbol(o, name, object_section(o, SECTION_TEXT, ".text.far", bytes, len, 8), 0, len, true, true);
}
