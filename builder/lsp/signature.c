/* Signature help: the called function, its parameters, and the one at the cursor. */
#include <string.h>
#include "base/arena.h"
#include "base/vec.h"
#include "builder/lsp/query.h"

struct parameter {
	const char *name, *text;
};
struct signature {
	const struct symbol *symbol;
	const char *name;
	VEC(struct parameter) params;
};

static void split_params(struct query *q, struct signature *g, const char *params)
{
	for (const char *p = params; p && *p;) {
		size_t len = strcspn(p, ","), name = strcspn(p, "=,");
		vec_push(&g->params, ((struct parameter){arena_strndup(q->scratch, p, name), arena_strndup(q->scratch, p, len)}));
		p += len;
		p += strspn(p, ", ");
	}
}

static void read_signature(struct query *q, uint32_t symbol, const char *name, struct signature *g)
{
	const struct index *ix = q->analysis->index;
	*g = (struct signature){.symbol = &ix->symbols.at[symbol], .name = name};
	if (g->symbol->at.source == SPAN_NO_SOURCE) {
		split_params(q, g, g->symbol->params);
		return;
	}
	for (uint32_t i = index_next_child(ix, symbol, SYMBOL_NONE); i != SYMBOL_NONE; i = index_next_child(ix, symbol, i)) {
		const struct symbol *s = &ix->symbols.at[i];
		if (s->kind == SYMBOL_ARG)
			vec_push(&g->params, ((struct parameter){s->name, symbol_signature(q, s)}));
	}
}

static uint32_t active_parameter(const struct signature *g, const struct cursor *cur, const struct cursor_call *at, bool method)
{
	for (uint32_t i = 0; at->name != TOKEN_NONE && i < g->params.len; i++)
		if (token_is(&cur->tokens, at->name, g->params.at[i].name))
			return i;
	uint32_t i = at->argument + method;
	bool rest = g->params.len && g->params.at[g->params.len - 1].text[0] == '*';
	return rest && i >= g->params.len ? g->params.len - 1 : i;
}

static void put_signature(struct query *q, const struct signature *g, uint32_t which)
{
	struct json_writer *w = q->out;
	struct buf label = {0};
	json_open(w, '{');
	json_member_open(w, "signatures", '[');
	json_open(w, '{');
	buf_printf(&label, "%s(", g->name);
	for (uint32_t i = 0; i < g->params.len; i++)
		buf_printf(&label, "%s%s", i ? ", " : "", g->params.at[i].text);
	buf_printf(&label, ")%s%s", g->symbol->type ? " -> " : "", g->symbol->type ? g->symbol->type : "");
	json_member_str(w, "label", label.at);
	const char *doc = g->symbol->doc || g->symbol->at.source == SPAN_NO_SOURCE ? g->symbol->doc : source_comment(q, g->symbol->whole);
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

static void put_help(struct query *q, const struct cursor *cur)
{
	struct cursor_call at;
	if (!q->source || !cursor_call(cur, &at))
		return;
	span callee = {q->source->id, cur->tokens.starts[at.callee], cur->tokens.ends[at.callee]};
	const struct index_call *call = index_call_of(q->analysis->index, callee);
	if (!call)
		return;
	struct signature g;
	read_signature(q, call->symbol, source_text(q, callee), &g);
	put_signature(q, &g, active_parameter(&g, cur, &at, call->method));
	vec_free(&g.params);
}

/* Beside a number or a string, where no name can be inserted, the text needs none. */
void query_signature_help(struct query *q)
{
	struct cursor cursor;
	if (query_at_cursor(q, put_help))
		return;
	cursor_open(&cursor, q->source->text, q->source->len, q->offset);
	put_help(q, &cursor);
	cursor_close(&cursor);
}
