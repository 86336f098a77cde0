/* Comments of the source. */
#include <string.h>
#include "backend/pytorch/comment.h"
#include "backend/pytorch/printer.h"
#include "base/arena.h"
#include "base/buf.h"

/* The first character of a line that is no space. */
static uint32_t comment_line_text(const struct source *s, uint32_t at)
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
		uint32_t text = comment_line_text(s, line), end = source_line_end(s, line);
		if (s->text[text] == '@')
			continue; /* an attribute of the definition */
		if (s->text[text] != '#')
			break;
		text += 1 + (s->text[text + 1] == ' ');
		char *own = arena_strndup(p->a, s->text + text, text < end ? end - text : 0);
		for (char *c = own; *c; c++)
			*c = *c > 0 && *c < ' ' && *c != '\t' ? ' ' : *c; /* a carriage return would end Python's line */
		comment = arena_printf(p->a, "%s%s%s", own, *comment ? "\n" : "", comment);
	}
	return comment;
}

uint32_t line_of(struct printer *p, span at)
{
	return at.source == SPAN_NO_SOURCE ? UINT32_MAX : source_line_start(sources_get(p->sources, at.source), at.start);
}

const char *comment_lines(struct printer *p, const char *comment)
{
	const char *text = "";
	while (*comment) {
		size_t n = strcspn(comment, "\n");
		text = arena_printf(p->a, "%s#%s%.*s\n", text, n ? " " : "", (int)n, comment);
		comment += n + (comment[n] == '\n');
	}
	return text;
}

const char *docstring(struct printer *p, uint32_t indent, const char *comment)
{
	struct buf out = {0};
	if (!*comment)
		return "";
	buf_printf(&out, "%*s\"\"\"", (int)indent, "");
	for (const char *s = comment; *s; s++) {
		if (*s == '\\' || (*s == '"' && (s[1] == '"' || !s[1])))
			buf_putc(&out, '\\');
		buf_putc(&out, *s);
		if (*s == '\n' && s[1] != '\n')
			buf_printf(&out, "%*s", (int)indent, "");
	}
	bool several = strchr(comment, '\n') != NULL;
	buf_printf(&out, several ? "\n%*s\"\"\"\n" : "%.*s\"\"\"\n", several ? (int)indent : 0, "");
	const char *text = arena_strndup(p->a, out.at, out.len);
	buf_free(&out);
	return text;
}
