#include "builder/lsp/call.h"
#include <ctype.h>
#include <string.h>
#include "base/arena.h"
#include "builder/lsp/uri.h"

void call_fail(struct call *c, enum lsp_error code, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	c->error = code;
	c->message = arena_vprintf(c->scratch, fmt, ap);
	va_end(ap);
}

const char *json_text(const json_t *object, const char *key)
{
	const json_t *v = json_object_get(object, key);
	return json_is_string(v) && strlen(json_string_value(v)) == json_string_length(v) ? json_string_value(v) : NULL;
}

bool json_position(const json_t *position, struct lsp_position *out)
{
	const json_t *line = json_object_get(position, "line"), *character = json_object_get(position, "character");
	*out = (struct lsp_position){json_integer_value(line), json_integer_value(character)};
	return json_is_integer(line) && json_is_integer(character) && out->line >= 0 && out->character >= 0;
}

static bool document_place(struct call *c, struct place *out)
{
	const char *uri = json_text(json_object_get(c->params, "textDocument"), "uri");
	*out = (struct place){.document = uri ? server_document(c->s, uri) : NULL};
	if (!out->document) {
		call_fail(c, LSP_INVALID_PARAMS, uri ? "`%s` is not open" : "textDocument.uri is missing", uri);
		return false;
	}
	out->a = server_analysis(c->s, out->document);
	out->source = analysis_source(out->a, out->document->path);
	return out->source != NULL;
}

bool call_source(struct call *c, struct place *out) { return document_place(c, out) && !document_is_manifest(out->document); }

bool call_place(struct call *c, struct place *out)
{
	struct lsp_position p;
	if (!document_place(c, out))
		return false;
	if (!json_position(json_object_get(c->params, "position"), &p)) {
		call_fail(c, LSP_INVALID_PARAMS, "position is missing or wrong");
		return false;
	}
	out->offset = (uint32_t)position_offset(out->source->text, out->source->len, p, c->s->client.utf8);
	out->use = index_use_at(out->a->index, out->source->id, out->offset);
	if (out->use && out->use->symbol != SYMBOL_NONE)
		out->symbol = &out->a->index->symbols.at[out->use->symbol];
	return true;
}

bool call_range(struct call *c, struct place *out, size_t *first, size_t *last)
{
	const json_t *range = json_object_get(c->params, "range");
	struct lsp_position from, to;
	if (!document_place(c, out))
		return false;
	if (!json_position(json_object_get(range, "start"), &from) || !json_position(json_object_get(range, "end"), &to)) {
		call_fail(c, LSP_INVALID_PARAMS, "range is missing or wrong");
		return false;
	}
	*first = position_offset(out->source->text, out->source->len, from, c->s->client.utf8);
	*last = position_offset(out->source->text, out->source->len, to, c->s->client.utf8);
	return true;
}

/* ---- results ---- */

void put_position(struct call *c, const struct analysis *a, const char *key, span at)
{
	struct position p = source_position(a->sources, at.source, at.start);
	const char *line;
	uint32_t len;
	source_line(a->sources, at.source, p.line, &line, &len);
	json_member_open(c->out, key, '{');
	json_member_int(c->out, "line", p.line - 1);
	json_member_int(c->out, "character", position_width(line, p.col - 1 < len ? p.col - 1 : len, c->s->client.utf8));
	json_close(c->out, '}');
}

void put_range(struct call *c, const struct analysis *a, const char *key, span at)
{
	if (key)
		json_member_open(c->out, key, '{');
	put_position(c, a, "start", at);
	put_position(c, a, "end", (span){at.source, at.end, at.end});
	json_close(c->out, '}');
}

const char *uri_of_source(struct server *s, const struct analysis *a, uint32_t source)
{
	const char *path = analysis_path(a, source);
	const struct document *d = server_document_at(s, path);
	return d ? d->uri : uri_of_path(a->arena, path);
}

void put_location(struct call *c, const struct analysis *a, span at)
{
	json_open(c->out, '{');
	json_member_str(c->out, "uri", uri_of_source(c->s, a, at.source));
	put_range(c, a, "range", at);
	json_close(c->out, '}');
}

/* ---- texts ---- */

const char *source_text(struct call *c, const struct analysis *a, span at)
{
	const struct source *s = sources_get(a->sources, at.source);
	char *out = arena_alloc(c->scratch, (size_t)(at.end - at.start) + 1, 1), *q = out;
	for (uint32_t i = at.start; i < at.end && i < s->len; i++) {
		if (!isspace((unsigned char)s->text[i]))
			*q++ = s->text[i];
		else if (q > out && q[-1] != ' ')
			*q++ = ' ';
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
static const char *comment_text(struct call *c, const struct source *s, uint32_t from, uint32_t to)
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
	const char *text = b.len ? arena_strndup(c->scratch, b.at, b.len - 1) : NULL;
	buf_free(&b);
	return text;
}

const char *source_comment(struct call *c, const struct analysis *a, span whole)
{
	const struct source *s = sources_get(a->sources, whole.source);
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
	return comment_text(c, s, first, line);
}

const char *module_comment(struct call *c, const struct analysis *a, uint32_t source)
{
	const struct source *s = sources_get(a->sources, source);
	uint32_t end = 0;
	while (end < s->len && first_char(s, end) == '#')
		end = source_line_end(s, end) + 1;
	return comment_text(c, s, 0, end);
}

/* What follows a name: its type, or what its value is. */
static const char *typed(struct call *c, const char *word, const char *name, const char *type)
{
	return type ? arena_printf(c->scratch, "%s%s: %s", word, name, type) : arena_printf(c->scratch, "%s%s", word, name);
}

/* A declaration without its initial value. */
static const char *before_value(struct call *c, const char *text)
{
	const char *value = strstr(text, " = ");
	return value ? arena_strndup(c->scratch, text, (size_t)(value - text)) : text;
}

const char *symbol_signature(struct call *c, const struct analysis *a, const struct symbol *s)
{
	struct arena *m = c->scratch;
	switch (s->kind) {
	case SYMBOL_FN:
	case SYMBOL_LAYER:
	case SYMBOL_METHOD: {
		const char *text = source_text(c, a, s->header);
		return s->typed || !s->type ? text : arena_printf(m, "%s -> %s", text, s->type);
	}
	case SYMBOL_BUILTIN: return arena_printf(m, "%s(%s)", s->name, s->params ? s->params : "…");
	case SYMBOL_TYPE: return s->at.source == SPAN_NO_SOURCE ? arena_printf(m, "type %s", s->name) : source_text(c, a, s->header);
	case SYMBOL_MODULE: return arena_printf(m, "module %s", s->name);
	case SYMBOL_ALIAS: return source_text(c, a, s->header);
	case SYMBOL_CONST: return typed(c, "const ", s->name, s->type);
	case SYMBOL_PARAM: return s->type ? typed(c, "param ", s->name, s->type) : before_value(c, source_text(c, a, s->header));
	case SYMBOL_MEMBER:
	case SYMBOL_LOCAL: return typed(c, "let ", s->name, s->type);
	case SYMBOL_ARG: {
		const char *text = source_text(c, a, s->header);
		return s->typed || !s->type ? text : arena_printf(m, "%s: %s", text, s->type);
	}
	case SYMBOL_GENERIC: return arena_printf(m, "generic %s", source_text(c, a, s->header));
	case SYMBOL_DIM: return arena_printf(m, "dimension %s", s->name);
	case SYMBOL_MAIN: return "main";
	default: return s->name;
	}
}
