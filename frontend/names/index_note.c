/* Notes of the resolver in an editor's index: definitions, uses, completions. */
#include "frontend/names/index_note.h"
#include <string.h>
#include "base/arena.h"

static uint64_t span_key(span at) { return (uint64_t)at.source << 32 | at.start; }

/* ---- the prelude ---- */

/* Builtins, other functions, types; `params` of a type that is no function is NULL. */
static const struct {
	const char *name, *params, *doc;
} prelude[] = {
#define BUILTIN(id, name, signature, operands, rule, help) {name, signature, help},
#include "frontend/hir/builtins.def"
#undef BUILTIN
	{"print", "*values", "Prints the values; in compiled code as debug output."},
	{"len", "x", "The length of a list, tuple or string, or of a tensor's first dimension."},
	{"shape", "x", "The sizes of a tensor as a tuple."},
	{"range", "start, stop=none, step=1", "The integers from start up to stop, which is excluded; `range(n)` starts at 0."},
	{"enumerate", "list", "Pairs of index and element."},
	{"zip", "a, b", "Pairs of the elements of two lists."},
	{"reversed", "list", "The elements from last to first."},
	{"str", "x", "The value as a string."},
	{"ntuple", "x, n", "A list or tuple of n values as a tuple; another value n times: ntuple(3, 2) is (3, 3)."},
	{"Tensor", NULL, "Tensor<dtype, [dims]>: dims are sizes, names, arithmetic over names, or `?`."},
	{"TernaryTensor", NULL, "A tensor of trits: TernaryTensor<trit, [dims]>."},
	{"List", NULL, "List<A>: a compile-time list, for example of layers."},
	{"Tuple", NULL, "Tuple<A, B>: the same as (A, B)."},
	{"void", NULL, "No value."},
	{"bool", "x", "true or false."},
	{"trit", "x", "-1, 0 or 1, packed at two bits."},
	{"uint8", "x", "8-bit unsigned integer, a byte; a call converts."},
	{"int8", "x", "8-bit signed integer; a call converts."},
	{"int16", "x", "16-bit signed integer; a call converts."},
	{"int32", "x", "32-bit signed integer; a call converts."},
	{"int64", "x", "64-bit signed integer; a call converts."},
	{"float16", "x", "IEEE half precision; a call converts."},
	{"bfloat16", "x", "The upper half of a float32; a call converts."},
	{"float32", "x", "IEEE single precision; a call converts."},
	{"float64", "x", "IEEE double precision; a call converts."},
	{"int", "x", "int32."},
	{"float", "x", "float32."},
};
enum { N_PRELUDE = sizeof prelude / sizeof *prelude };

static void add_builtin(struct index *ix, const char *name, bool type)
{
	struct symbol s = {.kind = type ? SYMBOL_TYPE : SYMBOL_BUILTIN, .name = name, .parent = SYMBOL_NONE, .std = true, .typed = true};
	s.at = s.header = s.whole = s.target = SPAN_NONE;
	for (size_t i = 0; i < N_PRELUDE; i++)
		if (!strcmp(prelude[i].name, name)) {
			s.params = prelude[i].params;
			s.doc = prelude[i].doc;
		}
	map_put(&ix->by_builtin, map_key_str(name), ix->symbols.len);
	vec_push(&ix->symbols, s);
}

void index_add_builtin(struct frontend *f, const char *name, bool type) { add_builtin(f->index, name, type); }

void index_bare_types(struct frontend *f)
{
	for (size_t i = 0; i < N_PRELUDE; i++)
		if (!prelude[i].params)
			add_builtin(f->index, prelude[i].name, true);
	f->index->n_builtins = f->index->symbols.len;
}

/* ---- definitions and uses ---- */

static uint32_t symbol_at(struct frontend *f, const struct module *m, token_id name)
{
	struct index *ix = f->index;
	span at = tok_span(m, name);
	uint64_t known;
	if (map_get(&ix->by_name, map_key_u64(span_key(at)), &known))
		return (uint32_t)known;
	struct symbol s = {.at = at, .header = at, .whole = at, .target = SPAN_NONE, .parent = SYMBOL_NONE, .std = m->std};
	s.name = name_text(f, token_name(f, (struct module *)(uintptr_t)m, name));
	map_put(&ix->by_name, map_key_u64(span_key(at)), ix->symbols.len);
	vec_push(&ix->symbols, s);
	index_use(f, at, ix->symbols.len - 1);
	return ix->symbols.len - 1;
}

/* The first token of a definition's body; TOKEN_NONE: it has none. */
static token_id body_token(const struct ast *t, node_id n)
{
	switch (ast_kind(t, n)) {
	case NODE_FN:
	case NODE_LAYER: {
		node_id body = ast_fn(t, n).body;
		return ast_kind(t, body) == NODE_BLOCK ? ast_token(t, body) : TOKEN_NONE;
	}
	case NODE_MAIN: return ast_token(t, n) + 1;
	default: return TOKEN_NONE;
	}
}

static span header_of(const struct module *m, node_id n)
{
	span all = node_span(m, n);
	token_id body = body_token(&m->ast, n);
	if (body != TOKEN_NONE && body)
		all.end = m->ast.tokens.ends[body - 1];
	return all;
}

uint32_t index_define(struct frontend *f, const struct module *m, token_id name, const struct definition *d)
{
	if (!f->index)
		return SYMBOL_NONE;
	uint32_t i = symbol_at(f, m, name);
	struct symbol *s = &f->index->symbols.at[i];
	if (s->kind != SYMBOL_UNKNOWN)
		return i;
	s->kind = d->kind;
	s->whole = node_span(m, d->whole);
	s->header = header_of(m, d->whole);
	s->parent = d->parent;
	s->typed = d->typed;
	return i;
}

