/* A row has a gutter with the line number, a bar, one column for each lane, and text. A lane is the bar at the left of a span over
 * several lines. Spans within a line are underlined in one row. The label of the rightmost span is beside it; the other labels hang
 * below:
 *
 *   7 | let y = f(a, b)
 *     |           -  ^ expected trit
 *     |           |
 *     |           because of this */
#include "base/diag_excerpt.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/bug.h"
#include "base/vec.h"

#define TEXT_COLUMNS 120 /* longest line; longer lines are cut around their marks */
#define CUT_MARGIN 8     /* columns kept before the marks */
#define ALL_LINES 4      /* a span of up to this many lines is shown in full */

/* A mark in lines and columns; columns count from 0 on the uncut line. */
struct label_span {
	uint32_t line, col;
	uint32_t end_line, end_col; /* end_col is exclusive */
	uint32_t lane;
	const char *text;
	bool primary;
	bool many;  /* spans several lines */
	bool slash; /* several lines, and no text before its start */
	bool open;  /* several lines, and its bar is being drawn */
};
typedef VEC(struct label_span *) span_list;

/* The visible columns of the current line. */
struct window {
	uint32_t begin, end;
};
struct excerpt {
	const struct excerpt_format *format;
	uint32_t source;
	struct label_span *spans;
	uint32_t n, lanes;
	VEC(uint32_t) lines; /* to show, ascending */
	struct window window;
	struct row row;
};

/* ---- columns ---- */

/* Columns of text[0, n). `whole`: counts a character that n cuts. */
static uint32_t diag_excerpt_columns(const char *text, uint32_t len, uint32_t n, bool whole)
{
	uint32_t col = 0;
	size_t i = 0;

	while (i < len && i < n) {
		size_t bytes;
		uint32_t width = canvas_width(text + i, len - i, &bytes);

		if (i + bytes > n && !whole)
			break;
		col += width;
		i += bytes;
	}
	return col;
}

static uint32_t column_of(const struct sources *s, uint32_t source, struct position p, bool whole)
{
	const char *text;
	uint32_t len;

	source_line(s, source, p.line, &text, &len);
	return diag_excerpt_columns(text, len, whole ? p.col : p.col - 1, whole);
}

static uint32_t last_byte(span at) { return at.end > at.start ? at.end - 1 : at.start; }

uint32_t excerpt_last_line(const struct sources *s, span at) { return source_position(s, at.source, last_byte(at)).line; }

static bool diag_excerpt_is_blank(const char *text, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (text[i] != ' ' && text[i] != '\t')
			return false;
	return true;
}

static struct label_span label_span_of(const struct sources *s, const struct excerpt_mark *m)
{
	struct position first = source_position(s, m->at.source, m->at.start);
	struct position last = source_position(s, m->at.source, last_byte(m->at));
	struct label_span p = {.line = first.line, .end_line = last.line, .text = m->text, .primary = m->primary};
	const char *text;
	uint32_t len;

	p.many = p.end_line > p.line;
	p.col = column_of(s, m->at.source, first, false);
	p.end_col = column_of(s, m->at.source, last, true);
	if (p.end_col <= p.col && !p.many)
		p.end_col = p.col + 1;
	if (p.end_col == 0)
		p.end_col = 1;
	source_line(s, m->at.source, p.line, &text, &len);
	p.slash = p.many && diag_excerpt_is_blank(text, first.col - 1 < len ? first.col - 1 : len);
	return p;
}

/* ---- which lines, which lanes ---- */

static int by_value(const void *pa, const void *pb)
{
	const uint32_t *a = pa, *b = pb;

	return (*a > *b) - (*a < *b);
}

static void choose_lines(struct excerpt *e)
{
	uint32_t kept = 0, n;

	for (uint32_t i = 0; i < e->n; i++) {
		const struct label_span *p = &e->spans[i];
		bool all = p->end_line - p->line < ALL_LINES;

		for (uint32_t line = p->line; line <= p->end_line; line++) {
			vec_push(&e->lines, line);
			if (!all && line == p->line + 1)
				line = p->end_line - 2;
		}
	}
	qsort(e->lines.at, e->lines.len, sizeof *e->lines.at, by_value);
	n = e->lines.len;
	for (uint32_t i = 0; i < n; i++)
		if (kept == 0 || e->lines.at[i] != e->lines.at[kept - 1])
			e->lines.at[kept++] = e->lines.at[i];
	e->lines.len = kept;
	for (uint32_t i = 1; i < kept; i++) /* a gap of one line is no longer than "..." */
		if (e->lines.at[i] == e->lines.at[i - 1] + 2)
			vec_push(&e->lines, e->lines.at[i] - 1);
	qsort(e->lines.at, e->lines.len, sizeof *e->lines.at, by_value);
}

