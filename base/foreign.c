#include "base/foreign.h"
#include <ctype.h>
#include <string.h>
#include "base/buf.h"
#include "base/utf8.h"

#define REPLACEMENT 0xFFFDu
#define BREAK "&#8203;" /* a zero-width space: GitHub and GitLab look for names and addresses after entities are decoded */

bool foreign_is_unsafe(uint32_t cp)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {{0, 0x1F},        {0x7F, 0x9F},     {0x61C, 0x61C},   {0x200E, 0x200F},  {0x2028, 0x202E},
		      {0x2060, 0x206F}, {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0xE0000, 0xE007F}};
	for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
		if (cp <= ranges[i].last)
			return cp >= ranges[i].first;
	return false;
}

bool foreign_is_command(const char *s, size_t at)
{
	if (s[at] != '[')
		return false;
	while (at && isalpha((unsigned char)s[at - 1]))
		at--;
	return at >= 2 && s[at - 1] == '#' && s[at - 2] == '#';
}

/* A text that is being written, and the character at `at`. */
struct reader {
	struct buf *out;
	const char *s;
	size_t n, at, len;
	uint32_t cp;
};

static char byte_at(const struct reader *r, size_t at) { return at < r->n ? r->s[at] : 0; }
static bool foreign_is_word(char c) { return isalnum((unsigned char)c) || (unsigned char)c >= 0x80; }

/* Writes the character as it is. */
static void write_same(struct reader *r) { buf_put(r->out, r->s + r->at, r->len); }

static void write_line(struct reader *r)
{
	char text[4];
	if (r->cp == '\t')
		buf_putc(r->out, ' ');
	else if (r->cp == '[' && !foreign_is_command(r->s, r->at))
		buf_putc(r->out, '[');
	else
		buf_put(r->out, text, utf8_put(REPLACEMENT, text));
}

static void write_message(struct reader *r)
{
	if (r->cp != '\n')
		write_line(r);
	else if (r->at + 1 < r->n)
		buf_puts(r->out, "\n  | ");
}

static void write_text(struct reader *r)
{
	if (r->cp == '\n' || r->cp == '\t')
		write_same(r);
	else
		write_line(r);
}

/* A character above U+FFFF is two of them in JSON. */
static void write_unicode(struct reader *r)
{
	uint32_t high = r->cp - 0x10000;
	if (r->cp < 0x10000)
		buf_printf(r->out, "\\u%04x", r->cp);
	else
		buf_printf(r->out, "\\u%04x\\u%04x", 0xD800 + (high >> 10), 0xDC00 + (high & 0x3FF));
}

static void write_json(struct reader *r)
{
	if (r->cp == '[' && !foreign_is_command(r->s, r->at)) {
		write_same(r);
		return;
	}
	switch (r->cp) {
	case '"': buf_puts(r->out, "\\\""); break;
	case '\\': buf_puts(r->out, "\\\\"); break;
	case '\n': buf_puts(r->out, "\\n"); break;
	case '\r': buf_puts(r->out, "\\r"); break;
	case '\t': buf_puts(r->out, "\\t"); break;
	default: write_unicode(r);
	}
}

static void write_script(struct reader *r)
{
	if (r->cp == '\n')
		write_same(r);
	else
		write_unicode(r);
}

static void write_entity(struct reader *r) { buf_printf(r->out, "&#%u;", r->cp); }

static void write_html(struct reader *r)
{
	switch (r->cp) {
	case '&': buf_puts(r->out, "&amp;"); break;
	case '<': buf_puts(r->out, "&lt;"); break;
	case '>': buf_puts(r->out, "&gt;"); break;
	case '"':
	case '\'': write_entity(r); break;
	default: write_text(r);
	}
}

static void write_dot(struct reader *r)
{
	if (r->cp == '\n')
		buf_puts(r->out, "\\n");
	else if (r->cp == '&')
		buf_puts(r->out, "&amp;");
	else if (r->cp == '"' || r->cp == '\\')
		buf_printf(r->out, "\\%c", (int)r->cp);
	else
		write_line(r);
}

static void write_workflow(struct reader *r)
{
	if (r->cp == '\n' || r->cp == '\r' || (r->cp >= ' ' && r->cp < 0x7F))
		buf_printf(r->out, "%%%02X", r->cp);
	else
		write_line(r);
}

/* ---- markdown ----
 * Entities and backslashes keep a character from being markup. A mention, a reference to an issue or an address is found later, in the text
 * that they became, so a zero-width space breaks it. Inside code nothing is found. */

/* In code within a cell, `\|` is read in different ways. So code ends before a bar. */
static void write_bar(struct reader *r)
{
	if (r->cp == '|')
		write_entity(r);
	else
		write_line(r);
}

static void write_run(struct buf *out, enum foreign_form form, const char *s, size_t n);

