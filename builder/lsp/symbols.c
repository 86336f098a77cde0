/* Outlines: the definitions of a document, and those of all workspaces. */
#include <ctype.h>
#include <stdlib.h>
#include "base/arena.h"
#include "builder/lsp/query.h"

/* The protocol's SymbolKind; 0: not in an outline. */
static int outline_kind(enum symbol_kind k)
{
	switch (k) {
	case SYMBOL_FN: return 12;
	case SYMBOL_LAYER: return 5;
	case SYMBOL_CONST: return 14;
	case SYMBOL_TYPE: return 11;
	case SYMBOL_MAIN: return 12;
	case SYMBOL_METHOD: return 6;
	case SYMBOL_PARAM:
	case SYMBOL_STATE: return 8;
	case SYMBOL_MEMBER: return 7;
	case SYMBOL_MODULE: return 2;
	default: return 0;
	}
}

static bool is_outlined(const struct index *ix, const struct symbol *s, uint32_t source)
{
	if (s->at.source != source || !outline_kind(s->kind))
		return false;
	return s->kind != SYMBOL_CONST || s->parent == SYMBOL_NONE || ix->symbols.at[s->parent].kind == SYMBOL_LAYER;
}

struct outline {
	const struct symbol **at; /* by position, so that members follow their layer */
	uint32_t n;
};

static int symbols_by_position(const void *a, const void *b)
{
	const struct symbol *x = *(const struct symbol *const *)a, *y = *(const struct symbol *const *)b;
	return x->at.start < y->at.start ? -1 : x->at.start > y->at.start;
}

static struct outline outline_of(struct query *q)
{
	const struct index *ix = q->analysis->index;
	struct outline o = {ARENA_ARRAY(q->scratch, const struct symbol *, ix->symbols.len + 1), 0};
	for (uint32_t i = 0; i < ix->symbols.len; i++)
		if (is_outlined(ix, &ix->symbols.at[i], q->source->id))
			o.at[o.n++] = &ix->symbols.at[i];
	if (o.n)
		qsort(o.at, o.n, sizeof *o.at, symbols_by_position);
	return o;
}

static uint32_t symbols_put(struct query *q, const struct outline *o, uint32_t i, uint32_t end);

/* Writes one symbol with its children. Returns the number of the next one. */
static uint32_t symbols_put_symbol(struct query *q, const struct outline *o, uint32_t i)
{
	const struct symbol *s = o->at[i];
	struct json_writer *w = q->out;
	json_open(w, '{');
	json_member_str(w, "name", s->name);
	if (s->kind != SYMBOL_MAIN && s->kind != SYMBOL_MODULE)
		json_member_str(w, "detail", s->type && outline_kind(s->kind) != 12 ? s->type : source_text(q, s->header));
	json_member_int(w, "kind", outline_kind(s->kind));
	put_range(q, "range", s->whole);
	put_range(q, "selectionRange", s->at);
	json_member_open(w, "children", '[');
	i = symbols_put(q, o, i + 1, s->whole.end);
	json_close(w, ']');
	json_close(w, '}');
	return i;
}

static uint32_t symbols_put(struct query *q, const struct outline *o, uint32_t i, uint32_t end)
{
	while (i < o->n && o->at[i]->at.start < end)
		i = symbols_put_symbol(q, o, i);
	return i;
}

void query_document_symbols(struct query *q)
{
	struct outline o = outline_of(q);
	json_open(q->out, '[');
	symbols_put(q, &o, 0, UINT32_MAX);
	json_close(q->out, ']');
}

/* True if the name contains the letters of the query in their order. */
static bool symbols_matches(const char *name, const char *query)
{
	for (; *query; query++, name++) {
		while (*name && tolower((unsigned char)*name) != tolower((unsigned char)*query))
			name++;
		if (!*name)
			return false;
	}
	return true;
}

static void put_matches(struct query *q, const char *query)
{
	const struct index *ix = q->analysis->index;
	for (uint32_t i = 0; i < ix->symbols.len; i++) {
		const struct symbol *s = &ix->symbols.at[i];
		if (s->std || s->at.source == SPAN_NO_SOURCE || s->kind == SYMBOL_MODULE || s->kind == SYMBOL_MAIN ||
		    !is_outlined(ix, s, s->at.source) || !symbols_matches(s->name, query))
			continue;
		json_open(q->out, '{');
		json_member_str(q->out, "name", s->name);
		json_member_int(q->out, "kind", outline_kind(s->kind));
		if (s->parent != SYMBOL_NONE)
			json_member_str(q->out, "containerName", ix->symbols.at[s->parent].name);
		json_key(q->out, "location");
		put_location(q, s->at);
		json_close(q->out, '}');
	}
}

void query_workspace_symbols(struct query *q)
{
	const char *query = params_text(q->params, "query");
	struct query in_workspace = *q;
	json_open(q->out, '[');
	for (uint32_t i = 0; i < q->state->workspaces.len; i++) {
		const struct workspace *ws = q->state->workspaces.at[i];
		in_workspace.analysis = ws->analysis;
		if (workspace_document(q->state, ws))
			put_matches(&in_workspace, query ? query : "");
	}
	json_close(q->out, ']');
}
