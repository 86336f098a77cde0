#include "base/canvas.h"
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/bug.h"
#include "base/foreign.h"
#include "base/utf8.h"

#define TAB_COLUMNS 4

struct cell {
	char bytes[14]; /* a character and a few combining marks */
	uint8_t len;    /* 0: the right half of a wide character */
	uint8_t style;
};

static const char *const escapes[] = {
	[STYLE_PLAIN] = "0",          [STYLE_BOLD] = "0;1",       [STYLE_GUTTER] = "0;1;34",
	[STYLE_ERROR] = "0;1;31",     [STYLE_WARNING] = "0;1;33", [STYLE_NOTE] = "0;1;32",
	[STYLE_SECONDARY] = "0;1;34", [STYLE_ADDED] = "0;32",     [STYLE_REMOVED] = "0;31",
};

static struct cell *cell_at(struct row *r, uint32_t col)
{
	if (col >= r->cap) {
		r->cap = col + 64 + r->cap;
		r->cells = realloc(r->cells, r->cap * sizeof *r->cells);
		if (!r->cells)
			bug_no_memory();
	}
	for (; r->len <= col; r->len++)
		r->cells[r->len] = (struct cell){" ", 1, STYLE_PLAIN};
	return &r->cells[col];
}

/* The character to show for the one at text[0], and its columns. */
static uint32_t shown(const char *text, size_t n, size_t *bytes, uint32_t *cp)
{
	*bytes = utf8_decode(text, n, cp);
	if (*cp == '\t') {
		*cp = ' ';
		return TAB_COLUMNS;
	}
	if (foreign_is_unsafe(*cp))
		*cp = 0xFFFD;
	return *cp == 0xFFFD ? 1 : utf8_width(*cp);
}

uint32_t canvas_width(const char *text, size_t n, size_t *bytes)
{
	uint32_t cp;

	if (*text >= ' ' && *text <= '~') /* fast path: most characters are ASCII */
		return *bytes = 1, 1;
	return shown(text, n, bytes, &cp);
}

static void put_mark(struct row *r, uint32_t col, const char *mark, size_t n)
{
	struct cell *c;

	if (col == 0 || col > r->len)
		return; /* no character to combine with */
	c = &r->cells[col - 1];
	if (c->len == 0)
		c--; /* the left half of a wide character */
	if (c->len + n <= sizeof c->bytes) {
		memcpy(c->bytes + c->len, mark, n);
		c->len = (uint8_t)(c->len + n);
	}
}

static void put_char(struct row *r, uint32_t col, enum style style, uint32_t cp, uint32_t width)
{
	char text[4];
	size_t n = utf8_put(cp, text);
	struct cell *c;

	if (width == 0) {
		put_mark(r, col, text, n);
		return;
	}
	if (cp == ' ') {
		row_fill(r, col, width, style, ' ');
		return;
	}
	c = cell_at(r, col);
	memcpy(c->bytes, text, n);
	c->len = (uint8_t)n;
	c->style = (uint8_t)style;
	if (width == 2) {
		c = cell_at(r, col + 1);
		c->len = 0;
		c->style = (uint8_t)style;
	}
}

uint32_t row_put(struct row *r, uint32_t col, enum style style, const char *text, size_t n)
{
	size_t i = 0;

	while (i < n) {
		size_t bytes;
		uint32_t cp, width = shown(text + i, n - i, &bytes, &cp);

		put_char(r, col, style, foreign_is_command(text, i) ? 0xFFFD : cp, width);
		col += width;
		i += bytes;
	}
	return col;
}

uint32_t row_puts(struct row *r, uint32_t col, enum style style, const char *text) { return row_put(r, col, style, text, strlen(text)); }

void row_fill(struct row *r, uint32_t col, uint32_t n, enum style style, char c)
{
	for (uint32_t i = 0; i < n; i++)
		*cell_at(r, col + i) = (struct cell){{c}, 1, (uint8_t)style};
}

static bool is_space(const struct cell *c) { return c->len == 1 && c->bytes[0] == ' '; }

void row_flush(struct row *r, struct buf *out, bool colour)
{
	uint8_t style = STYLE_PLAIN;

	while (r->len > 0 && is_space(&r->cells[r->len - 1]))
		r->len--;
	for (uint32_t i = 0; i < r->len; i++) {
		const struct cell *c = &r->cells[i];

		if (colour && c->style != style && !is_space(c))
			buf_printf(out, "\033[%sm", escapes[style = c->style]);
		buf_put(out, c->bytes, c->len);
	}
	if (style != STYLE_PLAIN)
		buf_puts(out, "\033[0m");
	buf_putc(out, '\n');
	r->len = 0;
}

void row_free(struct row *r)
{
	free(r->cells);
	*r = (struct row){0};
}
