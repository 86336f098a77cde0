/* The items of a file: what it defines and imports. */
#include "frontend/names/module.h"
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/path.h"
#include "frontend/syntax/literal.h"

static void collect_define(struct frontend *f, struct module *m, struct item it)
{
	struct item *old = it.name ? module_find(m, it.name) : NULL;
	if (old) {
		struct diag *g =
			diag_add(f->diags, DIAG_DUPLICATE, tok_span(m, it.name_token), "`%s` is defined twice", name_text(f, it.name));
		diag_label_primary(f->diags, g, "defined again here");
		diag_secondary(f->diags, g, tok_span(m, old->name_token), "first defined here");
		m->failed = true;
		it.name = 0; /* still checked, but not found by name */
	}
	it.mod = m;
	m->items[m->n_items] = it;
	if (it.name)
		map_put(&m->by_name, map_key_u64(it.name), m->n_items);
	m->n_items++;
}

static enum item_kind collect_kind_of(const struct ast *t, node_id n)
{
	switch (ast_kind(t, n)) {
	case NODE_FN: return ITEM_FN;
	case NODE_LAYER: return ast_fn(t, n).module_form ? ITEM_MODULE_LAYER : ITEM_LAYER;
	case NODE_CONST: return ITEM_CONST;
	case NODE_ALIAS: return ITEM_TYPE;
	default: return ITEM_MAIN;
	}
}

/* The tokens that callers depend on: the declaration, if it has a result type; else the whole definition. */
static hash128 interface_tokens(const struct ast *t, node_id n, hash128 tokens)
{
	struct ast_fn fn = ast_fn(t, n);
	return fn.result && fn.body ? ast_tokens_before(t, n, fn.body) : tokens;
}

static void define_item(struct frontend *f, struct module *m, node_id n, hash128 tokens)
{
	const struct ast *t = &m->ast;
	token_id tok = ast_item_name(t, n);
	if (tok == TOKEN_NONE)
		return;
	struct item it = {.kind = collect_kind_of(t, n), .node = n, .name_token = tok, .tokens = tokens, .interface = tokens};
	if (f->records_reads && (it.kind == ITEM_FN || it.kind == ITEM_LAYER))
		it.interface = interface_tokens(t, n, tokens);
	if (it.kind != ITEM_MAIN)
		it.name = token_name(f, m, tok);
	collect_define(f, m, it);
	struct frontend_def def = {
		.file = m->path,
		.name = it.kind == ITEM_MAIN ? "main" : name_text(f, token_name(f, m, tok)),
		.tokens = it.tokens,
		.at = node_span(m, n),
	};
	vec_push(&f->loaded.defs, def);
}

/* Returns the number of names that a pattern binds; stores their tokens from left to right, unless `names` is NULL. */
static uint32_t pattern_names(const struct ast *t, node_id pattern, token_id *names)
{
	enum node_kind k = ast_kind(t, pattern);
	token_id one = k == NODE_PAT_NAME ? ast_token(t, pattern) : k == NODE_PAT_REST ? ast_a(t, pattern) : TOKEN_NONE;
	if (one != TOKEN_NONE) {
		bool wildcard = token_is(&t->tokens, one, "_");
		if (names && !wildcard)
			*names = one;
		return !wildcard;
	}
	if (k != NODE_PAT_TUPLE && k != NODE_PAT_LIST)
		return 0;
	struct ast_nodes items = ast_nodes(t, ast_a(t, pattern));
	uint32_t n = 0;
	for (uint32_t i = 0; i < items.n; i++)
		n += pattern_names(t, items.at[i], names ? names + n : NULL);
	return n;
}

/* A constant for each name of the pattern; one definition, named after the first. */
static void define_let(struct frontend *f, struct module *m, node_id n, hash128 tokens)
{
	node_id pattern = ast_let(&m->ast, n).pattern;
	uint32_t count = pattern_names(&m->ast, pattern, NULL);
	token_id *names = ARENA_ARRAY(f->arena, token_id, count + 1);
	pattern_names(&m->ast, pattern, names);
	for (uint32_t i = 0; i < count; i++)
		collect_define(f, m,
			       (struct item){.kind = ITEM_CONST,
					     .node = n,
					     .name_token = names[i],
					     .name = token_name(f, m, names[i]),
					     .tokens = tokens,
					     .interface = tokens});
	struct frontend_def def = {.file = m->path, .tokens = tokens, .at = node_span(m, n)};
	def.name = count ? name_text(f, token_name(f, m, names[0])) : "_";
	vec_push(&f->loaded.defs, def);
}

/* ---- imports ---- */

