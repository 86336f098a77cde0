#include "backend/pytorch/text.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"

/* A hole is BEGIN, before, VALUE, value, STANDARD, standard, END. */
enum { BEGIN = 1, VALUE, STANDARD, END };
enum { LINE = 88 }; /* ruff's length of a line */

const char *hole_text(struct arena *a, const char *before, const char *value, const char *standard)
{
	return arena_printf(a, "%c%s%c%s%c%s%c", BEGIN, before ? before : "", VALUE, value, STANDARD, standard ? standard : "", END);
}

/* The hole at s, which is at BEGIN. Returns the text after it. */
static const char *read_hole(struct arena *a, const char *s, struct hole *h)
{
	const char *value = strchr(s, VALUE), *standard = strchr(value, STANDARD), *end = strchr(standard, END);
	h->before = arena_strndup(a, s + 1, (size_t)(value - s - 1));
	h->value = arena_strndup(a, value + 1, (size_t)(standard - value - 1));
	h->standard = end > standard + 1 ? arena_strndup(a, standard + 1, (size_t)(end - standard - 1)) : NULL;
	return end + 1;
}

struct hole *holes_of(struct arena *a, const char *text, uint32_t *n)
{
	uint32_t count = 0;
	for (const char *s = text; (s = strchr(s, BEGIN)); s++)
		count++;
	struct hole *holes = ARENA_ARRAY(a, struct hole, count + 1);
	*n = 0;
	for (const char *s = text; (s = strchr(s, BEGIN));)
		s = read_hole(a, s, &holes[(*n)++]);
	return holes;
}

bool text_is_like(const char *x, const char *y)
{
	for (; *x && *x == *y; x++, y++) {
		if (*x != VALUE)
			continue;
		x = strchr(x, STANDARD);
		y = strchr(y, STANDARD);
	}
	return *x == *y;
}

uint32_t text_fill(const char *text, const char *const *names, struct buf *out)
{
	uint32_t n = 0;
	while (*text) {
		size_t plain = strcspn(text, "\1");
		buf_put(out, text, plain);
		text += plain;
		if (!*text)
			break;
		const char *value = strchr(text, VALUE), *standard = strchr(value, STANDARD), *end = strchr(standard, END);
		const char *name = names ? names[n] : NULL;
		bool omitted = !name && end > standard + 1 && (size_t)(end - standard) == (size_t)(standard - value) &&
			       memcmp(value + 1, standard + 1, (size_t)(end - standard - 1)) == 0;
		if (!omitted) {
			buf_put(out, text + 1, (size_t)(value - text - 1));
			if (name)
				buf_puts(out, name);
			else
				buf_put(out, value + 1, (size_t)(standard - value - 1));
		}
		n++;
		text = end + 1;
	}
	return n;
}

const char *text_plain(struct arena *a, const char *text)
{
	struct buf b = {0};
	text_fill(text, NULL, &b);
	const char *plain = arena_strndup(a, b.len ? (const char *)b.at : "", b.len);
	buf_free(&b);
	return plain;
}

/* ---- lines ---- */

/* The closing quote of the string that begins at s. */
static const char *string_end(const char *s)
{
	char quote = *s++;
	while (*s != quote)
		s += *s == '\\' ? 2 : 1;
	return s;
}

/* The bracket that the last character closes; NULL: it closes none. */
static const char *last_bracket(const char *s)
{
	const char *open = NULL;
	int depth = 0;
	for (; *s; s++) {
		if (*s == '"' || *s == '\'')
			s = string_end(s);
		else if (strchr("([{", *s) && depth++ == 0)
			open = s;
		else if (strchr(")]}", *s) && --depth == 0 && !s[1])
			return open;
	}
	return NULL;
}

/* The end of the first element of a list: its comma outside of brackets and strings, or the end of the text. */
static const char *element_end(const char *s)
{
	int depth = 0;
	for (; *s && (*s != ',' || depth); s++) {
		if (*s == '"' || *s == '\'')
			s = string_end(s);
		else
			depth += strchr("([{", *s) ? 1 : strchr(")]}", *s) ? -1 : 0;
	}
	return s;
}

/* One element on each line, with a comma after the last one. */
static void text_put_elements(struct buf *out, uint32_t indent, const char *s)
{
	while (*s) {
		const char *end = element_end(s);
		struct buf element = {0};
		buf_printf(&element, "%.*s,", (int)(end - s), s);
		put_statement(out, indent, element.at);
		buf_free(&element);
		s = *end ? end + 1 + (end[1] == ' ') : end;
	}
}

/* `to = a, b` or `return a, b`: the list that a longer line has in parentheses. NULL: another statement. */
static const char *text_tuple_of(const char *text)
{
	const char *equals = strstr(text, " = ");
	if (equals && strcspn(text, "\"'") < (size_t)(equals - text))
		equals = NULL; /* in a string */
	const char *list = strncmp(text, "return ", 7) == 0 ? text + 7 : equals ? equals + 3 : NULL;
	return list && *element_end(list) == ',' && element_end(list)[1] ? list : NULL;
}

