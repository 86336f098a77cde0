/* Blocks: statements in braces, and what is taken for one where the braces are missing. */
#include <stddef.h>
#include <string.h>
#include "base/buf.h"
#include "frontend/syntax/parse_state.h"

/* Is here the next definition, so that the block was not closed? What stands further right than the block's line is only misplaced. */
static bool leaves_block(struct parser *p, token_id head, token_id open, bool layer)
{
	bool definition =
		p->k == TOK_LAYER || p->k == TOK_IMPORT || p->k == TOK_MAIN || p->k == TOK_FROM || p->k == TOK_TYPE || p->k == TOK_FN;
	if (!definition || !after_newline(p) || indent_of(p, p->i) > indent_of(p, head))
		return false;
	return p->k != TOK_FN || !layer || matching(p, open) == TOKEN_NONE;
}

static bool begins_statement(enum token_kind k)
{
	return k == TOK_NAME || k == TOK_RETURN || k == TOK_LET || k == TOK_CONST || k == TOK_IF || k == TOK_FOR || k == TOK_WHILE ||
	       k == TOK_BREAK || k == TOK_CONTINUE;
}

static void end_statement(struct parser *p)
{
	if (p->k == TOK_SEMICOLON) {
		advance(p);
		return;
	}
	if (after_newline(p) || p->k == TOK_RBRACE || p->k == TOK_EOF)
		return;
	if ((p->k == TOK_RPAREN || p->k == TOK_RBRACKET) && matching(p, p->i) == TOKEN_NONE) {
		struct diag *g =
			error_at(p, DIAG_UNMATCHED_CLOSE, here(p), "this `%s` closes nothing", token_kind_text((enum token_kind)p->k));
		edit(p, g, here(p), "");
		sound(p, g);
		advance(p);
		end_statement(p);
		return;
	}
	if (token_kind(&p->t->tokens, p->i - 1) == TOK_RBRACE && begins_statement((enum token_kind)p->k)) {
		struct diag *g = error_at(p, DIAG_STATEMENT_END, here(p), "statements on one line are separated by `;`");
		edit(p, g, after_previous(p), ";");
		sound(p, g);
		return;
	}
	struct diag *g = error_expected(p, DIAG_STATEMENT_END, "the end of the statement");
	if (is_assign(p->k))
		help(p, g, "assignments cannot be chained");
	else
		help(p, g, "a statement ends at a line break or `;`");
}

/* A statement and its end, or what recovery makes of it. */
static void parse_and_end(struct parser *p, token_id head, token_id open, bool layer)
{
	token_id start = p->i;
	push(p, parse_statement(p, layer));
	if (!p->panic)
		end_statement(p);
	if (p->panic && layer && p->k == TOK_FN && p->i == p->leave_at && !p->fatal && !leaves_block(p, head, open, layer))
		p->panic = false; /* the function before was not closed; here is the layer's next */
	if (p->panic)
		recover_statement(p, start, open);
}

static uint32_t parse_statements(struct parser *p, token_id head, token_id open, bool layer)
{
	uint32_t height = 0;
	while (p->k != TOK_RBRACE && p->k != TOK_EOF && !p->panic) {
		if (accept(p, TOK_SEMICOLON))
			continue;
		if (leaves_block(p, head, open, layer))
			break;
		parse_and_end(p, head, open, layer);
		raise_height(&height, p);
	}
	return height;
}

static node_id parse_braces(struct parser *p, token_id head, bool layer)
{
	token_id open = p->i, close = TOKEN_NONE;
	bool newlines = p->newlines, no_step = p->no_step;
	if (!enter(p))
		return error_too_deep(p);
	uint32_t base = p->n_scratch;
	p->newlines = true;
	p->no_step = false;
	advance(p);
	uint32_t height = parse_statements(p, head, open, layer);
	if (p->k == TOK_RBRACE && !p->panic) {
		close = p->i;
		advance(p);
	} else {
		error_unclosed_block(p, open);
	}
	p->newlines = newlines;
	p->no_step = no_step;
	p->height = height + 1;
	leave(p);
	return new_node(p, NODE_BLOCK, open, pop_list(p, base, 0), close);
}

node_id parse_block(struct parser *p) { return parse_braces(p, p->i, false); }