void index_use(struct frontend *f, span at, uint32_t symbol)
{
	struct index *ix = f->index;
	uint64_t i;
	if (!ix || at.source == SPAN_NO_SOURCE)
		return;
	if (!map_get(&ix->by_use, map_key_u64(span_key(at)), &i)) {
		map_put(&ix->by_use, map_key_u64(span_key(at)), ix->uses.len);
		vec_push(&ix->uses, ((struct index_use){.at = at, .symbol = symbol}));
	} else if (ix->uses.at[i].symbol == SYMBOL_NONE) {
		ix->uses.at[i].symbol = symbol;
	}
}

uint32_t index_find_capacity(const struct index *ix, const char *name, bool std)
{
	for (uint32_t i = ix->n_builtins; i < ix->symbols.len; i++) {
		const struct symbol *s = &ix->symbols.at[i];
		if (s->kind == SYMBOL_CAPACITY && s->std == std && !strcmp(s->name, name))
			return i;
	}
	return SYMBOL_NONE;
}

void index_capacity(struct frontend *f, const struct module *m, token_id name, node_id whole)
{
	if (!f->index)
		return;
	const char *text = name_text(f, token_name(f, (struct module *)(uintptr_t)m, name));
	uint32_t known = index_find_capacity(f->index, text, m->std);
	if (known != SYMBOL_NONE)
		index_use(f, tok_span(m, name), known);
	else
		index_define(f, m, name,
			     &(struct definition){.kind = SYMBOL_CAPACITY, .whole = whole, .parent = SYMBOL_NONE, .typed = true});
}

/* ---- items ---- */

static bool has_result(const struct ast *t, node_id n)
{
	enum node_kind k = ast_kind(t, n);
	return (k == NODE_FN || k == NODE_LAYER) && ast_fn(t, n).result != AST_NONE;
}

static uint32_t define_import(struct frontend *f, struct item *it)
{
	struct definition d = {.kind = SYMBOL_MODULE, .whole = it->node, .parent = SYMBOL_NONE, .typed = true};
	uint32_t i = index_define(f, it->mod, it->name_token, &d);
	struct symbol *s = &f->index->symbols.at[i];
	s->name = name_text(f, it->name);
	if (it->import.target)
		s->target = (span){it->import.target->ast.tokens.src->id, 0, 0};
	return i;
}

static uint32_t define_from(struct frontend *f, struct item *it)
{
	struct item *final = item_resolve_import(f, it);
	uint32_t to = final ? index_item(f, final) : SYMBOL_NONE;
	token_id remote = ast_token(&it->mod->ast, it->node);
	if (to != SYMBOL_NONE)
		index_use(f, tok_span(it->mod, remote), to);
	if (remote == it->name_token && to != SYMBOL_NONE)
		return to;
	struct definition d = {.kind = SYMBOL_ALIAS, .whole = it->node, .parent = SYMBOL_NONE, .typed = true};
	uint32_t i = index_define(f, it->mod, it->name_token, &d);
	if (to != SYMBOL_NONE)
		f->index->symbols.at[i].target = f->index->symbols.at[to].at;
	return i;
}

uint32_t index_item(struct frontend *f, struct item *it)
{
	static const enum symbol_kind kinds[] = {
		[ITEM_FN] = SYMBOL_FN,       [ITEM_LAYER] = SYMBOL_LAYER, [ITEM_MODULE_LAYER] = SYMBOL_LAYER,
		[ITEM_CONST] = SYMBOL_CONST, [ITEM_TYPE] = SYMBOL_TYPE,   [ITEM_MAIN] = SYMBOL_MAIN,
	};
	if (!f->index)
		return SYMBOL_NONE;
	if (it->kind == ITEM_FROM)
		return define_from(f, it);
	if (it->kind == ITEM_IMPORT)
		return define_import(f, it);
	const struct ast *t = &it->mod->ast;
	struct definition d = {.kind = kinds[it->kind], .whole = it->node, .parent = SYMBOL_NONE};
	d.typed = has_result(t, it->node) || it->kind == ITEM_MODULE_LAYER || it->kind == ITEM_MAIN;
	return index_define(f, it->mod, it->name_token, &d);
}

/* ---- candidates ---- */

void index_offer(struct frontend *f, const char *name, enum symbol_kind kind, uint32_t symbol, const char *detail)
{
	if (detail)
		detail = arena_strdup(f->index->arena, detail);
	vec_push(&f->index->candidates, ((struct candidate){name, detail, kind, symbol}));
}

void index_offer_items(struct frontend *f, struct module *m, bool own)
{
	for (uint32_t i = 0; i < m->n_items; i++) {
		if (!m->items[i].name || (!own && m->std && *name_text(f, m->items[i].name) == '_'))
			continue;
		uint32_t s = index_item(f, &m->items[i]);
		index_offer(f, name_text(f, m->items[i].name), f->index->symbols.at[s].kind, s, NULL);
	}
}

void index_offer_globals(struct frontend *f, struct module *m, enum ask_context context)
{
	struct index *ix = f->index;
	ix->context = context;
	index_offer_items(f, m, true);
	for (uint32_t i = 0; i < ix->n_builtins; i++)
		if (context != ASK_TYPE || ix->symbols.at[i].kind == SYMBOL_TYPE)
			index_offer(f, ix->symbols.at[i].name, ix->symbols.at[i].kind, i, ix->symbols.at[i].params);
}
