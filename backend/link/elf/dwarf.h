/* The debug information of a linked library (DWARF 4): a line table, and a function for each unit with the calls that were inlined. */
#ifndef TRIB_BACKEND_LINK_ELF_DWARF_H
#define TRIB_BACKEND_LINK_ELF_DWARF_H
#include <stdint.h>
#include "base/buf.h"

struct link;
struct linked_code;

enum dwarf_section { DWARF_ABBREV, DWARF_ARANGES, DWARF_INFO, DWARF_LINE, DWARF_SECTIONS };
/* Fills the sections, which the caller frees, once the link has addresses. They stay empty if no object has lines. `text`, `size`: of all
 * code. */
void dwarf_write(const struct link *l, const struct linked_code *codes, uint64_t text, uint64_t size, struct buf out[DWARF_SECTIONS]);
#endif
