#include "builder/manifest/manifest_line.h"
#include <ctype.h>
#include <string.h>
#include "base/source.h"

static bool blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
static bool name_char(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '-'; }

uint32_t manifest_first_line(const struct source *src) { return src->len >= 3 && memcmp(src->text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0; }

struct line manifest_line_at(const struct source *src, uint32_t at)
{
	struct line l = {.src = src, .start = at};
	const char *t = src->text;
	uint32_t i = at, end = UINT32_MAX;
	for (; i < src->len && t[i] != '\n'; i++) {
		if (t[i] == '#' && end == UINT32_MAX && (i == at || blank(t[i - 1])))
			end = i;
		if (t[i] == '$' && end == UINT32_MAX && i + 1 < src->len) {
			if (t[i + 1] == '\r' && i + 2 < src->len && t[i + 2] == '\n')
				i++;
			i++; /* an escaped character, or a joined line */
		}
	}
	l.ended = i < src->len;
	l.next = l.ended ? i + 1 : i;
	l.end = end < i ? end : i;
	l.indented = at < l.end && blank(t[at]);
	while (l.end > l.start && blank(t[l.end - 1]) && !(l.end - 2 >= l.start && l.end >= 2 && t[l.end - 2] == '$'))
		l.end--;
	while (l.start < l.end && blank(t[l.start]))
		l.start++;
	return l;
}

uint32_t line_word_end(const struct line *l, uint32_t at)
{
	while (at < l->end && name_char(l->src->text[at]))
		at++;
	return at;
}

uint32_t line_skip_blanks(const struct line *l, uint32_t at)
{
	while (at < l->end && blank(l->src->text[at]))
		at++;
	return at;
}
