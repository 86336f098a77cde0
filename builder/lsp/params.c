#include "builder/lsp/params.h"
#include <ctype.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/path.h"
#include "base/utf8.h"

const char *params_text(const json_t *object, const char *key)
{
	const json_t *v = json_object_get(object, key);
	return json_is_string(v) && strlen(json_string_value(v)) == json_string_length(v) ? json_string_value(v) : NULL;
}

const char *params_uri(const json_t *params) { return params_text(json_object_get(params, "textDocument"), "uri"); }

bool params_position(const json_t *position, struct lsp_position *out)
{
	const json_t *line = json_object_get(position, "line"), *character = json_object_get(position, "character");
	*out = (struct lsp_position){json_integer_value(line), json_integer_value(character)};
	return json_is_integer(line) && json_is_integer(character) && out->line >= 0 && out->character >= 0;
}

bool params_range(const json_t *range, struct lsp_position *start, struct lsp_position *end)
{
	return params_position(json_object_get(range, "start"), start) && params_position(json_object_get(range, "end"), end);
}

/* ---- positions ---- */

static uint32_t units(uint32_t cp, size_t bytes, bool utf8) { return utf8 ? (uint32_t)bytes : cp > 0xffff ? 2 : 1; }

/* The byte of a character of a line, given without its end. */
static size_t offset_in_line(const char *line, size_t len, int64_t character, bool utf8)
{
	size_t at = 0;
	for (int64_t seen = 0; at < len && seen < character;) {
		uint32_t cp;
		size_t n = utf8_decode(line + at, len - at, &cp);
		seen += units(cp, n, utf8);
		if (seen > character)
			break;
		at += n;
	}
	return at;
}

uint32_t position_width(const char *line, size_t bytes, bool utf8)
{
	uint32_t width = 0, cp;
	for (size_t at = 0, n; at < bytes; at += n) {
		n = utf8_decode(line + at, bytes - at, &cp);
		width += units(cp, n, utf8);
	}
	return width;
}

size_t position_offset(const char *text, size_t len, struct lsp_position p, bool utf8)
{
	const char *line = text, *end = text + len;
	for (int64_t i = 0; i < p.line; i++) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));
		if (!stop)
			return len;
		line = stop + 1;
	}
	const char *stop = memchr(line, '\n', (size_t)(end - line));
	size_t n = (size_t)((stop ? stop : end) - line);
	if (n && line[n - 1] == '\r')
		n--;
	return (size_t)(line - text) + offset_in_line(line, n, p.character, utf8);
}

/* ---- URIs ---- */

static int params_hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

const char *uri_path(struct arena *a, const char *uri)
{
	if (strncmp(uri, "file://", 7) != 0)
		return arena_strdup(a, uri);
	const char *p = strchr(uri + 7, '/'); /* behind the host */
	if (!p)
		return arena_strdup(a, uri);
	char *out = arena_alloc(a, strlen(p) + 1, 1), *q = out;
	for (; *p && *p != '?' && *p != '#'; p++) {
		int high = *p == '%' ? params_hex(p[1]) : -1, low = high >= 0 ? params_hex(p[2]) : -1;
		bool escape = low >= 0 && (high || low); /* %00 is no character of a path */
		*q++ = escape ? (char)(high * 16 + low) : *p;
		p += escape ? 2 : 0;
	}
	return path_normal(a, out);
}

const char *uri_of_path(struct arena *a, const char *path)
{
	struct buf b = {0};
	if (*path != '/')
		return arena_strdup(a, path);
	buf_puts(&b, "file://");
	for (; *path; path++) {
		unsigned char c = (unsigned char)*path;
		if (isalnum(c) || strchr("/-._~", c))
			buf_putc(&b, (char)c);
		else
			buf_printf(&b, "%%%02X", c);
	}
	const char *s = arena_strndup(a, b.at, b.len);
	buf_free(&b);
	return s;
}
