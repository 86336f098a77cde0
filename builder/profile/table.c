#include "builder/profile/table.h"
#include <stdarg.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/bug.h"
#include "base/foreign.h"

void table_add(struct table *t, const char *text) { vec_push(&t->cells, text ? arena_strdup(t->arena, text) : ""); }

void table_addf(struct table *t, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	const char *text = arena_vprintf(t->arena, format, ap);
	va_end(ap);
	vec_push(&t->cells, text);
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
		foreign_puts(out, FOREIGN_MARKDOWN, t->cells.at[i]);
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

static const char *cell_at(const struct table *t, uint32_t i)
{
	return i < t->n_columns ? t->columns[i].title : t->cells.at[i - t->n_columns];
}

static void print_text(const struct table *t, struct buf *out)
{
	int widths[TABLE_COLUMNS] = {0};
	uint32_t n = t->n_columns + t->cells.len;
	for (uint32_t i = 0; i < n; i++) {
		int w = (int)foreign_columns(cell_at(t, i)), *column = &widths[i % t->n_columns];
		*column = w > *column ? w : *column;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = i % t->n_columns;
		foreign_printf(out, FOREIGN_LINE, t->columns[k].is_number ? "  %*s" : "  %-*s", widths[k], cell_at(t, i));
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
