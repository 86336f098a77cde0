/* Completion: the front end checks the text with a name inserted at the cursor. The index then lists the candidates for that name. */
#include <string.h>
#include "base/arena.h"
#include "base/path.h"
#include "builder/lsp/query.h"
#include "builder/manifest/manifest.h"
#include "frontend/std/std_data.h"

/* Some of the protocol's CompletionItemKind. */
enum { ITEM_FUNCTION = 3, ITEM_FIELD = 5, ITEM_CLASS = 7, ITEM_MODULE = 9, ITEM_PROPERTY = 10, ITEM_KEYWORD = 14 };

static int item_kind(enum symbol_kind k)
{
	static const int kinds[SYMBOL_KIND_COUNT] = {
		[SYMBOL_UNKNOWN] = 1, [SYMBOL_MODULE] = 9,    [SYMBOL_ALIAS] = 18,  [SYMBOL_FN] = 3,     [SYMBOL_LAYER] = 7,
		[SYMBOL_CONST] = 21,  [SYMBOL_TYPE] = 22,     [SYMBOL_MAIN] = 3,    [SYMBOL_METHOD] = 2, [SYMBOL_PARAM] = 5,
		[SYMBOL_STATE] = 5,   [SYMBOL_MEMBER] = 10,   [SYMBOL_ARG] = 6,     [SYMBOL_LOCAL] = 6,  [SYMBOL_GENERIC] = 25,
		[SYMBOL_DIM] = 25,    [SYMBOL_CAPACITY] = 25, [SYMBOL_BUILTIN] = 3,
	};
	return kinds[k];
}

/* `order` sorts locals before global names. */
static void put_item(struct query *q, const char *name, int kind, const char *detail, const char *doc, char order)
{
	struct json_writer *w = q->out;
	json_open(w, '{');
	json_member_str(w, "label", name);
	json_member_int(w, "kind", kind);
	if (detail)
		json_member_str(w, "detail", detail);
	if (doc)
		json_member_str(w, "documentation", doc);
	json_member_str(w, "sortText", arena_printf(q->scratch, "%c%s", order, name));
	json_close(w, '}');
}

static char order_of(const struct candidate *k, const struct symbol *s)
{
	if (k->kind == SYMBOL_LOCAL || k->kind == SYMBOL_ARG || k->kind == SYMBOL_PARAM || k->kind == SYMBOL_STATE ||
	    k->kind == SYMBOL_MEMBER || k->kind == SYMBOL_METHOD)
		return '1';
	return s && s->at.source == SPAN_NO_SOURCE ? '3' : '2';
}

static void put_candidate(struct query *q, const struct candidate *k)
{
	const struct symbol *s = k->symbol == SYMBOL_NONE ? NULL : &q->analysis->index->symbols.at[k->symbol];
	const char *detail = s && !k->detail ? symbol_signature(q, s) : k->detail;
	if (s && s->kind == SYMBOL_BUILTIN)
		detail = symbol_signature(q, s);
	put_item(q, k->name, item_kind(k->kind), detail, s ? s->doc : NULL, order_of(k, s));
}

static void put_keywords(struct query *q)
{
	static const char *const words[] = {
#define TOKEN(id, text, class) TOKEN_##class == TOKEN_KEYWORD ? text : NULL,
#include "frontend/syntax/tokens.def"
#undef TOKEN
	};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (words[i])
			put_item(q, words[i], ITEM_KEYWORD, NULL, NULL, '4');
}

/* ---- named arguments ---- */

static void complete_put_argument(struct query *q, const char *name, size_t n, const char *detail)
{
	put_item(q, arena_printf(q->scratch, "%.*s=", (int)n, name), ITEM_FIELD, detail, NULL, '0');
}

static void put_builtin_arguments(struct query *q, const char *params)
{
	for (const char *p = params; p && *p;) {
		size_t len = strcspn(p, ","), name = strcspn(p, "=,");
		if (*p != '*' && p[name] == '=')
			complete_put_argument(q, p, name, arena_strndup(q->scratch, p, len));
		p += len;
		p += strspn(p, ", ");
	}
}

static void complete_put_arguments(struct query *q, const struct cursor *cur)
{
	struct cursor_call at;
	if (!cursor_call(cur, &at) || !at.is_empty)
		return;
	span callee = {q->source->id, cur->tokens.starts[at.callee], cur->tokens.ends[at.callee]};
	const struct index_call *call = index_call_of(q->analysis->index, callee);
	if (!call)
		return;
	const struct symbol *f = &q->analysis->index->symbols.at[call->symbol];
	put_builtin_arguments(q, f->params);
	for (uint32_t i = index_next_child(q->analysis->index, call->symbol, SYMBOL_NONE); f->kind != SYMBOL_BUILTIN && i != SYMBOL_NONE;
	     i = index_next_child(q->analysis->index, call->symbol, i)) {
		const struct symbol *s = &q->analysis->index->symbols.at[i];
		if (s->kind == SYMBOL_ARG)
			complete_put_argument(q, s->name, strlen(s->name), symbol_signature(q, s));
	}
}

