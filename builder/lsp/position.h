/* Positions of the protocol, line and character from 0, and byte offsets. Characters count UTF-16 units unless UTF-8 was agreed on. */
#ifndef TRIB_BUILDER_LSP_POSITION_H
#define TRIB_BUILDER_LSP_POSITION_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lsp_position {
	int64_t line, character;
};

/* The byte of a position; one beyond its line's end, or the text's, or inside a character, is moved back to it. */
size_t position_offset(const char *text, size_t len, struct lsp_position p, bool utf8);
/* The characters that the first bytes of a line take. */
uint32_t position_width(const char *line, size_t bytes, bool utf8);
#endif
