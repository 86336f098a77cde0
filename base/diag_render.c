/* Diagnostics for people, like rustc's: header, place, excerpts, notes, help. */
#include "base/diag.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/diag_excerpt.h"
#include "base/print.h"
#include "base/vec.h"

static const char *const severity_words[] = {[SEV_ERROR] = "error", [SEV_WARNING] = "warning", [SEV_NOTE] = "note"};
static const enum style severity_styles[] = {[SEV_ERROR] = STYLE_ERROR, [SEV_WARNING] = STYLE_WARNING, [SEV_NOTE] = STYLE_NOTE};

enum { MOST_LINES = 8 }; /* lines that a note lists */

typedef VEC(struct excerpt_mark) mark_list;

static bool diag_render_has_place(const struct sources *s, span at) { return s && at.source < sources_count(s); }

/* Clamps a span to the text, so that its end is not before its start. */
static span clamp(const struct sources *s, span at)
{
	uint32_t len = sources_get(s, at.source)->len;

	at.start = at.start > len ? len : at.start;
	at.end = at.end > len ? len : at.end;
	at.end = at.end < at.start ? at.start : at.end;
	return at;
}

static void add_mark(mark_list *marks, const struct sources *s, const struct diag_label *label, bool primary)
{
	if (diag_render_has_place(s, label->at))
		vec_push(marks, ((struct excerpt_mark){clamp(s, label->at), label->text, primary}));
}

static uint32_t diag_render_digits(uint32_t n)
{
	uint32_t d = 1;

	while (n >= 10) {
		n /= 10;
		d++;
	}
	return d;
}

static uint32_t gutter_of(const struct sources *s, const struct diag *g, const mark_list *marks)
{
	uint32_t last = 1;

	for (uint32_t i = 0; i < marks->len; i++) {
		uint32_t line = excerpt_last_line(s, marks->at[i].at);

		last = line > last ? line : last;
	}
	if (g->replacement && diag_render_has_place(s, g->edit)) {
		const char *p = g->replacement;
		uint32_t line = source_position(s, g->edit.source, g->edit.end).line;

		for (; (p = strchr(p, '\n')); p++)
			line++;
		last = line > last ? line : last;
	}
	return diag_render_digits(last);
}

/* Appends a text of several lines to the row. Later lines begin at `col` with a bar, so that no text begins a line of its own. */
static void diag_render_put_lines(const struct excerpt_format *format, struct row *row, uint32_t col, enum style style, const char *text)
{
	for (uint32_t at = col;;) {
		size_t n = strcspn(text, "\n");

		row_put(row, at, style, text, n);
		row_flush(row, format->out, format->colour);
		if (text[n] == '\0')
			break;
		text += n + 1;
		at = row_puts(row, col, STYLE_GUTTER, "| ");
	}
}

static void print_header(const struct excerpt_format *format, const struct diag *g)
{
	enum diag_severity severity = diag_severity_of(g->code);
	struct row r = {0};
	char head[64];
	uint32_t col;

	snprintf(head, sizeof head, "%s[%s]", severity_words[severity], diag_code_text(g->code));
	col = row_puts(&r, 0, severity_styles[severity], head);
	row_puts(&r, col, STYLE_BOLD, ":");
	diag_render_put_lines(format, &r, col + 2, STYLE_BOLD, g->message);
	row_free(&r);
}

static void print_place(const struct excerpt_format *format, span at, const char *arrow)
{
	struct position p = source_position(format->sources, at.source, at.start);
	struct row r = {0};
	char where[32];
	uint32_t col = row_puts(&r, format->gutter, STYLE_GUTTER, arrow);

	snprintf(where, sizeof where, ":%u:%u", p.line, p.col);
	col = row_puts(&r, col + 1, STYLE_PLAIN, sources_get(format->sources, at.source)->path);
	row_puts(&r, col, STYLE_PLAIN, where);
	row_flush(&r, format->out, format->colour);
	row_free(&r);
}

/* Prints one excerpt for each source, in the order of first mention. */
static void print_excerpts(const struct excerpt_format *format, mark_list *marks)
{
	const char *arrow = "-->";

	while (marks->len > 0) {
		uint32_t source = marks->at[0].at.source, rest = 0, n = marks->len;
		mark_list here = {0};

		for (uint32_t i = 0; i < n; i++)
			if (marks->at[i].at.source == source)
				vec_push(&here, marks->at[i]);
			else
				marks->at[rest++] = marks->at[i];
		marks->len = rest;
		print_place(format, here.at[0].at, arrow);
		excerpt_print(format, here.at, here.len);
		vec_free(&here);
		arrow = ":::";
	}
}

