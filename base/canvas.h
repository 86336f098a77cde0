/* A grid of styled characters for terminals: rows are written at columns in any order, then printed. */
#ifndef TRIB_BASE_CANVAS_H
#define TRIB_BASE_CANVAS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
enum style { STYLE_PLAIN, STYLE_BOLD, STYLE_GUTTER, STYLE_ERROR, STYLE_WARNING, STYLE_NOTE, STYLE_SECONDARY, STYLE_ADDED, STYLE_REMOVED };

/* One row; `{0}` is empty. */
struct row {
	struct cell *cells; /* malloc-backed */
	uint32_t len, cap;
};
/* Writes text at column `col` (from 0), over earlier text, and returns the column after it. Tabs become four spaces. Unsafe characters
 * (base/foreign.h) and invalid UTF-8 become U+FFFD, so that no source text can manipulate the terminal. */
uint32_t row_put(struct row *r, uint32_t col, enum style style, const char *text, size_t n);
uint32_t row_puts(struct row *r, uint32_t col, enum style style, const char *text);
/* Writes the ASCII character c `n` times. */
void row_fill(struct row *r, uint32_t col, uint32_t n, enum style style, char c);
/* Appends the row, without trailing spaces, and a newline to `out`, and empties the row. `colour`: with ANSI escapes. */
void row_flush(struct row *r, struct buf *out, bool colour);
void row_free(struct row *r);

/* The columns of the character at text[0] in row_put; *bytes: its length. */
uint32_t canvas_width(const char *text, size_t n, size_t *bytes);
#endif
