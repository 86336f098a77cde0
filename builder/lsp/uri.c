#include "builder/lsp/params.h"
#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/path.h"

static int hex(char c)
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
		int high = *p == '%' ? hex(p[1]) : -1, low = high >= 0 ? hex(p[2]) : -1;
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
