/* Renaming: every use in the workspace, if the new name means nothing else where the old one is used. */
#include <ctype.h>
#include <string.h>
#include "base/diag.h"
#include "builder/lsp/query.h"
#include "frontend/syntax/lexer.h"
#include "frontend/syntax/token.h"

/* True if the name under the cursor can be changed. Otherwise sets an error. */
static bool renameable(struct query *q)
{
	const struct symbol *s = q->symbol;
	if (!s)
		query_fail(q, LSP_FAILED, "there is no name here that could be renamed");
	else if (s->std)
		query_fail(q, LSP_FAILED, "`%s` belongs to the %s", s->name,
			   s->kind == SYMBOL_BUILTIN || s->at.source == SPAN_NO_SOURCE ? "language" : "standard library");
	else if (s->at.source != SPAN_NO_SOURCE &&
		 strncmp(sources_get(q->analysis->sources, s->at.source)->path, DEPENDENCY_FOLDER "/", sizeof DEPENDENCY_FOLDER) == 0)
		query_fail(q, LSP_FAILED, "`%s` belongs to a dependency", s->name);
	else if (s->kind == SYMBOL_MAIN)
		query_fail(q, LSP_FAILED, "`main` is a keyword");
	else if (s->kind == SYMBOL_MODULE && strcmp(s->name, source_text(q, s->at)) != 0)
		query_fail(q, LSP_FAILED, "the name comes from the file's: give it another with `as`");
	else if (s->kind == SYMBOL_MODULE && s->at.end == s->whole.end && s->at.start == s->whole.start + sizeof "import")
		query_fail(q, LSP_FAILED, "`%s` is the module's own name: give it another with `as`", s->name);
	else if (s->kind == SYMBOL_METHOD && !strcmp(s->name, "forward"))
		query_fail(q, LSP_FAILED, "`forward` is the function that a call of the layer runs");
	return q->error == LSP_OK;
}

void query_prepare_rename(struct query *q)
{
	if (!renameable(q))
		return;
	json_open(q->out, '{');
	put_range(q, "range", q->use->at);
	json_member_str(q->out, "placeholder", q->symbol->name);
	json_close(q->out, '}');
}

/* ---- the new name ---- */

/* True if the text is one name token of the language. */
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

/* A use of the new name where the old one is used: the renamed program could have another meaning. NULL if there is none. */
static const struct index_use *collision(const struct query *q, const char *name)
{
	const struct index *ix = q->analysis->index;
	span region = outermost(ix, q->symbol)->whole;
	for (uint32_t i = 0; i < ix->uses.len; i++) {
		const struct index_use *u = &ix->uses.at[i];
		const struct source *s = sources_get(q->analysis->sources, u->at.source);
		if (u->at.end - u->at.start != strlen(name) || memcmp(s->text + u->at.start, name, strlen(name)) != 0)
			continue;
		if (is_local(q->symbol) ? inside(u->at, region) : used_in(ix, q->use->symbol, u->at.source))
			return u;
	}
	return NULL;
}

static bool acceptable(struct query *q, const char *name)
{
	const struct index_use *other;
	if (!is_name(name)) {
		query_fail(q, LSP_INVALID_PARAMS, "`%s` is not a name of the language", name);
	} else if (index_builtin(q->analysis->index, name) != SYMBOL_NONE) {
		query_fail(q, LSP_INVALID_PARAMS, "`%s` is the name of a builtin", name);
	} else if ((other = collision(q, name))) {
		struct position at = source_position(q->analysis->sources, other->at.source, other->at.start);
		query_fail(q, LSP_INVALID_PARAMS, "`%s` is used in %s, line %u", name,
			   sources_get(q->analysis->sources, other->at.source)->path, at.line);
	}
	return q->error == LSP_OK;
}

/* ---- the edits ---- */

static void rename_put_edits(struct query *q, uint32_t source, const char *name)
{
	uint32_t n;
	const struct index_use *u = index_uses_in(q->analysis->index, source, &n);
	json_open(q->out, '[');
	for (uint32_t i = 0; i < n; i++) {
		if (u[i].symbol != q->use->symbol)
			continue;
		json_open(q->out, '{');
		put_range(q, "range", u[i].at);
		json_member_str(q->out, "newText", name);
		json_close(q->out, '}');
	}
	json_close(q->out, ']');
}

static void put_document_edit(struct query *q, uint32_t source, const char *name)
{
	const char *uri = uri_of_source(q, source);
	const struct document *d = document_of_uri(q->state, uri);
	if (!q->state->client.document_changes) {
		json_key(q->out, uri);
		rename_put_edits(q, source, name);
		return;
	}
	json_open(q->out, '{');
	json_member_open(q->out, "textDocument", '{');
	json_member_str(q->out, "uri", uri);
	json_key(q->out, "version");
	if (d)
		json_int(q->out, d->version);
	else
		json_none(q->out);
	json_close(q->out, '}');
	json_key(q->out, "edits");
	rename_put_edits(q, source, name);
	json_close(q->out, '}');
}

void query_rename(struct query *q)
{
	const char *name = params_text(q->params, "newName");
	if (!renameable(q))
		return;
	if (!name) {
		query_fail(q, LSP_INVALID_PARAMS, "newName is missing");
		return;
	}
	if (strcmp(name, q->symbol->name) != 0 && !acceptable(q, name))
		return;
	bool documents = q->state->client.document_changes;
	json_open(q->out, '{');
	json_member_open(q->out, documents ? "documentChanges" : "changes", documents ? '[' : '{');
	for (uint32_t i = 0; i < sources_count(q->analysis->sources); i++)
		if (used_in(q->analysis->index, q->use->symbol, i))
			put_document_edit(q, i, name);
	json_close(q->out, documents ? ']' : '}');
	json_close(q->out, '}');
}
