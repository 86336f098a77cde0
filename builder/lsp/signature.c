/* The function that is being called, its parameters, and which of them the cursor is at. */
#include <string.h>
#include "base/arena.h"
#include "base/vec.h"
#include "builder/lsp/call.h"
#include "builder/lsp/cursor.h"

struct parameter {
	const char *name, *text;
};
struct signature {
	const struct symbol *symbol;
	const char *name;
	VEC(struct parameter) params;
};

static void split_params(struct call *c, struct signature *g, const char *params)
{
	for (const char *p = params; p && *p;) {
		size_t len = strcspn(p, ","), name = strcspn(p, "=,");
		struct parameter q = {arena_strndup(c->scratch, p, name), arena_strndup(c->scratch, p, len)};
		vec_push(&g->params, q);
		p += len;
		p += strspn(p, ", ");
	}
}

static void read_signature(struct call *c, const struct analysis *a, uint32_t symbol, const char *name, struct signature *g)
{
	const struct index *ix = a->index;
	*g = (struct signature){.symbol = &ix->symbols.at[symbol], .name = name};
	if (g->symbol->at.source == SPAN_NO_SOURCE) {
		split_params(c, g, g->symbol->params);
		return;
	}
	for (uint32_t i = index_next_child(ix, symbol, SYMBOL_NONE); i != SYMBOL_NONE; i = index_next_child(ix, symbol, i)) {
		const struct symbol *s = &ix->symbols.at[i];
		if (s->kind == SYMBOL_ARG)
			vec_push(&g->params, ((struct parameter){s->name, symbol_signature(c, a, s)}));
	}
}

static uint32_t active(const struct signature *g, const struct cursor *cur, const struct cursor_call *at, bool method)
{
	for (uint32_t i = 0; at->name != TOKEN_NONE && i < g->params.len; i++)
		if (token_is(&cur->tokens, at->name, g->params.at[i].name))
			return i;
	uint32_t i = at->argument + method;
	bool rest = g->params.len && g->params.at[g->params.len - 1].text[0] == '*';
	return rest && i >= g->params.len ? g->params.len - 1 : i;
}

static void put_signature(struct call *c, const struct analysis *a, const struct signature *g, uint32_t which)
{
	struct json_writer *w = c->out;
	struct buf label = {0};
	json_open(w, '{');
	json_member_open(w, "signatures", '[');
	json_open(w, '{');
	buf_printf(&label, "%s(", g->name);
	for (uint32_t i = 0; i < g->params.len; i++)
		buf_printf(&label, "%s%s", i ? ", " : "", g->params.at[i].text);
	buf_printf(&label, ")%s%s", g->symbol->type ? " -> " : "", g->symbol->type ? g->symbol->type : "");
	json_member_str(w, "label", label.at);
	const char *doc =
		g->symbol->doc || g->symbol->at.source == SPAN_NO_SOURCE ? g->symbol->doc : source_comment(c, a, g->symbol->whole);
	if (doc)
		json_member_str(w, "documentation", doc);
	json_member_open(w, "parameters", '[');
	for (uint32_t i = 0; i < g->params.len; i++) {
		json_open(w, '{');
		json_member_str(w, "label", g->params.at[i].text);
		json_close(w, '}');
	}
	json_close(w, ']');
	json_close(w, '}');
	json_close(w, ']');
	json_member_int(w, "activeSignature", 0);
	json_member_int(w, "activeParameter", which);
	json_close(w, '}');
	buf_free(&label);
}

static void answer(struct call *c, const struct place *p, const struct analysis *a, const struct cursor *cur)
{
	const struct source *s = analysis_source(a, p->document->path);
	struct cursor_call at;
	if (!s || !cursor_call(cur, &at))
		return;
	span callee = {s->id, cur->tokens.starts[at.callee], cur->tokens.ends[at.callee]};
	const struct index_call *call = index_call_of(a->index, callee);
	if (!call)
		return;
	struct signature g;
	read_signature(c, a, call->symbol, source_text(c, a, callee), &g);
	put_signature(c, a, &g, active(&g, cur, &at, call->method));
	vec_free(&g.params);
}

void request_signature_help(struct call *c)
{
	struct place p;
	struct buf text = {0};
	size_t asked;
	if (!call_place(c, &p))
		return;
	if (cursor_probe(p.source->text, p.source->len, p.offset, &text, &asked)) {
		struct probe probe = {p.document, text.at, text.len, asked};
		struct analysis *a = analysis_new(c->s, p.document->ws, &probe);
		struct cursor cur;
		cursor_open(&cur, text.at, text.len, asked);
		answer(c, &p, a, &cur);
		cursor_close(&cur);
		analysis_free(a);
	}
	buf_free(&text);
}
