#include "builder/manifest/manifest_line.h"
#include <ctype.h>
#include <string.h>
#include "base/source.h"

static bool manifest_line_is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
static bool is_word_char(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '-'; }

uint32_t manifest_first_line(const struct source *src) { return src->len >= 3 && memcmp(src->text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0; }

struct manifest_line manifest_line_at(const struct source *src, uint32_t at)
{
	struct manifest_line l = {.src = src, .start = at};
	const char *t = src->text;
	uint32_t i = at, end = UINT32_MAX;
	for (; i < src->len && t[i] != '\n'; i++) {
		if (t[i] == '#' && end == UINT32_MAX && (i == at || manifest_line_is_blank(t[i - 1])))
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
	l.indented = at < l.end && manifest_line_is_blank(t[at]);
	while (l.end > l.start && manifest_line_is_blank(t[l.end - 1]) && !(l.end - 2 >= l.start && l.end >= 2 && t[l.end - 2] == '$'))
		l.end--;
	while (l.start < l.end && manifest_line_is_blank(t[l.start]))
		l.start++;
	return l;
}

uint32_t manifest_line_word_end(const struct manifest_line *l, uint32_t at)
{
	while (at < l->end && is_word_char(l->src->text[at]))
		at++;
	return at;
}

uint32_t manifest_line_skip_blanks(const struct manifest_line *l, uint32_t at)
{
	while (at < l->end && manifest_line_is_blank(l->src->text[at]))
		at++;
	return at;
}