static int diag_excerpt_by_start(const void *pa, const void *pb)
{
	const struct label_span *a = *(struct label_span *const *)pa, *b = *(struct label_span *const *)pb;

	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	if (a->end_line != b->end_line)
		return a->end_line > b->end_line ? -1 : 1;
	return a < b ? -1 : 1; /* spans are one array: the order of the marks */
}

static bool lane_is_taken(const span_list *list, uint32_t before, const struct label_span *p, uint32_t lane)
{
	for (uint32_t i = 0; i < before; i++)
		if (list->at[i]->lane == lane && list->at[i]->end_line >= p->line)
			return true;
	return false;
}

/* Outer spans to the left. */
static void choose_lanes(struct excerpt *e)
{
	span_list list = {0};

	for (uint32_t i = 0; i < e->n; i++)
		if (e->spans[i].many)
			vec_push(&list, &e->spans[i]);
	if (list.len)
		qsort(list.at, list.len, sizeof *list.at, diag_excerpt_by_start);
	for (uint32_t i = 0; i < list.len; i++) {
		struct label_span *p = list.at[i];

		while (lane_is_taken(&list, i, p, p->lane))
			p->lane++;
		if (p->lane >= e->lanes)
			e->lanes = p->lane + 1;
	}
	vec_free(&list);
}

/* ---- rows ---- */

static enum style style_of(const struct excerpt *e, const struct label_span *p)
{
	return p->primary ? e->format->primary : STYLE_SECONDARY;
}

static uint32_t lane_column(const struct excerpt *e, uint32_t lane) { return e->format->gutter + 3 + lane; }

static uint32_t text_column(const struct excerpt *e) { return lane_column(e, e->lanes) + (e->lanes > 0); }

/* The column on screen of a column of the line, cut to the window. */
static uint32_t on_screen(const struct excerpt *e, uint32_t col)
{
	col = col < e->window.begin ? e->window.begin : col > e->window.end ? e->window.end : col;
	return text_column(e) + col - e->window.begin;
}

static void put_bar(const struct excerpt_format *format, struct row *row) { row_puts(row, format->gutter + 1, STYLE_GUTTER, "|"); }

static void put_line_number(const struct excerpt_format *format, struct row *row, uint32_t line)
{
	char number[16];

	snprintf(number, sizeof number, "%*u", (int)format->gutter, line);
	row_puts(row, 0, STYLE_GUTTER, number);
}

static void diag_excerpt_flush(const struct excerpt_format *format, struct row *row) { row_flush(row, format->out, format->colour); }

void excerpt_print_bar(const struct excerpt_format *format)
{
	struct row r = {0};

	put_bar(format, &r);
	diag_excerpt_flush(format, &r);
	row_free(&r);
}

static void put_open_lanes(struct excerpt *e)
{
	for (uint32_t i = 0; i < e->n; i++)
		if (e->spans[i].open)
			row_puts(&e->row, lane_column(e, e->spans[i].lane), style_of(e, &e->spans[i]), "|");
}

/* Begins a row below a line. */
static void diag_excerpt_begin_row(struct excerpt *e)
{
	put_bar(e->format, &e->row);
	put_open_lanes(e);
}

/* The part of a line to show so that [lo, hi) is visible. */
static struct window window_of(uint32_t width, uint32_t lo, uint32_t hi)
{
	struct window w = {0, width};
	uint32_t spare;

	if (width <= TEXT_COLUMNS)
		return w;
	spare = hi - lo < TEXT_COLUMNS - 2 * CUT_MARGIN ? (TEXT_COLUMNS - (hi - lo)) / 2 : CUT_MARGIN;
	w.begin = lo > spare ? lo - spare : 0;
	if (hi + CUT_MARGIN <= TEXT_COLUMNS)
		w.begin = 0; /* it fits without a cut at the start */
	if (w.begin > width - TEXT_COLUMNS)
		w.begin = width - TEXT_COLUMNS;
	w.end = w.begin + TEXT_COLUMNS;
	return w;
}

