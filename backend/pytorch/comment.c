/* Comments of the source. */
#include <string.h>
#include "backend/pytorch/print.h"

/* The first character of a line that is no space. */
static uint32_t line_text(const struct source *s, uint32_t at)
{
	uint32_t i = source_line_start(s, at);
	while (i < s->len && (s->text[i] == ' ' || s->text[i] == '\t'))
		i++;
	return i;
}

const char *comment_above(struct printer *p, span at)
{
	if (at.source == SPAN_NO_SOURCE)
		return "";
	const struct source *s = sources_get(p->sources, at.source);
	const char *comment = "";
	uint32_t line = source_line_start(s, at.start);
	while (line > 0) {
		line = source_line_start(s, line - 1);
		uint32_t text = line_text(s, line), end = source_line_end(s, line);
		if (s->text[text] == '@')
			continue; /* an attribute of the definition */
		if (s->text[text] != '#')
			break;
		text += 1 + (s->text[text + 1] == ' ');
		comment = arena_printf(p->a, "%.*s%s%s", text < end ? (int)(end - text) : 0, s->text + text, *comment ? "\n" : "", comment);
	}
	return comment;
}

void put_comment(struct buf *out, uint32_t indent, const char *comment)
{
	while (*comment) {
		size_t n = strcspn(comment, "\n");
		buf_printf(out, "%*s# %.*s\n", (int)indent, "", (int)n, comment);
		comment += n + (comment[n] == '\n');
	}
}
