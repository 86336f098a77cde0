/* The parts of ELF that this folder reads and writes. <elf.h> has them all; what is here is how we address raw bytes. */
#ifndef TRIB_BACKEND_LINK_ELF_X86_64_H
#define TRIB_BACKEND_LINK_ELF_X86_64_H
#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ELF_PAGE = 4096 };

/* May [offset, offset + size) be read of `len` bytes? */
static inline bool elf_in(uint64_t offset, uint64_t size, uint64_t len) { return offset <= len && size <= len - offset; }
static inline uint64_t elf_align(uint64_t v, uint64_t align) { return (v + align - 1) / align * align; }
#endif