static void diag_excerpt_put_text(struct row *row, uint32_t at, struct window w, enum style style, const char *text, uint32_t len)
{
	uint32_t col = 0, width;
	size_t i = 0, bytes;

	for (; i < len && col < w.end; i += bytes, col += width) {
		width = canvas_width(text + i, len - i, &bytes);
		if (col >= w.begin && col + width <= w.end)
			row_put(row, at + col - w.begin, style, text + i, bytes);
	}
	if (w.begin > 0)
		row_puts(row, at, STYLE_GUTTER, "...");
	if (i < len)
		row_puts(row, at + w.end - w.begin - 3, STYLE_GUTTER, "...");
}

/* The columns from the first to the last mark of a line. */
static struct window marked_columns(const struct excerpt *e, uint32_t line)
{
	struct window m = {UINT32_MAX, 0};

	for (uint32_t i = 0; i < e->n; i++) {
		const struct label_span *p = &e->spans[i];
		uint32_t lo = p->line == line ? p->col : p->end_col - 1;
		uint32_t hi = p->end_line == line ? p->end_col : p->col + 1;

		if (p->line != line && p->end_line != line)
			continue;
		m.begin = lo < m.begin ? lo : m.begin;
		m.end = hi > m.end ? hi : m.end;
	}
	return m.end ? m : (struct window){0, 1};
}

static void diag_excerpt_print_line(struct excerpt *e, uint32_t line)
{
	struct window marked = marked_columns(e, line);
	uint32_t len, width;
	const char *text;

	source_line(e->format->sources, e->source, line, &text, &len);
	width = diag_excerpt_columns(text, len, len, true);
	e->window = window_of(width, marked.begin, marked.end);
	put_line_number(e->format, &e->row, line);
	diag_excerpt_begin_row(e);
	for (uint32_t i = 0; i < e->n; i++) {
		struct label_span *p = &e->spans[i];

		if (p->line != line || !p->slash)
			continue;
		row_puts(&e->row, lane_column(e, p->lane), style_of(e, p), "/");
		p->open = true;
	}
	diag_excerpt_put_text(&e->row, text_column(e), e->window, STYLE_PLAIN, text, len);
	diag_excerpt_flush(e->format, &e->row);
	if (e->window.end == width)
		e->window.end = UINT32_MAX / 2; /* a mark may be behind the end of the line */
}

/* ---- underlines within a line ---- */

static uint32_t diag_excerpt_extent(const struct label_span *p) { return p->end_col - p->col; }

/* Longer first, so that the shorter stay visible on top; the primary on top of its equals. */
static int by_extent(const void *pa, const void *pb)
{
	const struct label_span *a = *(struct label_span *const *)pa, *b = *(struct label_span *const *)pb;

	if (diag_excerpt_extent(a) != diag_excerpt_extent(b))
		return diag_excerpt_extent(a) > diag_excerpt_extent(b) ? -1 : 1;
	if (a->primary != b->primary)
		return a->primary ? 1 : -1;
	return a < b ? -1 : 1;
}

static int by_column_reversed(const void *pa, const void *pb)
{
	const struct label_span *a = *(struct label_span *const *)pa, *b = *(struct label_span *const *)pb;

	if (a->col != b->col)
		return a->col > b->col ? -1 : 1;
	return a < b ? -1 : 1;
}

/* The mark whose label is beside the underlines: the last one, if it has a label. */
static const struct label_span *beside(const span_list *list)
{
	const struct label_span *best = NULL;
	uint32_t end = 0;

	for (uint32_t i = 0; i < list->len; i++)
		end = list->at[i]->end_col > end ? list->at[i]->end_col : end;
	for (uint32_t i = 0; i < list->len; i++)
		if (list->at[i]->end_col == end && list->at[i]->text[0] && (!best || list->at[i]->primary))
			best = list->at[i];
	return best;
}

static void put_hanging_bars(struct excerpt *e, const span_list *hanging, uint32_t from)
{
	diag_excerpt_begin_row(e);
	for (uint32_t i = from; i < hanging->len; i++)
		row_puts(&e->row, on_screen(e, hanging->at[i]->col), style_of(e, hanging->at[i]), "|");
}

