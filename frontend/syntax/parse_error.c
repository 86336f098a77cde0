/* Reports of the parser: messages, help, edits. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/buf.h"
#include "frontend/syntax/parse_state.h"

struct diag *error_at(struct parser *p, enum diag_code code, span at, const char *fmt, ...)
{
	char message[256];
	if (p->panic)
		return NULL;
	p->panic = p->failed = true;
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(message, sizeof message, fmt, ap);
	va_end(ap);
	return diag_add(p->diags, code, at, "%s", message);
}

span current_span(const struct parser *p) { return token_span(&p->t->tokens, p->i); }

span span_after_previous(const struct parser *p)
{
	uint32_t at = p->i ? p->t->tokens.ends[p->i - 1] : 0;
	return (span){p->t->tokens.src->id, at, at};
}

span token_range(const struct parser *p, token_id first, token_id last)
{
	span s = token_span(&p->t->tokens, first);
	if (last != TOKEN_NONE && last >= first)
		s.end = p->t->tokens.ends[last];
	return s;
}

const char *describe_token(struct parser *p, token_id i, char out[64])
{
	const struct tokens *t = &p->t->tokens;
	enum token_kind k = token_kind(t, i);
	if (k == TOK_EOF)
		return "the end of the file";
	if (p->newlines && i && token_after_newline(t, i) && k != TOK_RBRACE && i == p->i && token_class(k) != TOKEN_KEYWORD)
		return "the end of the line";
	if (token_class(k) == TOKEN_KEYWORD || token_class(k) == TOKEN_PUNCT)
		snprintf(out, 64, "`%s`", token_kind_text(k));
	else if (k == TOK_NAME || k == TOK_INT || k == TOK_FLOAT)
		snprintf(out, 64, "`%.*s`", (int)(token_len(t, i) < 48 ? token_len(t, i) : 48), token_text(t, i));
	else
		snprintf(out, 64, "%s%s", k == TOK_FSTR_TAIL ? "" : "a ", token_kind_text(k));
	return out;
}

struct diag *error_expected(struct parser *p, enum diag_code code, const char *what)
{
	char found[64];
	if (p->k == TOK_ERROR) { /* the lexer has reported it */
		p->panic = p->failed = true;
		return NULL;
	}
	if (habit_at(p, HABIT_AT_EXPECTED, 0, NULL))
		return NULL;
	span at = p->i && (after_newline(p) || p->k == TOK_EOF) ? span_after_previous(p) : current_span(p);
	struct diag *g = error_at(p, code, at, "expected %s, found %s", what, describe_token(p, p->i, found));
	return g;
}

node_id error_node(struct parser *p) { return new_leaf(p, NODE_ERROR, p->i); }

void add_help(struct parser *p, struct diag *g, const char *text)
{
	if (g)
		diag_help(p->diags, g, "%s", text);
}

void suggest_edit(struct parser *p, struct diag *g, span at, const char *replacement)
{
	if (g)
		diag_edit(p->diags, g, at, replacement);
}

void suggest_edit_as(struct parser *p, struct diag *g, span at, const char *fmt, ...)
{
	struct buf text = {0};
	va_list ap;
	if (!g)
		return;
	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	diag_edit(p->diags, g, at, text.at);
	buf_free(&text);
}

void add_label(struct parser *p, struct diag *g, span at, const char *text)
{
	if (g)
		diag_secondary(p->diags, g, at, "%s", text);
}

/* Skips to the next definition that starts a line, or to the end. */
static void skip_to_definition(struct parser *p)
{
	const char *text = p->t->tokens.src->text;
	while (p->k != TOK_EOF) {
		uint32_t at = p->t->tokens.starts[p->i];
		if (starts_item((enum token_kind)p->k) && p->k != TOK_AT && at && text[at - 1] == '\n')
			return;
		advance(p);
	}
}

node_id error_too_deep(struct parser *p)
{
	struct diag *g = error_at(p, DIAG_TOO_DEEP, current_span(p), "nested too deeply: more than %d levels", PARSE_MAX_NESTING);
	add_help(p, g, "split the expression with `let`, or the block into functions");
	if (g) {
		p->fatal = true;
		skip_to_definition(p);
	}
	return error_node(p);
}