/* Writes a text without bars between backticks, one more than it has in a row. */
static void write_fenced(struct buf *out, const char *s, size_t n)
{
	size_t most = 0, row = 0;
	for (size_t i = 0; i < n; i++) {
		row = s[i] == '`' ? row + 1 : 0;
		most = row > most ? row : most;
	}
	const char *pad = s[0] == '`' || s[n - 1] == '`' || (s[0] == ' ' && s[n - 1] == ' ') ? " " : "";
	if (out->len && out->at[out->len - 1] == '`')
		buf_puts(out, BREAK); /* the two rows of backticks would be one */
	for (size_t i = 0; i <= most; i++)
		buf_putc(out, '`');
	buf_puts(out, pad);
	write_run(out, FOREIGN_LINE, s, n);
	buf_puts(out, pad);
	for (size_t i = 0; i <= most; i++)
		buf_putc(out, '`');
}

static void write_code(struct buf *out, const char *s, size_t n)
{
	while (n) {
		const char *bar = memchr(s, '|', n);
		size_t part = bar ? (size_t)(bar - s) : n, step = part ? part : 1;
		if (part)
			write_fenced(out, s, part);
		else
			write_run(out, FOREIGN_CODE, s, 1);
		s += step;
		n -= step;
	}
}

/* What begins in backticks and ends in them is code here, too. */
static void write_backtick(struct reader *r)
{
	const char *begin = r->s + r->at + 1, *end = memchr(begin, '`', r->n - r->at - 1);
	if (!end || end == begin) {
		buf_puts(r->out, "\\`");
		return;
	}
	write_code(r->out, begin, (size_t)(end - begin));
	r->len = (size_t)(end - begin) + 2;
}

/* True if the character would begin or join a mention, reference, address or emoji. */
static bool joins(const struct reader *r)
{
	char next = byte_at(r, r->at + 1);
	switch (r->cp) {
	case '@': return true;
	case ':': return isalpha((unsigned char)next) || next == '/';
	case '.': return r->at >= 3 && strncasecmp(r->s + r->at - 3, "www", 3) == 0;
	case '-': return r->at >= 2 && strncasecmp(r->s + r->at - 2, "gh", 2) == 0;
	case '%': return foreign_is_word(next) || next == '"';
	default: return strchr("!#$&~", (int)r->cp) && (!next || foreign_is_word(next) || next == '"');
	}
}

static void write_markdown(struct reader *r)
{
	bool first = r->at == 0 && (!r->out->len || r->out->at[r->out->len - 1] == '\n');
	bool breaks = r->cp < 0x7F && joins(r);
	if (breaks && r->cp == '.')
		buf_puts(r->out, BREAK ".");
	else if (r->cp == '`')
		write_backtick(r);
	else if (r->cp < ' ' || r->cp >= 0x7F)
		write_line(r);
	else if (strchr("*[]\\", (int)r->cp))
		buf_printf(r->out, "\\%c", (int)r->cp);
	else if (r->cp == '_')
		buf_puts(r->out, r->at && foreign_is_word(r->s[r->at - 1]) && foreign_is_word(byte_at(r, r->at + 1)) ? "_" : "\\_");
	else if (strchr("#$&<>@|~", (int)r->cp) || (first && strchr("+-/=", (int)r->cp)))
		write_entity(r);
	else
		write_same(r);
	if (breaks && r->cp != '.')
		buf_puts(r->out, BREAK);
}

/* ---- all forms ---- */

static const struct form {
	const char *marks;
	void (*write)(struct reader *r);
} forms[] = {
#define FORM(id, marks, write) [FOREIGN_##id] = {marks, write},
#include "base/foreign_forms.def"
#undef FORM
};

/* Writes a text whose form has no marks around the whole. */
static void write_run(struct buf *out, enum foreign_form form, const char *s, size_t n)
{
	struct reader r = {.out = out, .s = s, .n = n};
	bool is_mark[128] = {[0x7F] = true};
	memset(is_mark, true, ' ');
	for (const char *m = forms[form].marks; *m; m++)
		is_mark[(unsigned char)*m] = true;
	while (r.at < n) {
		size_t begin = r.at;
		while (r.at < n && (unsigned char)s[r.at] < 0x80 && !is_mark[(unsigned char)s[r.at]])
			r.at++;
		buf_put(out, s + begin, r.at - begin);
		if (r.at == n)
			break;
		r.len = utf8_decode(s + r.at, n - r.at, &r.cp);
		if (r.cp < 0x80 || foreign_is_unsafe(r.cp))
			forms[form].write(&r);
		else if (r.cp == REPLACEMENT)
			write_line(&r); /* as invalid bytes are */
		else
			write_same(&r);
		r.at += r.len;
	}
}

void foreign_put(struct buf *out, enum foreign_form form, const char *s, size_t n)
{
	if (form == FOREIGN_CODE)
		write_code(out, s, n);
	else
		write_run(out, form, s, n);
}

void foreign_puts(struct buf *out, enum foreign_form form, const char *s) { foreign_put(out, form, s, strlen(s)); }