void put_statement(struct buf *out, uint32_t indent, const char *text)
{
	const char *list = indent + strlen(text) > LINE ? text_tuple_of(text) : NULL;
	if (list) {
		struct buf whole = {0};
		buf_printf(&whole, "%.*s(%s)", (int)(list - text), text, list);
		put_statement(out, indent, whole.at);
		buf_free(&whole);
		return;
	}
	size_t n = strlen(text), tail = n && strchr(",:", text[n - 1]) ? 1 : 0;
	char *s = strndup(text, n - tail);
	const char *open = indent + n > LINE ? last_bracket(s) : NULL;
	if (!open || open + 2 >= s + strlen(s)) {
		buf_printf(out, "%*s%s\n", (int)indent, "", text);
		free(s);
		return;
	}
	size_t head = (size_t)(open - s) + 1, inner = strlen(s) - head - 1;
	char *content = strndup(open + 1, inner);
	bool fits = indent + 4 + inner <= LINE && !strstr(content, " for ");
	buf_printf(out, "%*s%.*s\n", (int)indent, "", (int)head, s);
	if (fits)
		buf_printf(out, "%*s%s\n", (int)indent + 4, "", content);
	else
		text_put_elements(out, indent + 4, content);
	buf_printf(out, "%*s%c%s\n", (int)indent, "", s[strlen(s) - 1], text + n - tail);
	free(content);
	free(s);
}

void put_lines(struct buf *out, uint32_t indent, const char *lines)
{
	bool in_docstring = false;
	while (*lines) {
		size_t n = strcspn(lines, "\n"), own = strspn(lines, " ");
		char *line = strndup(lines + own, n - own);
		bool opens = !in_docstring && strncmp(line, "\"\"\"", 3) == 0;
		if (n == own)
			buf_putc(out, '\n');
		else if (opens || in_docstring || *line == '#')
			buf_printf(out, "%*s%s\n", (int)(indent + own), "", line);
		else
			put_statement(out, indent + (uint32_t)own, line);
		if (opens || in_docstring)
			in_docstring = n - own < (opens ? 6 : 3) || strcmp(line + (n - own) - 3, "\"\"\"") != 0;
		free(line);
		lines += n + (lines[n] == '\n');
	}
}

/* ---- words ---- */

const char *python_name(struct arena *a, const char *name)
{
	static const char *const taken[] = {"and",    "as",      "assert", "async",  "await",  "class", "def",    "del",  "elif",
					    "except", "finally", "from",   "global", "import", "is",    "lambda", "None", "nonlocal",
					    "not",    "or",      "pass",   "raise",  "return", "self",  "try",    "with", "yield",
					    "torch",  "nn",      "F",      "tnn",    "TF",     "float", "print",  "range"};
	for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
		if (strcmp(name, taken[i]) == 0)
			return arena_printf(a, "%s_", name);
	return name;
}

const char *function_argument(struct arena *a, const char *name)
{
	char *copy = arena_strdup(a, name);
	for (char *s = copy; *s; s++)
		*s = *s == '.' ? '_' : *s;
	return python_name(a, copy);
}

const char *python_float(struct arena *a, double v, bool single)
{
	char text[40];
	if (isnan(v) || isinf(v))
		return isnan(v) ? "float(\"nan\")" : v > 0 ? "float(\"inf\")" : "float(\"-inf\")";
	if (fabs(v) < 1e15 && v == (double)(int64_t)v)
		return arena_printf(a, "%.1f", v);
	if (fabs(v) > 3.4e38) /* the shortest text may be beyond float32 */
		return arena_printf(a, "%.17g", v);
	for (int digits = 1; digits <= 17; digits++) {
		snprintf(text, sizeof text, "%.*g", digits, v);
		if (single ? strtof(text, NULL) == (float)v : strtod(text, NULL) == v)
			break;
	}
	return strpbrk(text, ".en") ? arena_strdup(a, text) : arena_printf(a, "%s.0", text);
}

const char *python_string(struct arena *a, const char *s)
{
	struct buf b = {0};
	char quote = strchr(s, '"') && !strchr(s, '\'') ? '\'' : '"';
	buf_putc(&b, quote);
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;
		if (c == (unsigned char)quote || c == '\\')
			buf_putc(&b, '\\');
		if (c == '\n')
			buf_puts(&b, "\\n");
		else if (c < ' ' || c == 127)
			buf_printf(&b, "\\x%02x", c);
		else
			buf_putc(&b, (char)c);
	}
	buf_putc(&b, quote);
	const char *text = arena_strndup(a, (const char *)b.at, b.len);
	buf_free(&b);
	return text;
}

const char *member_path(struct arena *a, bool in_function, const char *path)
{
	const char *out = in_function ? NULL : "self";
	while (*path) {
		size_t n = strcspn(path, ".");
		const char *name = python_name(a, arena_strndup(a, path, n));
		out = !out                            ? name
		      : isdigit((unsigned char)*path) ? arena_printf(a, "%s[%s]", out, name)
						      : arena_printf(a, "%s.%s", out, name);
		path += n + (path[n] == '.');
	}
	return out ? out : "self";
}
