#include "builder/profile/table.h"
#include <stdarg.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/bug.h"

void table_add(struct table *t, const char *text) { vec_push(&t->cells, text ? arena_strdup(t->arena, text) : ""); }

void table_addf(struct table *t, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	const char *text = arena_vprintf(t->arena, format, ap);
	va_end(ap);
	vec_push(&t->cells, text);
}

/* Characters, not bytes. */
static uint32_t width_of(const char *text)
{
	uint32_t n = 0;
	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

static void put_cell(struct buf *out, const char *text, uint32_t width, bool at_end)
{
	int pad = (int)(width - width_of(text));
	if (at_end)
		buf_printf(out, "%*s%s", pad, "", text);
	else
		buf_printf(out, "%s%*s", text, pad, "");
}

/* A bar would end the cell of a markdown table. */
static void put_escaped(struct buf *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '|')
			buf_putc(out, '\\');
		buf_putc(out, *text);
	}
}

static void print_markdown(const struct table *t, struct buf *out)
{
	for (uint32_t i = 0; i < t->n_columns; i++)
		buf_printf(out, "%s %s |", i ? "" : "|", t->columns[i].title);
	buf_puts(out, "\n|");
	for (uint32_t i = 0; i < t->n_columns; i++)
		buf_puts(out, t->columns[i].is_number ? "---:|" : "---|");
	for (uint32_t i = 0; i < t->cells.len; i++) {
		buf_puts(out, i % t->n_columns ? " " : "\n| ");
		put_escaped(out, t->cells.at[i]);
		buf_puts(out, " |");
	}
	buf_putc(out, '\n');
}

static void trim_line(struct buf *out)
{
	while (out->len && out->at[out->len - 1] == ' ')
		out->at[--out->len] = 0;
	buf_putc(out, '\n');
}

static void print_text(const struct table *t, struct buf *out)
{
	uint32_t widths[TABLE_COLUMNS];
	for (uint32_t i = 0; i < t->n_columns; i++)
		widths[i] = width_of(t->columns[i].title);
	for (uint32_t i = 0; i < t->cells.len; i++) {
		uint32_t w = width_of(t->cells.at[i]), *column = &widths[i % t->n_columns];
		*column = w > *column ? w : *column;
	}
	for (uint32_t i = 0; i < t->n_columns + t->cells.len; i++) {
		uint32_t k = i % t->n_columns;
		buf_puts(out, "  ");
		put_cell(out, i < t->n_columns ? t->columns[k].title : t->cells.at[i - t->n_columns], widths[k], t->columns[k].is_number);
		if (k + 1 == t->n_columns)
			trim_line(out);
	}
}

void table_print(struct table *t, bool markdown, struct buf *out)
{
	BUG_ON(!t->n_columns || t->cells.len % t->n_columns);
	if (markdown)
		print_markdown(t, out);
	else
		print_text(t, out);
	vec_free(&t->cells);
}
