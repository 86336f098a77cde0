#include "builder/json_read.h"
#include <stdbool.h>
#include "base/buf.h"

struct scan {
	size_t at, line, line_start, values, depth;
};

/* Moves behind the text that begins at a quotation mark. Whether it ends is jansson's question. */
static void skip_text(struct scan *s, const char *text, size_t len)
{
	for (s->at++; s->at < len && text[s->at] != '"'; s->at++)
		s->at += text[s->at] == '\\';
}

/* Goes on until the end, or until a limit is passed. Each value, but one, comes after one of "[{,:". */
static void scan_values(struct scan *s, const char *text, size_t len)
{
	for (; s->at < len && s->depth <= JSON_MOST_DEPTH && s->values <= JSON_MOST_VALUES; s->at++) {
		switch (text[s->at]) {
		case '"': skip_text(s, text, len); break;
		case '[':
		case '{':
			s->depth++;
			s->values++;
			break;
		case ']':
		case '}': s->depth -= s->depth > 0; break;
		case ',':
		case ':': s->values++; break;
		case '\n':
			s->line++;
			s->line_start = s->at + 1;
			break;
		default: break;
		}
	}
}

static bool is_within_limits(const char *text, size_t len, struct buf *why)
{
	struct scan s = {.line = 1};
	if (len > JSON_MOST_BYTES) {
		buf_printf(why, "it has %zu bytes, more than %zu", len, JSON_MOST_BYTES);
		return false;
	}
	scan_values(&s, text, len);
	if (s.depth <= JSON_MOST_DEPTH && s.values <= JSON_MOST_VALUES)
		return true;
	buf_printf(why, "line %zu, column %zu: ", s.line, s.at - s.line_start);
	if (s.depth > JSON_MOST_DEPTH)
		buf_printf(why, "it is nested deeper than %d levels", JSON_MOST_DEPTH);
	else
		buf_printf(why, "it has more than %zu values", JSON_MOST_VALUES);
	return false;
}

json_t *json_read(const char *text, size_t len, size_t flags, struct buf *why)
{
	struct buf reason = {0};
	json_error_t error;
	json_t *root = NULL;
	if (is_within_limits(text, len, &reason)) {
		root = json_loadb(text, len, flags, &error);
		if (!root)
			buf_printf(&reason, "line %d, column %d: %s", error.line, error.column, error.text);
	}
	if (why && reason.len)
		buf_puts(why, reason.at);
	buf_free(&reason);
	return root;
}
