/* Positions of the protocol (line and character, from 0) and byte offsets. Characters are UTF-16 units, or bytes if UTF-8 was negotiated. */
#ifndef TRIB_BUILDER_LSP_POSITION_H
#define TRIB_BUILDER_LSP_POSITION_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lsp_position {
	int64_t line, character;
};

/* Returns the byte offset. A position beyond the end of its line or text, or inside a character, is moved back. */
size_t position_offset(const char *text, size_t len, struct lsp_position p, bool utf8);
/* Returns the number of characters in the first bytes of a line. */
uint32_t position_width(const char *line, size_t bytes, bool utf8);
#endif
