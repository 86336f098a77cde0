#include "builder/profile/report.h"
#include <math.h>
#include <stdarg.h>
#include "base/arena.h"
#include "base/bug.h"
#include "base/foreign.h"
#include "builder/profile/figures.h"

static bool is_markdown(const struct report *r) { return r->options.format == REPORT_MARKDOWN; }

struct report report_open(const struct report_options *o, struct buf *out, const char *type)
{
	struct report r = {*o, arena_new(0), out, {.out = out}};
	if (report_is_json(&r) && type) {
		json_open(&r.json, '{');
		json_member_str(&r.json, "type", type);
	}
	return r;
}

void report_close(struct report *r)
{
	if (r->json.need_comma) {
		json_close(&r->json, '}');
		buf_putc(r->out, '\n');
	}
	arena_free(r->arena);
}

void report_say(struct report *r, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	if (!report_is_json(r))
		foreign_vprintf(r->out, is_markdown(r) ? FOREIGN_MARKDOWN : FOREIGN_LINE, format, ap);
	va_end(ap);
}

void report_put(struct report *r, const char *text)
{
	if (!report_is_json(r))
		buf_puts(r->out, text);
}

void report_title(struct report *r, const char *title) { report_say(r, is_markdown(r) ? "\n### %s\n\n" : "\n%s\n", title); }

void report_code(struct report *r, const char *text) { foreign_puts(r->out, is_markdown(r) ? FOREIGN_CODE : FOREIGN_LINE, text); }

/* ---- JSON ---- */

static void put_member(struct report *r, const char *name, enum cell_kind kind, const struct cell *c)
{
	if (c->is == CELL_IS_BLANK || !name)
		return;
	if (c->is == CELL_IS_TEXT)
		json_member_str(&r->json, name, c->text);
	else if (kind == CELL_BOOL)
		json_member_bool(&r->json, name, c->number != 0);
	else if (fabs(c->number) < 9e15 && c->number == floor(c->number))
		json_member_int(&r->json, name, (int64_t)c->number);
	else
		json_member_real(&r->json, name, c->number);
}

void report_members(struct report *r, const struct column *columns, const struct cell *cells, uint32_t n)
{
	for (uint32_t i = 0; i < n && report_is_json(r); i++)
		put_member(r, columns[i].name, columns[i].kind, &cells[i]);
}

void report_member(struct report *r, const char *name, struct cell value)
{
	if (report_is_json(r))
		put_member(r, name, CELL_WORD, &value);
}

static void print_objects(struct table *t, const char *name)
{
	struct json_writer *w = &t->report->json;
	json_member_open(w, name, '[');
	for (uint32_t i = 0; i < t->cells.len; i += t->n_columns) {
		json_open(w, '{');
		report_members(t->report, t->columns, t->cells.at + i, t->n_columns);
		json_close(w, '}');
	}
	json_close(w, ']');
}

/* ---- text ---- */

static const char *cell_text(struct arena *a, enum cell_kind kind, const struct cell *c)
{
	char text[FIGURE_SIZE];
	if (c->is != CELL_IS_NUMBER)
		return c->text ? c->text : "";
	switch (kind) {
	case CELL_NS: return figure_new(a, UNIT_NS, c->number);
	case CELL_BYTES: return figure_new(a, UNIT_BYTES, c->number);
	case CELL_COUNT: return figure_new(a, UNIT_COUNT, c->number);
	case CELL_CHANGE: return arena_strdup(a, figure_change(c->number, text));
	case CELL_SHARE: return arena_printf(a, "%.0f %%", 100 * c->number);
	case CELL_PERCENT: return arena_printf(a, "%.1f %%", 100 * c->number);
	case CELL_TENTHS: return arena_printf(a, "%.1f", c->number);
	case CELL_HUNDREDTHS: return arena_printf(a, "%.2f", c->number);
	default: return arena_printf(a, "%.0f", c->number);
	}
}

static bool report_is_shown(const struct table *t, uint32_t k)
{
	for (uint32_t i = k; i < t->cells.len && t->columns[k].title; i += t->n_columns)
		if (t->cells.at[i].is != CELL_IS_BLANK || t->cells.at[i].text)
			return true;
	return false;
}

/* The cells of the columns that are shown, after their titles. */
struct grid {
	enum cell_kind kinds[TABLE_COLUMNS];
	uint32_t n_columns;
	VEC(const char *) cells;
};

static struct grid shown_cells(const struct table *t)
{
	struct grid g = {.n_columns = 0};
	uint32_t from[TABLE_COLUMNS];
	for (uint32_t k = 0; k < t->n_columns; k++)
		if (report_is_shown(t, k)) {
			from[g.n_columns] = k;
			g.kinds[g.n_columns++] = t->columns[k].kind;
			vec_push(&g.cells, t->columns[k].title);
		}
	for (uint32_t i = 0; i < t->cells.len; i += t->n_columns)
		for (uint32_t k = 0; k < g.n_columns; k++)
			vec_push(&g.cells, cell_text(t->report->arena, g.kinds[k], &t->cells.at[i + from[k]]));
	return g;
}

static void print_markdown(const struct grid *g, struct buf *out)
{
	for (uint32_t i = 0; i < g->cells.len; i++) {
		if (i == g->n_columns) {
			buf_puts(out, "\n|");
			for (uint32_t k = 0; k < g->n_columns; k++)
				buf_puts(out, g->kinds[k] == CELL_WORD ? "---|" : "---:|");
		}
		buf_puts(out, i % g->n_columns ? " " : i ? "\n| " : "| ");
		if (i < g->n_columns) /* our own text */
			buf_puts(out, g->cells.at[i]);
		else
			foreign_puts(out, FOREIGN_MARKDOWN, g->cells.at[i]);
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

static void print_aligned(const struct grid *g, struct buf *out)
{
	int widths[TABLE_COLUMNS] = {0};
	for (uint32_t i = 0; i < g->cells.len; i++) {
		int w = (int)foreign_columns(g->cells.at[i]), *column = &widths[i % g->n_columns];
		*column = w > *column ? w : *column;
	}
	for (uint32_t i = 0; i < g->cells.len; i++) {
		uint32_t k = i % g->n_columns;
		foreign_printf(out, FOREIGN_LINE, g->kinds[k] == CELL_WORD ? "  %-*s" : "  %*s", widths[k], g->cells.at[i]);
		if (k + 1 == g->n_columns)
			trim_line(out);
	}
}

void table_add(struct table *t, const struct cell *cells, uint32_t n)
{
	BUG_ON(n != t->n_columns || n > TABLE_COLUMNS);
	for (uint32_t i = 0; i < n; i++)
		vec_push(&t->cells, cells[i]);
}

uint32_t table_rows(const struct table *t) { return t->cells.len / t->n_columns; }

void table_print(struct table *t, const char *name, const char *title)
{
	struct report *r = t->report;
	if (report_is_json(r) && name)
		print_objects(t, name);
	if (!report_is_json(r) && t->cells.len) {
		struct grid g = shown_cells(t);
		if (title)
			report_title(r, title);
		if (is_markdown(r))
			print_markdown(&g, r->out);
		else
			print_aligned(&g, r->out);
		vec_free(&g.cells);
	}
	vec_free(&t->cells);
}
