/* Prints a suggested edit as changed lines. */
#include "base/diag_excerpt.h"
#include <stdio.h>
#include <string.h>
#include "base/buf.h"
#include "base/vec.h"

#define TEXT_COLUMNS 120
#define MOST_LINES 8 /* on each side */

struct line {
	const char *at;
	uint32_t len;
};
typedef VEC(struct line) line_list;

static line_list diag_edit_split(const char *text, size_t len)
{
	line_list lines = {0};
	const char *end = text + len;

	for (;;) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		uint32_t n = (uint32_t)((stop ? stop : end) - text);

		vec_push(&lines, ((struct line){text, n > 0 && text[n - 1] == '\r' ? n - 1 : n}));
		if (!stop)
			return lines;
		text = stop + 1;
	}
}

static bool diag_edit_same(struct line a, struct line b) { return a.len == b.len && memcmp(a.at, b.at, a.len) == 0; }

/* Drops equal lines at both ends. Returns the number of equal lines at the start. */
static uint32_t diag_edit_trim(line_list *a, line_list *b)
{
	uint32_t start = 0;

	while (a->len > 0 && b->len > 0 && diag_edit_same(a->at[a->len - 1], b->at[b->len - 1])) {
		a->len--;
		b->len--;
	}
	while (start < a->len && start < b->len && diag_edit_same(a->at[start], b->at[start]))
		start++;
	return start;
}

static void print_lines(const struct excerpt_format *format, const line_list *lines, uint32_t from, uint32_t first_number, char sign)
{
	enum style style = sign == '+' ? STYLE_ADDED : STYLE_REMOVED;
	struct row r = {0};

	for (uint32_t i = from; i < lines->len; i++) {
		const struct line *l = &lines->at[i];
		char head[32];
		uint32_t col;
		size_t bytes;

		if (i - from == MOST_LINES) {
			row_puts(&r, 0, STYLE_GUTTER, "...");
			row_flush(&r, format->out, format->colour);
			break;
		}
		snprintf(head, sizeof head, "%*u ", (int)format->gutter, first_number + i);
		col = row_puts(&r, 0, STYLE_GUTTER, head);
		row_put(&r, col, style, &sign, 1);
		col += 2;
		for (size_t k = 0; k < l->len && col < TEXT_COLUMNS; k += bytes) {
			uint32_t width = canvas_width(l->at + k, l->len - k, &bytes);

			row_put(&r, col, style, l->at + k, bytes);
			col += width;
			if (col >= TEXT_COLUMNS && k + bytes < l->len)
				row_puts(&r, col, STYLE_GUTTER, "...");
		}
		row_flush(&r, format->out, format->colour);
	}
	row_free(&r);
}

void excerpt_print_edit(const struct excerpt_format *format, span at, const char *replacement)
{
	const struct source *s = sources_get(format->sources, at.source);
	uint32_t from = source_line_start(s, at.start), to = source_line_end(s, at.end), same_lines;
	uint32_t number = source_position(format->sources, at.source, from).line;
	struct buf changed = {0};
	line_list old = diag_edit_split(s->text + from, to - from), new;

	buf_put(&changed, s->text + from, at.start - from);
	buf_puts(&changed, replacement);
	buf_put(&changed, s->text + at.end, to - at.end);
	new = diag_edit_split(changed.at, changed.len);
	same_lines = diag_edit_trim(&old, &new);
	print_lines(format, &old, same_lines, number, '-');
	print_lines(format, &new, same_lines, number, '+');
	vec_free(&old);
	vec_free(&new);
	buf_free(&changed);
}
