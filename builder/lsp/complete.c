/* Completion: the front end checks a text with a name put in at the cursor, and tells what could stand there. */
#include <string.h>
#include "base/arena.h"
#include "base/path.h"
#include "builder/lsp/complete.h"
#include "builder/lsp/cursor.h"
#include "frontend/frontend.h"
#include "frontend/std/std_data.h"

static int item_kind(enum symbol_kind k)
{
	static const int kinds[SYMBOL_KIND_COUNT] = {
		[SYMBOL_UNKNOWN] = 1, [SYMBOL_MODULE] = 9,   [SYMBOL_ALIAS] = 18,  [SYMBOL_FN] = 3,
		[SYMBOL_LAYER] = 7,   [SYMBOL_CONST] = 21,   [SYMBOL_TYPE] = 22,   [SYMBOL_MAIN] = 3,
		[SYMBOL_METHOD] = 2,  [SYMBOL_PARAM] = 5,    [SYMBOL_MEMBER] = 10, [SYMBOL_ARG] = 6,
		[SYMBOL_LOCAL] = 6,   [SYMBOL_GENERIC] = 25, [SYMBOL_DIM] = 25,    [SYMBOL_BUILTIN] = 3,
	};
	return kinds[k];
}

/* `order` puts locals before what is known everywhere. */
static void put_item(struct call *c, const char *name, int kind, const char *detail, const char *doc, char order)
{
	struct json_writer *w = c->out;
	json_open(w, '{');
	json_member_str(w, "label", name);
	json_member_int(w, "kind", kind);
	if (detail)
		json_member_str(w, "detail", detail);
	if (doc)
		json_member_str(w, "documentation", doc);
	json_member_str(w, "sortText", arena_printf(c->scratch, "%c%s", order, name));
	json_close(w, '}');
}

void complete_put(struct call *c, const char *name, int kind, const char *detail) { put_item(c, name, kind, detail, NULL, '2'); }

static char order_of(const struct candidate *k, const struct symbol *s)
{
	if (k->kind == SYMBOL_LOCAL || k->kind == SYMBOL_ARG || k->kind == SYMBOL_PARAM || k->kind == SYMBOL_MEMBER ||
	    k->kind == SYMBOL_METHOD)
		return '1';
	return s && s->at.source == SPAN_NO_SOURCE ? '3' : '2';
}

static void put_candidate(struct call *c, const struct analysis *a, const struct candidate *k)
{
	const struct symbol *s = k->symbol == SYMBOL_NONE ? NULL : &a->index->symbols.at[k->symbol];
	const char *detail = s && !k->detail ? symbol_signature(c, a, s) : k->detail;
	if (s && s->kind == SYMBOL_BUILTIN)
		detail = symbol_signature(c, a, s);
	put_item(c, k->name, item_kind(k->kind), detail, s ? s->doc : NULL, order_of(k, s));
}

static void put_keywords(struct call *c)
{
	static const char *const words[] = {
#define TOKEN(id, text, class) TOKEN_##class == TOKEN_KEYWORD ? text : NULL,
#include "frontend/syntax/tokens.def"
#undef TOKEN
	};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (words[i])
			put_item(c, words[i], ITEM_KEYWORD, NULL, NULL, '4');
}

/* ---- named arguments ---- */

static void put_argument(struct call *c, const char *name, size_t n, const char *detail)
{
	put_item(c, arena_printf(c->scratch, "%.*s=", (int)n, name), ITEM_FIELD, detail, NULL, '0');
}

static void put_builtin_arguments(struct call *c, const char *params)
{
	for (const char *p = params; p && *p;) {
		size_t len = strcspn(p, ","), name = strcspn(p, "=,");
		if (*p != '*' && p[name] == '=')
			put_argument(c, p, name, arena_strndup(c->scratch, p, len));
		p += len;
		p += strspn(p, ", ");
	}
}

static void put_arguments(struct call *c, const struct analysis *a, const struct cursor *cur, uint32_t source)
{
	struct cursor_call at;
	if (!cursor_call(cur, &at) || !at.fresh)
		return;
	span callee = {source, cur->tokens.starts[at.callee], cur->tokens.ends[at.callee]};
	const struct index_call *call = index_call_of(a->index, callee);
	if (!call)
		return;
	const struct symbol *f = &a->index->symbols.at[call->symbol];
	put_builtin_arguments(c, f->params);
	for (uint32_t i = index_next_child(a->index, call->symbol, SYMBOL_NONE); f->kind != SYMBOL_BUILTIN && i != SYMBOL_NONE;
	     i = index_next_child(a->index, call->symbol, i)) {
		const struct symbol *s = &a->index->symbols.at[i];
		if (s->kind == SYMBOL_ARG)
			put_argument(c, s->name, strlen(s->name), symbol_signature(c, a, s));
	}
}

/* ---- modules ---- */

static void put_modules(struct call *c, const struct document *d)
{
	const struct lsp_host *h = c->s->host;
	uint32_t n;
	for (const struct std_module *m = std_modules; m->name; m++)
		put_item(c, m->name, ITEM_MODULE, "standard library", NULL, '2');
	const struct dependencies *deps = d->ws->now ? &d->ws->now->dependencies : NULL;
	for (uint32_t i = 0; deps && i < deps->n_visible; i++)
		if (!*deps->visible[i].owner)
			put_item(c, deps->visible[i].name, ITEM_MODULE, "dependency", NULL, '1');
	if (*d->path != '/')
		return;
	const char *const *files = h->expand(h->ctx, c->scratch, path_dir(c->scratch, d->path), "*.tri", &n);
	for (uint32_t i = 0; i < n; i++)
		if (strcmp(files[i], d->path) != 0)
			put_item(c, path_stem(c->scratch, files[i]), ITEM_MODULE, path_base(files[i]), NULL, '1');
}

/* ---- */

static void put_items(struct call *c, const struct place *p, const struct analysis *a, const struct cursor *cur)
{
	const struct source *s = analysis_source(a, p->document->path);
	const struct index *ix = a->index;
	enum token_kind before = cur->at ? token_kind(&cur->tokens, cur->at - 1) : TOK_EOF;
	if (before == TOK_IMPORT || before == TOK_FROM) {
		if (ix->context != ASK_IMPORT)
			put_modules(c, p->document);
	}
	for (uint32_t i = 0; i < ix->candidates.len; i++)
		put_candidate(c, a, &ix->candidates.at[i]);
	if (ix->context == ASK_NAME && s)
		put_arguments(c, a, cur, s->id);
	if (ix->context == ASK_NAME || (ix->context == ASK_NOTHING && (before == TOK_EOF || token_after_newline(&cur->tokens, cur->at))))
		put_keywords(c);
}

static void complete_source(struct call *c, const struct place *p)
{
	struct buf text = {0};
	size_t asked;
	if (cursor_probe(p->source->text, p->source->len, p->offset, &text, &asked)) {
		struct probe probe = {p->document, text.at, text.len, asked};
		struct analysis *a = analysis_new(c->s, p->document->ws, &probe);
		struct cursor cur;
		cursor_open(&cur, text.at, text.len, asked);
		put_items(c, p, a, &cur);
		cursor_close(&cur);
		analysis_free(a);
	}
	buf_free(&text);
}

void request_completion(struct call *c)
{
	struct place p;
	if (!call_place(c, &p))
		return;
	json_open(c->out, '[');
	if (document_is_manifest(p.document))
		complete_manifest(c, &p);
	else
		complete_source(c, &p);
	json_close(c->out, ']');
}