/* The name that `import "dir/blocks.tri"` binds without `as`. */
static name_id import_name(struct frontend *f, const struct module *m, token_id tok)
{
	size_t n;
	if (token_kind(&m->ast.tokens, tok) != TOK_STRING)
		return token_name(f, m, tok);
	return intern_str(f->names, path_stem(f->arena, literal_string(&m->ast.tokens, tok, f->arena, &n)));
}

static void import_one(struct frontend *f, struct module *m, node_id n, bool *ok)
{
	const struct ast *t = &m->ast;
	token_id what = ast_a(t, n), as = ast_b(t, n);
	if (what == TOKEN_NONE)
		return;
	struct module *target = import_target(f, m, what, ok);
	if (ast_kind(t, n) == NODE_IMPORT) {
		struct item it = {.kind = ITEM_IMPORT, .node = n, .import.target = target, .name_token = as == TOKEN_NONE ? what : as};
		it.name = as == TOKEN_NONE ? import_name(f, m, what) : token_name(f, m, as);
		collect_define(f, m, it);
		return;
	}
	struct ast_nodes names = ast_nodes(t, ast_b(t, n));
	for (uint32_t i = 0; i < names.n; i++) {
		if (ast_kind(t, names.at[i]) != NODE_IMPORT_NAME)
			continue;
		token_id remote = ast_token(t, names.at[i]), local = ast_a(t, names.at[i]);
		struct item it = {
			.kind = ITEM_FROM, .node = names.at[i], .import.target = target, .import.remote = token_name(f, m, remote)};
		it.name_token = local == TOKEN_NONE ? remote : local;
		it.name = token_name(f, m, it.name_token);
		collect_define(f, m, it);
	}
}

static uint32_t count_items(const struct ast *t, struct ast_nodes items)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < items.n; i++) {
		enum node_kind k = ast_kind(t, items.at[i]);
		n += k == NODE_FROM_IMPORT ? ast_nodes(t, ast_b(t, items.at[i])).n
		     : k == NODE_LET       ? pattern_names(t, ast_let(t, items.at[i]).pattern, NULL)
					   : 1;
	}
	return n;
}

/* The line number at an offset of the file; moves forward only. */
struct line_count {
	uint32_t offset, line;
};

/* The item's hash. A failing assertion prints its line at run time, so the hash includes these lines. */
static hash128 item_tokens(const struct module *m, node_id first, node_id item, struct line_count *at)
{
	const struct ast *t = &m->ast;
	hash128 h = ast_item_tokens(t, item);
	for (node_id n = first; n <= item && !m->std; n++) {
		if (ast_kind(t, n) != NODE_ASSERT)
			continue;
		uint32_t start = node_span(m, n).start;
		for (; at->offset < start; at->offset++)
			at->line += t->tokens.src->text[at->offset] == '\n';
		h = hash_combine(h, (hash128){at->line, 0});
	}
	return h;
}

bool module_collect_items(struct frontend *f, struct module *m)
{
	bool ok = true;
	const struct ast *t = &m->ast;
	struct ast_nodes items = ast_nodes(t, ast_a(t, AST_ROOT));
	uint32_t room = count_items(t, items);
	struct hasher *h = hasher_new();
	m->items = ARENA_ARRAY(f->arena, struct item, room ? room : 1);
	struct line_count line = {0, 1};
	for (uint32_t i = 0; i < items.n; i++) {
		enum node_kind k = ast_kind(t, items.at[i]);
		hash128 tokens = {0, 0};
		if (k != NODE_ERROR)
			tokens = item_tokens(m, i ? items.at[i - 1] + 1 : 1, items.at[i], &line);
		if (k == NODE_IMPORT || k == NODE_FROM_IMPORT)
			import_one(f, m, items.at[i], &ok);
		else if (k == NODE_LET)
			define_let(f, m, items.at[i], tokens);
		else if (k != NODE_ERROR)
			define_item(f, m, items.at[i], tokens);
		if (k != NODE_ERROR)
			hasher_add_hash(h, tokens);
	}
	m->tokens = hasher_finish(h);
	return ok;
}

void items_set_ordinals(struct frontend *f, struct module *m)
{
	for (uint32_t i = 0; i < m->n_items; i++) {
		struct item *it = &m->items[i];
		uint64_t before = 0;
		if (!it->name || it->kind == ITEM_IMPORT || it->kind == ITEM_FROM)
			continue;
		map_get(&f->loaded.ordinals, map_key_u64(it->name), &before);
		map_put(&f->loaded.ordinals, map_key_u64(it->name), before + 1);
		it->ordinal = (uint32_t)before;
	}
}