static void print_remark(const struct excerpt_format *format, const char *word, const char *text)
{
	struct row r = {0};
	uint32_t col = row_puts(&r, format->gutter + 1, STYLE_GUTTER, "=");

	col = row_puts(&r, col + 1, STYLE_BOLD, word);
	diag_render_put_lines(format, &r, col + 1, STYLE_PLAIN, text);
	row_free(&r);
}

/* The help text of an edit that has none. */
static const char *edit_text(const struct diag *g, char *out, size_t size)
{
	const char *replacement = g->replacement + strspn(g->replacement, " ");
	size_t n = strlen(replacement);

	while (n && replacement[n - 1] == ' ')
		n--;
	if (!n)
		return "leave this out";
	if (n > 40 || memchr(replacement, '\n', n))
		return "write this";
	snprintf(out, size, g->edit.start == g->edit.end ? "add `%.*s`" : "write `%.*s`", (int)n, replacement);
	return out;
}

static void print_edit(const struct excerpt_format *format, const struct diag *g)
{
	char text[64];
	span at = clamp(format->sources, g->edit);
	struct row r = {0};
	uint32_t col = row_puts(&r, 0, STYLE_NOTE, "help");

	row_puts(&r, col, STYLE_BOLD, ":");
	diag_render_put_lines(format, &r, col + 2, STYLE_PLAIN, g->help ? g->help : edit_text(g, text, sizeof text));
	row_free(&r);
	if (at.source != g->primary.at.source)
		print_place(format, at, "-->");
	excerpt_print_bar(format);
	excerpt_print_edit(format, at, g->replacement);
}

/* "and at 4 more places in this file (lines 3, 5, 8, …)" for the repetitions of error i; empty if there are none. */
static void describe_repeats(const struct diags *d, const struct sources *s, const struct diag_repeat *all, uint32_t i, struct buf *out)
{
	uint32_t n = 0, lines = 0, before = 0;
	bool fixable = diag_is_fixable(diags_at(d, i));
	struct buf list = {0};

	while ((i = all[i].next) != UINT32_MAX) {
		const struct diag *g = diags_at(d, i);
		uint32_t line =
			diag_render_has_place(s, g->primary.at) ? source_position(s, g->primary.at.source, g->primary.at.start).line : 0;

		n++;
		fixable = fixable && diag_is_fixable(g);
		if (line == before || ++lines > MOST_LINES + 1)
			continue;
		before = line;
		if (lines > MOST_LINES)
			buf_puts(&list, ", …");
		else
			buf_printf(&list, "%s%u", lines > 1 ? ", " : "", line);
	}
	if (n)
		buf_printf(out, "and at %u more place%s in this file (line%s %s)%s", n, n == 1 ? "" : "s", lines == 1 ? "" : "s", list.at,
			   fixable ? "; `trib check --fix` mends all" : "");
	buf_free(&list);
}

static void print_one(const struct sources *s, const struct diag *g, const char *repeats, struct buf *out, bool colour)
{
	struct excerpt_format format = {.sources = s, .out = out, .colour = colour, .primary = severity_styles[diag_severity_of(g->code)]};
	bool edit = g->replacement && diag_render_has_place(s, g->edit), excerpts;
	mark_list marks = {0};

	add_mark(&marks, s, &g->primary, true);
	for (uint32_t i = 0; i < g->n_secondary; i++)
		add_mark(&marks, s, &g->secondary[i], false);
	format.gutter = gutter_of(s, g, &marks);
	excerpts = marks.len > 0;
	print_header(&format, g);
	print_excerpts(&format, &marks);
	if (excerpts && (g->n_notes || *repeats || (g->help && !edit)))
		excerpt_print_bar(&format);
	for (uint32_t i = 0; i < g->n_notes; i++)
		print_remark(&format, "note:", g->notes[i]);
	if (*repeats)
		print_remark(&format, "note:", repeats);
	if (edit)
		print_edit(&format, g);
	else if (g->help)
		print_remark(&format, "help:", g->help);
	buf_putc(out, '\n');
	vec_free(&marks);
}

static void print_dropped(struct buf *out, uint32_t n, const char *what)
{
	if (n)
		buf_printf(out, "%u more %s%s not shown\n\n", n, what, n == 1 ? " is" : "s are");
}

void diags_print(const struct diags *d, const struct sources *s, FILE *out, bool colour)
{
	struct diag_repeat *all = diags_repeats(d);
	struct buf text = {0}, repeats = {0};

	for (uint32_t i = 0; i < diags_count(d); i++) {
		if (all[i].repeats)
			continue;
		buf_clear(&repeats);
		describe_repeats(d, s, all, i, &repeats);
		print_one(s, diags_at(d, i), repeats.len ? repeats.at : "", &text, colour);
	}
	free(all);
	buf_free(&repeats);
	print_dropped(&text, diags_dropped(d), "error");
	print_dropped(&text, diags_dropped_warnings(d), "warning");
	print_drawn(out, &text);
	buf_free(&text);
}
