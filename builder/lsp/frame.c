/* Skips all header fields except Content-Length. After a wrong header, searches for the next one. */
#include "builder/lsp/frame.h"
#include <stdbool.h>
#include <string.h>
#include <strings.h>

enum { MOST_HEADER = 4096 };
static const char field[] = "Content-Length:";

void frame_reader_feed(struct frame_reader *r, const char *bytes, size_t n)
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

void frame_reader_free(struct frame_reader *r) { buf_free(&r->in); }

/* The end of the header, behind its empty line; 0 if it is incomplete. */
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

/* Reads the number of Content-Length. False if the field is missing or is not a number. */
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
			bool is_number = p != digits;
			while (p < line_end && (*p == ' ' || *p == '\r'))
				p++;
			*out = v;
			return p == line_end && is_number;
		}
		text += len + 1;
	}
	return false;
}

/* Skips a wrong header of n bytes, or up to a Content-Length inside it. */
static void resync(struct frame_reader *r, size_t n)
{
	const char *text = r->in.at + r->at;
	size_t i = 1;
	while (i < n && (i + sizeof field - 1 > n || strncasecmp(text + i, field, sizeof field - 1) != 0))
		i++;
	r->at += i;
}

enum frame_kind frame_reader_next(struct frame_reader *r, const char **text, size_t *len)
{
	uint64_t size;
	if (r->at >= r->in.len)
		return FRAME_NONE;
	const char *at = r->in.at + r->at;
	size_t have = r->in.len - r->at, header = header_end(at, have < MOST_HEADER ? have : MOST_HEADER);
	if (!header && have < MOST_HEADER)
		return FRAME_NONE;
	if (!header || !content_length(at, header, &size)) {
		resync(r, header ? header : MOST_HEADER);
		return FRAME_BAD;
	}
	have -= header;
	if (size > FRAME_MAX_MESSAGE) {
		size_t gone = have < size ? have : (size_t)size;
		r->at += header + gone;
		r->skip = size - gone;
		return FRAME_LONG;
	}
	if (have < size)
		return FRAME_NONE;
	*text = at + header;
	*len = (size_t)size;
	r->at += header + (size_t)size;
	return FRAME_MESSAGE;
}

void frame_write(struct buf *out, struct buf *body)
{
	buf_printf(out, "Content-Length: %zu\r\n\r\n", body->len);
	buf_put(out, body->at, body->len);
	buf_free(body);
}
