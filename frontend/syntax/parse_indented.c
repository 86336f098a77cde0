/* A body without braces, as in Python. It is reported, and the statements that are indented further than its head are read as the body. */
#include <stddef.h>
#include "base/buf.h"
#include "frontend/syntax/parse_state.h"

/* *closed: a `}` follows, at the indentation of the head. */
static node_id read_statements(struct parser *p, token_id head, bool layer, bool *closed)
{
	uint32_t base = p->n_scratch, indent = indent_of(p, head);
	token_id open = p->i;
	bool newlines = p->newlines;
	p->newlines = true;
	uint32_t height = parse_statements(p, head, open, layer, true);
	*closed = p->k == TOK_RBRACE && (!is_first_on_line(p, p->i) || indent_of(p, p->i) == indent) && !p->panic;
	if (*closed)
		advance(p);
	p->newlines = newlines;
	p->height = height + 1;
	return new_node(p, NODE_BLOCK, open, pop_list(p, base, 0), TOKEN_NONE);
}

/* The edit that puts the body, from token `first` to the previous one, in braces. `at`: its `:`, or where the `{` is missing. */
static void edit_braces(struct parser *p, struct diag *g, token_id head, span at, token_id first)
{
	const struct source *s = p->t->tokens.src;
	uint32_t end = p->t->tokens.ends[p->i - 1], stop = end, indent = indent_of(p, head), line = p->t->tokens.starts[head];
	bool below = is_first_on_line(p, first);
	struct buf text = {0};
	if (p->panic || first == p->i ||
	    !(p->k == TOK_EOF || p->k == TOK_RBRACE || (is_first_on_line(p, p->i) && indent_of(p, p->i) <= indent)))
		return;
	while (s->text[stop] == ' ' || s->text[stop] == '\t')
		stop++;
	while (below && s->text[stop] == '#' && s->text[end] && s->text[end] != '\n')
		end++;
	while (line && s->text[line - 1] != '\n')
		line--;
	buf_puts(&text, below ? " {" : " { ");
	uint32_t from = below ? at.end : p->t->tokens.starts[first];
	buf_put(&text, s->text + from, end - from);
	buf_puts(&text, below ? "\n" : " ");
	buf_put(&text, s->text + line, below ? indent : 0);
	buf_puts(&text, "}");
	suggest_edit(p, g, (span){at.source, at.start, end}, text.at);
	buf_free(&text);
}

/* The `{` that follows on this line, or TOKEN_NONE. */
static token_id brace_on_line(const struct parser *p)
{
	const struct tokens *t = &p->t->tokens;
	for (token_id i = p->i; token_kind(t, i) != TOK_EOF && !token_after_newline(t, i); i++)
		if (token_kind(t, i) == TOK_LBRACE)
			return i;
	return TOKEN_NONE;
}

static struct diag *report_no_brace(struct parser *p, token_id head, bool colon)
{
	struct diag *g;
	if (colon) {
		g = error_at(p, DIAG_HABIT_SYNTAX, current_span(p), "indentation does not make a body; use `{ }`");
		add_help(p, g, "write `{` here and `}` after the last statement");
	} else {
		g = error_expected(p, DIAG_EXPECTED_TOKEN, "`{`");
		enum token_kind of = token_kind(&p->t->tokens, head);
		bool ends = p->k == TOK_EOF || p->k == TOK_SEMICOLON || (after_newline(p) && indent_of(p, p->i) <= indent_of(p, head));
		if (ends && (of == TOK_FN || of == TOK_LAYER))
			add_help(p, g, "a function needs a body, `{ … }`; builtins need no declaration");
		if (p->k != TOK_EOF && after_newline(p) && indent_of(p, p->i) > indent_of(p, head))
			suggest_edit(p, g, span_after_previous(p), " {");
	}
	add_label(p, g, token_span(&p->t->tokens, head), "the body of this");
	return g;
}

node_id parse_indented(struct parser *p, token_id head, bool layer)
{
	token_id brace = brace_on_line(p);
	bool colon = p->k == TOK_COLON && brace == TOKEN_NONE, reported = colon && p->reported_indentation, closed = false;
	span at = colon ? current_span(p) : span_after_previous(p);
	struct diag *g = reported ? NULL : report_no_brace(p, head, colon);
	p->failed = true;
	if (brace != TOKEN_NONE && g) {
		jump_to(p, brace);
		p->panic = false;
		return parse_body(p, head, layer);
	}
	if (!(g || reported) || !(colon || (after_newline(p) && p->k != TOK_EOF)))
		return error_node(p);
	p->panic = false;
	p->reported_indentation = true;
	if (colon)
		advance(p);
	token_id first = p->i;
	node_id body = read_statements(p, head, layer, &closed);
	if (!closed)
		edit_braces(p, g, head, at, first);
	return body;
}