/* Statements further right than the head, taken as its body where the `{` is missing, and a `}` below the head, if there is one. */
static node_id parse_indented(struct parser *p, token_id head, bool layer, bool *closed)
{
	uint32_t base = p->n_scratch, indent = indent_of(p, head), height = 0;
	token_id open = p->i;
	bool newlines = p->newlines;
	p->newlines = true;
	while (p->k != TOK_RBRACE && p->k != TOK_EOF && !p->panic && (!after_newline(p) || indent_of(p, p->i) > indent)) {
		if (accept(p, TOK_SEMICOLON))
			continue;
		if (leaves_block(p, head, open, layer))
			break;
		parse_and_end(p, head, open, layer);
		raise_height(&height, p);
	}
	bool end = p->k == TOK_NAME && (token_is(&p->t->tokens, p->i, "end") || token_is(&p->t->tokens, p->i, "endif"));
	*closed = p->k == TOK_RBRACE && (!first_on_line(p, p->i) || indent_of(p, p->i) == indent) && !p->panic;
	if (*closed)
		advance(p);
	*closed = *closed || end; /* which is replaced by a `}` */
	p->newlines = newlines;
	p->height = height + 1;
	return new_node(p, NODE_BLOCK, open, pop_list(p, base, 0), TOKEN_NONE);
}

/* `then` or `do` before a body. */
static bool body_word(const struct parser *p)
{
	return p->k == TOK_NAME && (token_is(&p->t->tokens, p->i, "then") || token_is(&p->t->tokens, p->i, "do"));
}

/* The body from token `first` to the one before this, in braces: it stands from `at` on, where a `:` is to be replaced. */
static void edit_braces(struct parser *p, struct diag *g, token_id head, span at, token_id first)
{
	const struct source *s = p->t->tokens.src;
	uint32_t end = p->t->tokens.ends[p->i - 1], stop = end, indent = indent_of(p, head), line = p->t->tokens.starts[head];
	bool below = first_on_line(p, first);
	struct buf text = {0};
	if (p->panic || first == p->i ||
	    !(p->k == TOK_EOF || p->k == TOK_RBRACE || (first_on_line(p, p->i) && indent_of(p, p->i) <= indent)))
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
	edit(p, g, (span){at.source, at.start, end}, text.at);
	buf_free(&text);
}

/* `return x` without braces, as C has it after a condition. */
static node_id parse_jump_body(struct parser *p, bool layer)
{
	token_id open = p->i;
	uint32_t base = p->n_scratch;
	bool newlines = p->newlines;
	p->newlines = true;
	push(p, parse_statement(p, layer));
	p->newlines = newlines;
	p->height++;
	return new_node(p, NODE_BLOCK, open, pop_list(p, base, 0), TOKEN_NONE);
}

static void edit_jump(struct parser *p, struct diag *g, span at, token_id first)
{
	const struct tokens *t = &p->t->tokens;
	uint32_t end = t->ends[p->i - 1];
	if (p->panic)
		return;
	edit_as(p, g, (span){at.source, at.end, p->k == TOK_SEMICOLON ? t->ends[p->i] : end}, " { %.*s }", (int)(end - t->starts[first]),
		token_text(t, first));
}

static struct diag *report_no_brace(struct parser *p, token_id head, bool colon)
{
	struct diag *g;
	if (colon) {
		g = error_at(p, DIAG_HABIT_SYNTAX, here(p), "indentation does not make a body; use `{ }`");
		help(p, g, "write `{` here and `}` after the last statement");
		label(p, g, token_span(&p->t->tokens, head), "the body of this");
		return g;
	}
	g = error_expected(p, DIAG_EXPECTED_TOKEN, "`{`");
	label(p, g, token_span(&p->t->tokens, head), "the body of this");
	if (p->k != TOK_EOF && after_newline(p))
		edit(p, g, after_previous(p), " {");
	return g;
}

node_id parse_body(struct parser *p, token_id head, bool layer)
{
	if (p->k == TOK_LBRACE)
		return parse_braces(p, head, layer);
	if (p->panic)
		return error_node(p);
	if (!enter(p))
		return error_too_deep(p);
	bool colon = p->k == TOK_COLON || body_word(p), reported = colon && p->told_block, closed = false;
	if (colon && p->k == TOK_NAME && peek(p) == TOK_LBRACE) { /* `if c then {` */
		struct diag *g = error_at(p, DIAG_HABIT_SYNTAX, here(p), "a body has no word before it; leave it out");
		edit(p, g, here(p), "");
		sound(p, g);
		advance(p);
		leave(p);
		return parse_braces(p, head, layer);
	}
	span at = colon ? here(p) : after_previous(p);
	struct diag *g = reported ? NULL : report_no_brace(p, head, colon);
	reported = reported || g;
	p->failed = true;
	node_id body;
	bool jump_only = !after_newline(p) && (p->k == TOK_RETURN || p->k == TOK_BREAK || p->k == TOK_CONTINUE); /* if (c) return x */
	if (reported && (colon || jump_only || (after_newline(p) && p->k != TOK_EOF))) {
		p->panic = false;
		p->told_block = true;
		if (colon)
			advance(p);
		token_id first = p->i;
		body = jump_only && !colon ? parse_jump_body(p, layer) : parse_indented(p, head, layer, &closed);
		if (jump_only && !colon)
			edit_jump(p, g, at, first);
		else if (!closed)
			edit_braces(p, g, head, at, first);
	} else {
		body = error_node(p);
	}
	leave(p);
	return body;
}
