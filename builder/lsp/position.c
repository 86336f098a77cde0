#include "builder/lsp/params.h"
#include <string.h>
#include "base/utf8.h"

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
