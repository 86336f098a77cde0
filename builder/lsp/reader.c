/* Header fields but Content-Length are passed over. After a wrong header the reader looks for the next one. */
#include "builder/lsp/reader.h"
#include <stdbool.h>
#include <string.h>
#include <strings.h>

enum { MOST_HEADER = 4096 };
static const char field[] = "Content-Length:";

void lsp_reader_feed(struct lsp_reader *r, const char *bytes, size_t n)
{
	if (r->skip) {
		size_t gone = n < r->skip ? n : (size_t)r->skip;
		r->skip -= gone;
		bytes += gone;
		n -= gone;
	}
	if (r->at) {
		memmove(r->in.at, r->in.at + r->at, r->in.len - r->at);
		r->in.len -= r->at;
		r->at = 0;
	}
	if (n)
		buf_put(&r->in, bytes, n);
}

void lsp_reader_free(struct lsp_reader *r) { buf_free(&r->in); }

/* Where the header at `text` ends, behind its empty line; 0: not yet. */
static size_t header_end(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (text[i] != '\n')
			continue;
		size_t next = i + 1;
		if (next < n && text[next] == '\r')
			next++;
		if (next < n && text[next] == '\n')
			return next + 1;
	}
	return 0;
}

/* The number behind Content-Length; false: there is none, or it is no number. */
static bool content_length(const char *text, size_t n, uint64_t *out)
{
	const char *end = text + n;
	while (text < end) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		size_t len = (size_t)(stop ? stop - text : end - text);
		if (len >= sizeof field - 1 && !strncasecmp(text, field, sizeof field - 1)) {
			const char *p = text + sizeof field - 1, *line_end = text + len;
			uint64_t v = 0;
			while (p < line_end && (*p == ' ' || *p == '\t'))
				p++;
			const char *digits = p;
			for (; p < line_end && *p >= '0' && *p <= '9'; p++)
				v = v > UINT64_MAX / 20 ? UINT64_MAX / 20 : v * 10 + (uint64_t)(*p - '0');
			while (p < line_end && (*p == ' ' || *p == '\r'))
				p++;
			*out = v;
			return p == line_end && p != digits;
		}
		text += len + 1;
	}
	return false;
}

/* Passes over a wrong header of n bytes, or to a right one that begins inside it. */
static void resync(struct lsp_reader *r, size_t n)
{
	const char *text = r->in.at + r->at;
	size_t i = 1;
	while (i < n && (i + sizeof field - 1 > n || strncasecmp(text + i, field, sizeof field - 1) != 0))
		i++;
	r->at += i;
}

enum lsp_frame lsp_reader_next(struct lsp_reader *r, const char **text, size_t *len)
{
	uint64_t size;
	if (r->at >= r->in.len)
		return LSP_FRAME_NONE;
	const char *at = r->in.at + r->at;
	size_t have = r->in.len - r->at, header = header_end(at, have < MOST_HEADER ? have : MOST_HEADER);
	if (!header && have < MOST_HEADER)
		return LSP_FRAME_NONE;
	if (!header || !content_length(at, header, &size)) {
		resync(r, header ? header : MOST_HEADER);
		return LSP_FRAME_BAD;
	}
	have -= header;
	if (size > LSP_MAX_MESSAGE) {
		size_t gone = have < size ? have : (size_t)size;
		r->at += header + gone;
		r->skip = size - gone;
		return LSP_FRAME_LONG;
	}
	if (have < size)
		return LSP_FRAME_NONE;
	*text = at + header;
	*len = (size_t)size;
	r->at += header + (size_t)size;
	return LSP_FRAME_MESSAGE;
}