static void print_hanging(struct excerpt *e, const span_list *hanging)
{
	put_hanging_bars(e, hanging, 0);
	diag_excerpt_flush(e->format, &e->row);
	for (uint32_t i = 0; i < hanging->len; i++) {
		const struct label_span *p = hanging->at[i];

		put_hanging_bars(e, hanging, i + 1);
		row_puts(&e->row, on_screen(e, p->col), style_of(e, p), p->text);
		diag_excerpt_flush(e->format, &e->row);
	}
}

static void print_underlines(struct excerpt *e, uint32_t line)
{
	span_list list = {0}, hanging = {0};
	const struct label_span *side;

	for (uint32_t i = 0; i < e->n; i++)
		if (!e->spans[i].many && e->spans[i].line == line)
			vec_push(&list, &e->spans[i]);
	if (list.len == 0)
		return;
	qsort(list.at, list.len, sizeof *list.at, by_extent);
	diag_excerpt_begin_row(e);
	for (uint32_t i = 0; i < list.len; i++) {
		const struct label_span *p = list.at[i];
		uint32_t col = on_screen(e, p->col), end = on_screen(e, p->end_col);

		row_fill(&e->row, col, end > col ? end - col : 1, style_of(e, p), p->primary ? '^' : '-');
	}
	side = beside(&list);
	if (side)
		row_puts(&e->row, on_screen(e, side->end_col) + 1, style_of(e, side), side->text);
	diag_excerpt_flush(e->format, &e->row);
	qsort(list.at, list.len, sizeof *list.at, by_column_reversed);
	for (uint32_t i = 0; i < list.len; i++)
		if (list.at[i] != side && list.at[i]->text[0])
			vec_push(&hanging, list.at[i]);
	if (hanging.len)
		print_hanging(e, &hanging);
	vec_free(&list);
	vec_free(&hanging);
}

/* ---- starts and ends of spans over several lines ---- */

/* "____^" from the lane to a column of the text. */
static uint32_t put_elbow(struct excerpt *e, const struct label_span *p, uint32_t col)
{
	uint32_t from = lane_column(e, p->lane) + 1, to = on_screen(e, col);

	row_fill(&e->row, from, to - from, style_of(e, p), '_');
	return row_puts(&e->row, to, style_of(e, p), p->primary ? "^" : "-");
}

static void print_elbows(struct excerpt *e, uint32_t line)
{
	for (uint32_t i = 0; i < e->n; i++) {
		struct label_span *p = &e->spans[i];

		if (!p->many || p->line != line || p->slash)
			continue;
		diag_excerpt_begin_row(e);
		put_elbow(e, p, p->col);
		diag_excerpt_flush(e->format, &e->row);
		p->open = true;
	}
	for (uint32_t i = 0; i < e->n; i++) {
		struct label_span *p = &e->spans[i];

		if (!p->many || p->end_line != line)
			continue;
		diag_excerpt_begin_row(e);
		row_puts(&e->row, put_elbow(e, p, p->end_col - 1) + 1, style_of(e, p), p->text);
		diag_excerpt_flush(e->format, &e->row);
		p->open = false;
	}
}

static void print_gap(struct excerpt *e)
{
	row_puts(&e->row, 0, STYLE_GUTTER, "...");
	put_open_lanes(e);
	diag_excerpt_flush(e->format, &e->row);
}

void excerpt_print(const struct excerpt_format *format, const struct excerpt_mark *marks, uint32_t n)
{
	struct excerpt e = {.format = format, .source = marks[0].at.source, .n = n};

	e.spans = calloc(n, sizeof *e.spans);
	if (!e.spans)
		bug_no_memory();
	for (uint32_t i = 0; i < n; i++)
		e.spans[i] = label_span_of(format->sources, &marks[i]);
	choose_lines(&e);
	choose_lanes(&e);
	excerpt_print_bar(format);
	for (uint32_t i = 0; i < e.lines.len; i++) {
		uint32_t line = e.lines.at[i];

		if (i > 0 && line > e.lines.at[i - 1] + 1)
			print_gap(&e);
		diag_excerpt_print_line(&e, line);
		print_underlines(&e, line);
		print_elbows(&e, line);
	}
	free(e.spans);
	vec_free(&e.lines);
	row_free(&e.row);
}
