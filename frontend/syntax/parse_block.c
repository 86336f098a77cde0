/* Blocks: statements in braces. */
#include <stddef.h>
#include "frontend/syntax/parse_state.h"

/* A definition that is indented further than the block's head is only misplaced. */
static bool leaves_block(struct parser *p, token_id head, token_id open, bool layer)
{
	bool attribute = p->k == TOK_AT && !is_loop_attribute(p, p->i), member = p->k == TOK_FN || attribute;
	bool definition = member || p->k == TOK_LAYER || p->k == TOK_IMPORT || p->k == TOK_MAIN || p->k == TOK_FROM || p->k == TOK_TYPE;
	if (!definition || !after_newline(p) || indent_of(p, p->i) > indent_of(p, head))
		return false;
	return !member || !layer || matching_bracket(p, open) == TOKEN_NONE;
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
	if ((p->k == TOK_RPAREN || p->k == TOK_RBRACKET) && matching_bracket(p, p->i) == TOKEN_NONE) {
		struct diag *g = error_at(p, DIAG_UNMATCHED_CLOSE, current_span(p), "this `%s` closes nothing",
					  token_kind_text((enum token_kind)p->k));
		suggest_edit(p, g, current_span(p), "");
		resume_corrected(p, g);
		advance(p);
		end_statement(p);
		return;
	}
	if (token_kind(&p->t->tokens, p->i - 1) == TOK_RBRACE && begins_statement((enum token_kind)p->k)) {
		struct diag *g = error_at(p, DIAG_STATEMENT_END, current_span(p), "statements on one line are separated by `;`");
		suggest_edit(p, g, span_after_previous(p), ";");
		resume_corrected(p, g);
		return;
	}
	struct diag *g = error_expected(p, DIAG_STATEMENT_END, "the end of the statement");
	if (is_assign(p->k))
		add_help(p, g, "write one assignment in each statement");
	else
		add_help(p, g, "a statement ends at a line break or `;`");
}

static void parse_and_end(struct parser *p, token_id head, token_id open, bool layer)
{
	token_id start = p->i;
	push(p, parse_statement(p, layer));
	if (!p->panic)
		end_statement(p);
	if (p->panic && layer && p->k == TOK_FN && p->i == p->unclosed_at && !p->fatal && !leaves_block(p, head, open, layer))
		p->panic = false; /* the previous function was not closed; this is the layer's next one */
	if (p->panic)
		recover_statement(p, start, open);
}

uint32_t parse_statements(struct parser *p, token_id head, token_id open, bool layer, bool indented)
{
	uint32_t height = 0;
	while (p->k != TOK_RBRACE && p->k != TOK_EOF && !p->panic) {
		if (indented && after_newline(p) && indent_of(p, p->i) <= indent_of(p, head))
			break;
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
	if (!enter_nesting(p))
		return error_too_deep(p);
	uint32_t base = p->n_scratch;
	p->newlines = true;
	p->no_step = false;
	advance(p);
	uint32_t height = parse_statements(p, head, open, layer, false);
	if (p->k == TOK_RBRACE && !p->panic) {
		close = p->i;
		advance(p);
	} else {
		error_unclosed_block(p, open);
	}
	p->newlines = newlines;
	p->no_step = no_step;
	p->height = height + 1;
	leave_nesting(p);
	return new_node(p, NODE_BLOCK, open, pop_list(p, base, 0), close);
}

node_id parse_block(struct parser *p) { return parse_braces(p, p->i, false); }

node_id parse_body(struct parser *p, token_id head, bool layer)
{
	if (p->k == TOK_LBRACE)
		return parse_braces(p, head, layer);
	if (p->panic)
		return error_node(p);
	if (!enter_nesting(p))
		return error_too_deep(p);
	node_id body = parse_indented(p, head, layer);
	leave_nesting(p);
	return body;
}
