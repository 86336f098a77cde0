/* Renaming: every use in the workspace, if the new name means nothing else where the old one is used. */
#include <ctype.h>
#include <string.h>
#include "base/diag.h"
#include "builder/lsp/call.h"
#include "frontend/syntax/lexer.h"
#include "frontend/syntax/token.h"

/* Can the name under the cursor be changed? Else an error is set. */
static bool renameable(struct call *c, const struct place *p)
{
	const struct symbol *s = p->symbol;
	if (!s)
		call_fail(c, LSP_FAILED, "there is no name here that could be renamed");
	else if (s->std)
		call_fail(c, LSP_FAILED, "`%s` belongs to the %s", s->name,
			  s->kind == SYMBOL_BUILTIN || s->at.source == SPAN_NO_SOURCE ? "language" : "standard library");
	else if (s->at.source != SPAN_NO_SOURCE &&
		 strncmp(sources_get(p->a->sources, s->at.source)->path, DEPENDENCY_FOLDER "/", sizeof DEPENDENCY_FOLDER) == 0)
		call_fail(c, LSP_FAILED, "`%s` belongs to a dependency", s->name);
	else if (s->kind == SYMBOL_MAIN)
		call_fail(c, LSP_FAILED, "`main` is a keyword");
	else if (s->kind == SYMBOL_MODULE && strcmp(s->name, source_text(c, p->a, s->at)) != 0)
		call_fail(c, LSP_FAILED, "the name comes from the file's: give it another with `as`");
	else if (s->kind == SYMBOL_MODULE && s->at.end == s->whole.end && s->at.start == s->whole.start + sizeof "import")
		call_fail(c, LSP_FAILED, "`%s` is the module's own name: give it another with `as`", s->name);
	else if (s->kind == SYMBOL_METHOD && !strcmp(s->name, "forward"))
		call_fail(c, LSP_FAILED, "`forward` is the function that a call of the layer runs");
	return c->error == LSP_OK;
}

void request_prepare_rename(struct call *c)
{
	struct place p;
	if (!call_place(c, &p) || !renameable(c, &p))
		return;
	json_open(c->out, '{');
	put_range(c, p.a, "range", p.use->at);
	json_member_str(c->out, "placeholder", p.symbol->name);
	json_close(c->out, '}');
}

/* ---- the new name ---- */

/* Is the text one name token of the language? */
static bool is_name(const char *text)
{
	struct sources *sources = sources_new();
	struct diags *d = diags_new(1);
	struct tokens t;
	const struct source *s = sources_add(sources, "name", text, strlen(text));
	bool ok = lex(s, &t, d) && t.len == 2 && token_kind(&t, 0) == TOK_NAME && token_len(&t, 0) == s->len;
	tokens_free(&t);
	diags_free(d);
	sources_free(sources);
	return ok;
}

static const struct symbol *outermost(const struct index *ix, const struct symbol *s)
{
	while (s->parent != SYMBOL_NONE)
		s = &ix->symbols.at[s->parent];
	return s;
}

static bool is_local(const struct symbol *s)
{
	return s->kind == SYMBOL_LOCAL || s->kind == SYMBOL_ARG || s->kind == SYMBOL_DIM || s->kind == SYMBOL_GENERIC ||
	       (s->kind == SYMBOL_CONST && s->parent != SYMBOL_NONE);
}

static bool inside(span inner, span outer) { return inner.source == outer.source && inner.start >= outer.start && inner.end <= outer.end; }

static bool used_in(const struct index *ix, uint32_t symbol, uint32_t source)
{
	uint32_t n;
	const struct index_use *u = index_uses_in(ix, source, &n);
	for (uint32_t i = 0; i < n; i++)
		if (u[i].symbol == symbol)
			return true;
	return false;
}

/* A name like the new one, where the old one is used: the program might come to mean something else. NULL: there is none. */
static const struct index_use *collision(const struct place *p, const char *name)
{
	const struct index *ix = p->a->index;
	span region = outermost(ix, p->symbol)->whole;
	for (uint32_t i = 0; i < ix->uses.len; i++) {
		const struct index_use *u = &ix->uses.at[i];
		const struct source *s = sources_get(p->a->sources, u->at.source);
		if (u->at.end - u->at.start != strlen(name) || memcmp(s->text + u->at.start, name, strlen(name)) != 0)
			continue;
		if (is_local(p->symbol) ? inside(u->at, region) : used_in(ix, p->use->symbol, u->at.source))
			return u;
	}
	return NULL;
}

static bool acceptable(struct call *c, const struct place *p, const char *name)
{
	const struct index_use *other;
	if (!is_name(name)) {
		call_fail(c, LSP_INVALID_PARAMS, "`%s` is not a name of the language", name);
	} else if (index_builtin(p->a->index, name) != SYMBOL_NONE) {
		call_fail(c, LSP_INVALID_PARAMS, "`%s` is the name of a builtin", name);
	} else if ((other = collision(p, name))) {
		struct position at = source_position(p->a->sources, other->at.source, other->at.start);
		call_fail(c, LSP_INVALID_PARAMS, "`%s` is used in %s, line %u", name, sources_get(p->a->sources, other->at.source)->path,
			  at.line);
	}
	return c->error == LSP_OK;
}

/* ---- the edits ---- */

static void put_edits(struct call *c, const struct place *p, uint32_t source, const char *name)
{
	uint32_t n;
	const struct index_use *u = index_uses_in(p->a->index, source, &n);
	json_open(c->out, '[');
	for (uint32_t i = 0; i < n; i++) {
		if (u[i].symbol != p->use->symbol)
			continue;
		json_open(c->out, '{');
		put_range(c, p->a, "range", u[i].at);
		json_member_str(c->out, "newText", name);
		json_close(c->out, '}');
	}
	json_close(c->out, ']');
}

static void put_document_edit(struct call *c, const struct place *p, uint32_t source, const char *name)
{
	const char *uri = uri_of_source(c->s, p->a, source);
	const struct document *d = server_document(c->s, uri);
	if (!c->s->client.document_changes) {
		json_key(c->out, uri);
		put_edits(c, p, source, name);
		return;
	}
	json_open(c->out, '{');
	json_member_open(c->out, "textDocument", '{');
	json_member_str(c->out, "uri", uri);
	json_key(c->out, "version");
	if (d)
		json_int(c->out, d->version);
	else
		json_none(c->out);
	json_close(c->out, '}');
	json_key(c->out, "edits");
	put_edits(c, p, source, name);
	json_close(c->out, '}');
}

void request_rename(struct call *c)
{
	struct place p;
	const char *name = json_text(c->params, "newName");
	if (!call_place(c, &p) || !renameable(c, &p))
		return;
	if (!name) {
		call_fail(c, LSP_INVALID_PARAMS, "newName is missing");
		return;
	}
	if (strcmp(name, p.symbol->name) != 0 && !acceptable(c, &p, name))
		return;
	bool documents = c->s->client.document_changes;
	json_open(c->out, '{');
	json_member_open(c->out, documents ? "documentChanges" : "changes", documents ? '[' : '{');
	for (uint32_t i = 0; i < sources_count(p.a->sources); i++)
		if (used_in(p.a->index, p.use->symbol, i))
			put_document_edit(c, &p, i, name);
	json_close(c->out, documents ? ']' : '}');
	json_close(c->out, '}');
}
