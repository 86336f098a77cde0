/* Hover: the definition of the name under the cursor in one line, its type, its comment. */
#include <string.h>
#include "base/arena.h"
#include "base/foreign.h"
#include "builder/lsp/query.h"

/* The members of a layer that its users see. */
static void put_layer(struct query *q, uint32_t layer, struct buf *b)
{
	const struct index *ix = q->analysis->index;
	for (uint32_t i = index_next_child(ix, layer, SYMBOL_NONE); i != SYMBOL_NONE; i = index_next_child(ix, layer, i)) {
		const struct symbol *s = &ix->symbols.at[i];
		if (s->kind == SYMBOL_PARAM || s->kind == SYMBOL_STATE || s->kind == SYMBOL_METHOD ||
		    (s->kind == SYMBOL_MEMBER && s->type && s->name[0] != '_'))
			buf_printf(b, "\n    %s", symbol_signature(q, s));
	}
}

/* True if the declaration contains the type: "x: Tensor<float32, [N]>" contains float32[N]. */
static bool contains_type(struct query *q, const char *declaration, const char *type)
{
	size_t n = strcspn(type, "[");
	return strstr(declaration, type) || strstr(declaration, arena_printf(q->scratch, "<%.*s, %s>", (int)n, type, type + n));
}

/* The code that is shown. */
static const char *hover_code_of(struct query *q)
{
	const struct symbol *s = q->symbol;
	struct buf b = {0};
	const char *value = q->use->type;
	bool callable = s && (s->kind == SYMBOL_FN || s->kind == SYMBOL_METHOD || s->kind == SYMBOL_LAYER || s->kind == SYMBOL_BUILTIN);
	if (!s)
		buf_printf(&b, "%s: %s", source_text(q, q->use->at), value);
	else if (!callable && value && s->type && strcmp(value, s->type) != 0) { /* another type than at the definition */
		struct symbol here = *s;
		here.type = value;
		buf_puts(&b, symbol_signature(q, &here));
	} else {
		buf_puts(&b, symbol_signature(q, s));
	}
	if (s && s->kind == SYMBOL_ARG && s->typed && value && !contains_type(q, b.at, value))
		buf_printf(&b, "\n# %s", value);
	if (s && s->kind == SYMBOL_LAYER)
		put_layer(q, (uint32_t)(s - q->analysis->index->symbols.at), &b);
	const char *text = arena_strndup(q->scratch, b.at, b.len);
	buf_free(&b);
	return text;
}

static const char *doc_of(struct query *q, const struct symbol *s)
{
	if (s->doc || s->at.source == SPAN_NO_SOURCE)
		return s->doc;
	if (s->kind == SYMBOL_MODULE)
		return s->target.source == SPAN_NO_SOURCE ? NULL : module_comment(q, s->target.source);
	return source_comment(q, s->whole);
}

/* Puts code between rows of backticks, one more than it has in a row. */
static void put_code_block(const char *code, struct buf *b)
{
	struct buf fence = {0};
	buf_puts(&fence, "```");
	while (strstr(code, fence.at))
		buf_putc(&fence, '`');
	buf_printf(b, "%stri\n", fence.at);
	foreign_puts(b, FOREIGN_TEXT, code);
	buf_printf(b, "\n%s", fence.at);
	buf_free(&fence);
}

/* A comment is prose with code in backticks. It cannot load a picture or hide an address. */
static void hover_put_comment(const char *doc, struct buf *b)
{
	for (const char *end; *doc; doc = end + (*end == '\n')) {
		end = doc + strcspn(doc, "\n");
		buf_putc(b, '\n');
		foreign_put(b, FOREIGN_MARKDOWN, doc, (size_t)(end - doc));
	}
}

void query_hover(struct query *q)
{
	if (!q->use || (!q->symbol && !q->use->type))
		return;
	const struct symbol *s = q->symbol;
	const char *code = hover_code_of(q);
	const char *doc = s ? doc_of(q, s) : NULL;
	bool markdown = q->state->client.markdown;
	struct buf b = {0};
	if (markdown) {
		put_code_block(code, &b);
		buf_puts(&b, doc ? "\n" : "");
		hover_put_comment(doc ? doc : "", &b);
	} else {
		buf_printf(&b, "%s%s%s", code, doc ? "\n" : "", doc ? doc : "");
	}
	json_open(q->out, '{');
	json_member_open(q->out, "contents", '{');
	json_member_str(q->out, "kind", markdown ? "markdown" : "plaintext");
	json_member_str(q->out, "value", b.at);
	json_close(q->out, '}');
	put_range(q, "range", q->use->at);
	json_close(q->out, '}');
	buf_free(&b);
}
