/* ELF for x86-64: bounds and alignment of raw bytes. The structures are those of <elf.h>. */
#ifndef TRIB_BACKEND_LINK_ELF_ELF_X86_64_H
#define TRIB_BACKEND_LINK_ELF_ELF_X86_64_H
#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ELF_PAGE = 4096 };

/* True if [offset, offset + size) is inside `len` bytes. */
static inline bool elf_in(uint64_t offset, uint64_t size, uint64_t len) { return offset <= len && size <= len - offset; }
static inline uint64_t elf_align(uint64_t v, uint64_t align) { return (v + align - 1) / align * align; }
#endif
