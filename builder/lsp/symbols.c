/* Outlines: what a document defines, and what the workspaces define. */
#include <ctype.h>
#include <stdlib.h>
#include "base/arena.h"
#include "builder/lsp/call.h"

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
	case SYMBOL_PARAM: return 8;
	case SYMBOL_MEMBER: return 7;
	case SYMBOL_MODULE: return 2;
	default: return 0;
	}
}

static bool outlined(const struct index *ix, const struct symbol *s, uint32_t source)
{
	if (s->at.source != source || !outline_kind(s->kind))
		return false;
	return s->kind != SYMBOL_CONST || s->parent == SYMBOL_NONE || ix->symbols.at[s->parent].kind == SYMBOL_LAYER;
}

struct outline {
	const struct symbol **at; /* by place, so that members follow their layer */
	uint32_t n;
};

static int by_place(const void *a, const void *b)
{
	const struct symbol *x = *(const struct symbol *const *)a, *y = *(const struct symbol *const *)b;
	return x->at.start < y->at.start ? -1 : x->at.start > y->at.start;
}

static struct outline outline_of(struct call *c, const struct place *p)
{
	const struct index *ix = p->a->index;
	struct outline o = {ARENA_ARRAY(c->scratch, const struct symbol *, ix->symbols.len + 1), 0};
	for (uint32_t i = 0; i < ix->symbols.len; i++)
		if (outlined(ix, &ix->symbols.at[i], p->source->id))
			o.at[o.n++] = &ix->symbols.at[i];
	if (o.n)
		qsort(o.at, o.n, sizeof *o.at, by_place);
	return o;
}

static uint32_t put_symbols(struct call *c, const struct place *p, const struct outline *o, uint32_t i, uint32_t end);

/* One symbol and what stands in it; the number of the next. */
static uint32_t put_symbol(struct call *c, const struct place *p, const struct outline *o, uint32_t i)
{
	const struct symbol *s = o->at[i];
	struct json_writer *w = c->out;
	json_open(w, '{');
	json_member_str(w, "name", s->name);
	if (s->kind != SYMBOL_MAIN && s->kind != SYMBOL_MODULE)
		json_member_str(w, "detail", s->type && outline_kind(s->kind) != 12 ? s->type : source_text(c, p->a, s->header));
	json_member_int(w, "kind", outline_kind(s->kind));
	put_range(c, p->a, "range", s->whole);
	put_range(c, p->a, "selectionRange", s->at);
	json_member_open(w, "children", '[');
	i = put_symbols(c, p, o, i + 1, s->whole.end);
	json_close(w, ']');
	json_close(w, '}');
	return i;
}

static uint32_t put_symbols(struct call *c, const struct place *p, const struct outline *o, uint32_t i, uint32_t end)
{
	while (i < o->n && o->at[i]->at.start < end)
		i = put_symbol(c, p, o, i);
	return i;
}

void request_document_symbols(struct call *c)
{
	struct place p;
	if (!call_source(c, &p))
		return;
	struct outline o = outline_of(c, &p);
	json_open(c->out, '[');
	put_symbols(c, &p, &o, 0, UINT32_MAX);
	json_close(c->out, ']');
}

/* The letters of the query in their order, whatever stands between. */
static bool matches(const char *name, const char *query)
{
	for (; *query; query++, name++) {
		while (*name && tolower((unsigned char)*name) != tolower((unsigned char)*query))
			name++;
		if (!*name)
			return false;
	}
	return true;
}

static void put_matches(struct call *c, struct analysis *a, const char *query)
{
	const struct index *ix = a->index;
	for (uint32_t i = 0; i < ix->symbols.len; i++) {
		const struct symbol *s = &ix->symbols.at[i];
		if (s->std || s->at.source == SPAN_NO_SOURCE || s->kind == SYMBOL_MODULE || s->kind == SYMBOL_MAIN ||
		    !outlined(ix, s, s->at.source) || !matches(s->name, query))
			continue;
		json_open(c->out, '{');
		json_member_str(c->out, "name", s->name);
		json_member_int(c->out, "kind", outline_kind(s->kind));
		if (s->parent != SYMBOL_NONE)
			json_member_str(c->out, "containerName", ix->symbols.at[s->parent].name);
		json_key(c->out, "location");
		put_location(c, a, s->at);
		json_close(c->out, '}');
	}
}

void request_workspace_symbols(struct call *c)
{
	const char *query = json_text(c->params, "query");
	json_open(c->out, '[');
	for (uint32_t i = 0; i < c->s->workspaces.len; i++) {
		struct workspace *ws = c->s->workspaces.at[i];
		for (uint32_t k = 0; k < c->s->documents.len; k++)
			if (c->s->documents.at[k]->ws == ws) {
				put_matches(c, server_analysis(c->s, c->s->documents.at[k]), query ? query : "");
				break;
			}
	}
	json_close(c->out, ']');
}