/* ---- modules ---- */

static void put_modules(struct query *q, const struct document *document)
{
	const struct lsp_host *h = q->state->host;
	uint32_t n;
	for (const struct std_module *m = std_modules; m->name; m++)
		put_item(q, m->name, ITEM_MODULE, "standard library", NULL, '2');
	const struct dependencies *deps = document->workspace->analysis ? &document->workspace->analysis->dependencies : NULL;
	for (uint32_t i = 0; deps && i < deps->n_visible; i++)
		if (!*deps->visible[i].owner)
			put_item(q, deps->visible[i].name, ITEM_MODULE, "dependency", NULL, '1');
	if (*document->path != '/')
		return;
	const char *const *files = h->expand(h->ctx, q->scratch, path_dir(q->scratch, document->path), "*.tri", &n);
	for (uint32_t i = 0; i < n; i++)
		if (strcmp(files[i], document->path) != 0)
			put_item(q, path_stem(q->scratch, files[i]), ITEM_MODULE, path_base(files[i]), NULL, '1');
}

/* ---- tri.build: blocks at the start of a line, keys of the block on indented lines, definitions after `entry =` ---- */

/* The block that an indented line belongs to, or BLOCK_COUNT. */
static enum manifest_block_kind block_above(const struct source *s, uint32_t line)
{
	while (line > 0) {
		line = source_line_start(s, line - 1);
		size_t n = strcspn(s->text + line, " \t\r\n#");
		for (enum manifest_block_kind k = 0; n && k < BLOCK_COUNT; k++)
			if (strlen(manifest_block_text(k)) == n && !strncmp(manifest_block_text(k), s->text + line, n))
				return k;
		if (n)
			break;
	}
	return BLOCK_COUNT;
}

/* The definitions that can be an entry. */
static void put_entries(struct query *q)
{
	const struct index *ix = q->analysis->index;
	for (uint32_t i = 0; i < ix->symbols.len; i++) {
		const struct symbol *s = &ix->symbols.at[i];
		if (!s->std && s->parent == SYMBOL_NONE && (s->kind == SYMBOL_LAYER || s->kind == SYMBOL_FN))
			put_item(q, s->name, s->kind == SYMBOL_LAYER ? ITEM_CLASS : ITEM_FUNCTION, symbol_signature(q, s), NULL, '2');
	}
}

static void put_manifest_items(struct query *q)
{
	const struct source *s = q->source;
	uint32_t line = source_line_start(s, q->offset);
	const char *before = arena_strndup(q->scratch, s->text + line, q->offset - line), *word = before + strspn(before, " \t");
	if (strchr(before, '#') || (strchr(word, '=') && strncmp(word, "entry", 5) != 0))
		return;
	if (strchr(word, '=')) {
		put_entries(q);
	} else if (word == before) {
		for (enum manifest_block_kind k = 0; k < BLOCK_COUNT; k++)
			if (k != BLOCK_BUILD) /* only in the user's configuration */
				put_item(q, manifest_block_text(k), ITEM_KEYWORD, NULL, NULL, '2');
	} else {
		enum manifest_block_kind block = block_above(s, line);
		for (enum manifest_key k = 0; block < BLOCK_COUNT && k < KEY_COUNT; k++)
			if (manifest_key_is_in(k, block))
				put_item(q, manifest_key_text(k), ITEM_PROPERTY, NULL, NULL, '2');
	}
}

/* ---- all items ---- */

static void complete_put_items(struct query *q, const struct cursor *cur)
{
	const struct index *ix = q->analysis->index;
	enum token_kind before = cur->at ? token_kind(&cur->tokens, cur->at - 1) : TOK_EOF;
	if (before == TOK_IMPORT || before == TOK_FROM) {
		if (ix->context != ASK_IMPORT)
			put_modules(q, q->document);
	}
	for (uint32_t i = 0; i < ix->candidates.len; i++)
		put_candidate(q, &ix->candidates.at[i]);
	if (ix->context == ASK_NAME && q->source)
		complete_put_arguments(q, cur);
	if (ix->context == ASK_NAME || (ix->context == ASK_NOTHING && (before == TOK_EOF || token_after_newline(&cur->tokens, cur->at))))
		put_keywords(q);
}

void query_completion(struct query *q)
{
	json_open(q->out, '[');
	if (document_is_manifest(q->document))
		put_manifest_items(q);
	else
		query_at_cursor(q, complete_put_items);
	json_close(q->out, ']');
}
