/* What stands under the cursor: its definition in one line, its solved type, its comment. */
#include <string.h>
#include "base/arena.h"
#include "builder/lsp/call.h"

/* The members of a layer that make its interface. */
static void put_layer(struct call *c, const struct place *p, uint32_t layer, struct buf *b)
{
	const struct index *ix = p->a->index;
	for (uint32_t i = index_next_child(ix, layer, SYMBOL_NONE); i != SYMBOL_NONE; i = index_next_child(ix, layer, i)) {
		const struct symbol *s = &ix->symbols.at[i];
		if (s->kind == SYMBOL_PARAM || s->kind == SYMBOL_METHOD || (s->kind == SYMBOL_MEMBER && s->type && s->name[0] != '_'))
			buf_printf(b, "\n    %s", symbol_signature(c, p->a, s));
	}
}

/* Does a declaration say the type itself? "x: Tensor<float32, [N]>" says float32[N]. */
static bool says(struct call *c, const char *declaration, const char *type)
{
	size_t n = strcspn(type, "[");
	return strstr(declaration, type) || strstr(declaration, arena_printf(c->scratch, "<%.*s, %s>", (int)n, type, type + n));
}

/* The code that is shown. */
static const char *code_of(struct call *c, const struct place *p)
{
	const struct symbol *s = p->symbol;
	struct buf b = {0};
	const char *value = p->use->type;
	bool callable = s && (s->kind == SYMBOL_FN || s->kind == SYMBOL_METHOD || s->kind == SYMBOL_LAYER || s->kind == SYMBOL_BUILTIN);
	if (!s)
		buf_printf(&b, "%s: %s", source_text(c, p->a, p->use->at), value);
	else if (!callable && value && s->type && strcmp(value, s->type) != 0) { /* not what it was where it was defined */
		struct symbol here = *s;
		here.type = value;
		buf_puts(&b, symbol_signature(c, p->a, &here));
	} else {
		buf_puts(&b, symbol_signature(c, p->a, s));
	}
	if (s && s->kind == SYMBOL_ARG && s->typed && value && !says(c, b.at, value))
		buf_printf(&b, "\n# %s", value);
	if (s && s->kind == SYMBOL_LAYER)
		put_layer(c, p, (uint32_t)(s - p->a->index->symbols.at), &b);
	const char *text = arena_strndup(c->scratch, b.at, b.len);
	buf_free(&b);
	return text;
}

static const char *doc_of(struct call *c, const struct analysis *a, const struct symbol *s)
{
	if (s->doc || s->at.source == SPAN_NO_SOURCE)
		return s->doc;
	if (s->kind == SYMBOL_MODULE)
		return s->target.source == SPAN_NO_SOURCE ? NULL : module_comment(c, a, s->target.source);
	return source_comment(c, a, s->whole);
}

void request_hover(struct call *c)
{
	struct place p;
	if (!call_place(c, &p) || !p.use || (!p.symbol && !p.use->type))
		return;
	const struct symbol *s = p.symbol;
	const char *code = code_of(c, &p);
	const char *doc = s ? doc_of(c, p.a, s) : NULL;
	bool markdown = c->s->client.markdown;
	struct buf b = {0};
	buf_printf(&b, markdown ? "```tri\n%s\n```" : "%s", code);
	if (doc)
		buf_printf(&b, "\n%s%s", markdown ? "\n" : "", doc);
	json_open(c->out, '{');
	json_member_open(c->out, "contents", '{');
	json_member_str(c->out, "kind", markdown ? "markdown" : "plaintext");
	json_member_str(c->out, "value", b.at);
	json_close(c->out, '}');
	put_range(c, p.a, "range", p.use->at);
	json_close(c->out, '}');
	buf_free(&b);
}
