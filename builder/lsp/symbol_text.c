/* Texts about definitions: signatures, comments, source text. */
#include <ctype.h>
#include <string.h>
#include "base/arena.h"
#include "builder/lsp/query.h"

const char *source_text(struct query *q, span at)
{
	const struct source *s = sources_get(q->analysis->sources, at.source);
	char *out = arena_alloc(q->scratch, (size_t)(at.end - at.start) + 1, 1), *end = out;
	for (uint32_t i = at.start; i < at.end && i < s->len; i++) {
		if (!isspace((unsigned char)s->text[i]))
			*end++ = s->text[i];
		else if (end > out && end[-1] != ' ')
			*end++ = ' ';
	}
	return out;
}

static char first_char(const struct source *s, uint32_t line)
{
	while (s->text[line] == ' ' || s->text[line] == '\t')
		line++;
	return s->text[line];
}

/* The comments among the lines, without their marks. */
static const char *comment_text(struct query *q, const struct source *s, uint32_t from, uint32_t to)
{
	struct buf b = {0};
	for (uint32_t end; from < to; from = end + 1) {
		end = source_line_end(s, from);
		if (first_char(s, from) != '#')
			continue;
		while (s->text[from] == ' ' || s->text[from] == '\t' || s->text[from] == '#')
			from++;
		uint32_t stop = end > from && s->text[end - 1] == '\r' ? end - 1 : end;
		if (stop > from)
			buf_put(&b, s->text + from, stop - from);
		buf_putc(&b, '\n');
	}
	const char *text = b.len ? arena_strndup(q->scratch, b.at, b.len - 1) : NULL;
	buf_free(&b);
	return text;
}

const char *source_comment(struct query *q, span whole)
{
	const struct source *s = sources_get(q->analysis->sources, whole.source);
	uint32_t line = source_line_start(s, whole.start), first = line, own = line;
	while (s->text[own] == ' ' || s->text[own] == '\t')
		own++;
	if (own != whole.start && s->text[own] != '@') /* not the first on its line */
		return NULL;
	while (first > 0) {
		uint32_t above = source_line_start(s, first - 1);
		char mark = first_char(s, above);
		if (mark != '#' && mark != '@')
			break;
		first = above;
	}
	return comment_text(q, s, first, line);
}

const char *module_comment(struct query *q, uint32_t source)
{
	const struct source *s = sources_get(q->analysis->sources, source);
	uint32_t end = 0;
	while (end < s->len && first_char(s, end) == '#')
		end = source_line_end(s, end) + 1;
	return comment_text(q, s, 0, end);
}

/* A name with its type. */
static const char *symbol_text_typed(struct query *q, const char *word, const char *name, const char *type)
{
	return type ? arena_printf(q->scratch, "%s%s: %s", word, name, type) : arena_printf(q->scratch, "%s%s", word, name);
}

/* A declaration without its initial value. */
static const char *before_value(struct query *q, const char *text)
{
	const char *value = strstr(text, " = ");
	return value ? arena_strndup(q->scratch, text, (size_t)(value - text)) : text;
}

const char *symbol_signature(struct query *q, const struct symbol *s)
{
	struct arena *m = q->scratch;
	switch (s->kind) {
	case SYMBOL_FN:
	case SYMBOL_LAYER:
	case SYMBOL_METHOD: {
		const char *text = source_text(q, s->header);
		return s->typed || !s->type ? text : arena_printf(m, "%s -> %s", text, s->type);
	}
	case SYMBOL_BUILTIN: return arena_printf(m, "%s(%s)", s->name, s->params ? s->params : "…");
	case SYMBOL_TYPE: return s->at.source == SPAN_NO_SOURCE ? arena_printf(m, "type %s", s->name) : source_text(q, s->header);
	case SYMBOL_MODULE: return arena_printf(m, "module %s", s->name);
	case SYMBOL_ALIAS: return source_text(q, s->header);
	case SYMBOL_CONST: return symbol_text_typed(q, "const ", s->name, s->type);
	case SYMBOL_PARAM: return s->type ? symbol_text_typed(q, "param ", s->name, s->type) : before_value(q, source_text(q, s->header));
	case SYMBOL_STATE: return before_value(q, source_text(q, s->header));
	case SYMBOL_MEMBER:
	case SYMBOL_LOCAL: return symbol_text_typed(q, "let ", s->name, s->type);
	case SYMBOL_ARG: {
		const char *text = source_text(q, s->header);
		return s->typed || !s->type ? text : arena_printf(m, "%s: %s", text, s->type);
	}
	case SYMBOL_GENERIC: return arena_printf(m, "generic %s", source_text(q, s->header));
	case SYMBOL_DIM: return arena_printf(m, "dimension %s", s->name);
	case SYMBOL_CAPACITY: return arena_printf(m, "capacity %s", s->name);
	case SYMBOL_MAIN: return "main";
	default: return s->name;
	}
}
